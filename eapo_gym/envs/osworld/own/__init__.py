"""Tasks of our own, in the benchmark's format: drawn with dice, and playable without the network."""

from eapo_gym.envs.osworld.own.catalog import make_task, own_tasks, template_of

__all__ = ["make_task", "own_tasks", "template_of"]
