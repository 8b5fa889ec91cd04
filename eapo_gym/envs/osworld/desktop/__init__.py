"""A desktop on this machine: a sandbox with a screen of its own, in which programs run that an agent uses."""

from eapo_gym.envs.osworld.desktop.homes import HomeCopy
from eapo_gym.envs.osworld.desktop.local import LocalDesktop

__all__ = ["HomeCopy", "LocalDesktop"]
