"""The texts that an agent may write, and what hands do for them: `parse_action` is where to begin."""

from eapo_gym.envs.osworld.actions.parsed import Parsed
from eapo_gym.envs.osworld.actions.parsing import EXAMPLES, parse_action
from eapo_gym.envs.osworld.actions.undoing import inverse
from eapo_gym.envs.osworld.actions.writing import to_pyautogui

__all__ = ["EXAMPLES", "Parsed", "inverse", "parse_action", "to_pyautogui"]
