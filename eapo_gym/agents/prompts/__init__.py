"""Prompts: what is said to a model, per environment and style, within a budget of tokens."""

from eapo_gym.agents.prompts.builder import PromptBuilder
from eapo_gym.agents.prompts.guides import GUIDES, ActionForm, Guide, generic_guide, guide_for
from eapo_gym.agents.prompts.templates import COMPACT, EAPO, EXPLORE_HINT, PLAIN, REACT, VOTE, Style

__all__ = [
    "COMPACT",
    "EAPO",
    "EXPLORE_HINT",
    "GUIDES",
    "PLAIN",
    "REACT",
    "VOTE",
    "ActionForm",
    "Guide",
    "PromptBuilder",
    "Style",
    "generic_guide",
    "guide_for",
]
