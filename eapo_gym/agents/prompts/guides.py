"""What an agent must know of an environment: who it is there, what it can do, and how an episode ends.

A guide is data. `templates` makes the two texts of the user message from it, the basic prompt and the action guidance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym

from eapo_gym.wrappers import Rollback


@dataclass(frozen=True, slots=True)
class ActionForm:
    """One kind of action: how it is written, what it does, and one that could be taken."""

    form: str
    meaning: str
    example: str


@dataclass(frozen=True, slots=True)
class Guide:
    """An environment in words."""

    role: str
    """Who the agent is, and what it is shown at every step."""

    actions: tuple[ActionForm, ...]
    """What can be done; empty where nobody has said so, and the offered actions have to do."""

    ending: tuple[str, ...] = ()
    """How an episode ends, and what the agent has to do about it."""

    rules: tuple[str, ...] = ()
    json: bool = False
    """Actions are JSON objects."""

    rollback: bool = False
    """The run has the command that takes a step back."""

    @property
    def examples(self) -> tuple[str, ...]:
        return tuple(action.example for action in self.actions)

    def with_rollback(self) -> Guide:
        """The guide of a run with that command."""
        form = '{"action_type": "rollback"}' if self.json else "rollback"
        action = ActionForm(
            form,
            "Takes back the last step that changed something. Your memory stays, and it costs a step: use it when what "
            "you tried leads nowhere.",
            form,
        )
        return self if self.rollback else replace(self, actions=(*self.actions, action), rollback=True)


ALFWORLD = Guide(
    role=(
        "You do household chores in a house that you know through text alone. At every step you are told what your "
        "last command led to and what you see. Things have a kind and a number, as in mug 2 or drawer 10. You can "
        "carry one object at a time."
    ),
    actions=(
        ActionForm("look", "Look around from where you stand.", "look"),
        ActionForm("inventory", "See what you carry.", "inventory"),
        ActionForm("help", "List the kinds of commands.", "help"),
        ActionForm("go to PLACE", "Walk to a piece of furniture or an appliance.", "go to countertop 1"),
        ActionForm("open PLACE", "Open what is closed and within reach.", "open fridge 1"),
        ActionForm("close PLACE", "Close what is open and within reach.", "close fridge 1"),
        ActionForm("examine THING", "Look closely at a place or an object.", "examine desk 1"),
        ActionForm("take OBJECT from PLACE", "Pick an object up from where you stand.", "take mug 1 from countertop 1"),
        ActionForm("move OBJECT to PLACE", "Put down what you carry, in or on a place.", "move mug 1 to shelf 2"),
        ActionForm("use OBJECT", "Switch a lamp on.", "use desklamp 1"),
        ActionForm("clean OBJECT with PLACE", "Wash what you carry, at a sink.", "clean plate 1 with sinkbasin 1"),
        ActionForm("heat OBJECT with PLACE", "Heat what you carry, at a microwave.", "heat egg 2 with microwave 1"),
        ActionForm("cool OBJECT with PLACE", "Cool what you carry, at a fridge.", "cool apple 1 with fridge 1"),
        ActionForm(
            "slice OBJECT with TOOL", "Cut an object with a knife that you carry.", "slice bread 1 with knife 1"
        ),
    ),
    ending=("The episode ends by itself as soon as the chore is done; there is no command that ends it.",),
    rules=(
        "Name things exactly as they were shown, number included.",
        "Be where a thing is before you deal with it: go there first, and open what is closed.",
        'The answer "Nothing happens." means that the command was not possible.',
    ),
)

WEBSHOP = Guide(
    role=(
        "You shop in a web store for somebody who has described what they want. At every step you are shown the text "
        "of the page: the search page, a list of products, or a product with its options and its price."
    ),
    actions=(
        ActionForm("search[WORDS]", "Search for products; only pages with a search bar allow it.", "search[red mug]"),
        ActionForm(
            "click[TEXT]",
            "Press what stands on the page: a product's code, an option such as a size or a colour, a link such as "
            "description, next > or back to search, or buy now.",
            "click[buy now]",
        ),
    ),
    ending=(
        "click[buy now] buys the product with the options that are chosen, and ends the episode. How well it fits the "
        "wish, its price included, is your score.",
    ),
    rules=(
        "Write the text of a button exactly as it stands on the page.",
        "Choose every option that the wish names before you buy.",
        "Look at other products before you settle for one that does not fit.",
    ),
)

_STATUS_RULES = (
    "Write the action as one JSON object.",
    "Use only numbers of elements that are on the screen now.",
    "Say that the task is complete only when the screen shows it, and do say so then: nobody else does.",
)

ANDROIDWORLD = Guide(
    role=(
        "You operate an Android phone for its owner, who wants something done or asks a question. At every step you "
        "are shown the screen, as it is, with a numbered box around each element, or both; or the list of these "
        "elements."
    ),
    actions=(
        ActionForm(
            '{"action_type": "click", "index": N}',
            "Tap element N.",
            '{"action_type": "click", "index": 5}',
        ),
        ActionForm(
            '{"action_type": "long_press", "index": N}',
            "Press element N and hold it.",
            '{"action_type": "long_press", "index": 3}',
        ),
        ActionForm(
            '{"action_type": "input_text", "text": TEXT, "index": N}',
            "Type a text into the field N.",
            '{"action_type": "input_text", "text": "milk and bread", "index": 2}',
        ),
        ActionForm('{"action_type": "keyboard_enter"}', "Press the enter key.", '{"action_type": "keyboard_enter"}'),
        ActionForm('{"action_type": "navigate_home"}', "Go to the home screen.", '{"action_type": "navigate_home"}'),
        ActionForm(
            '{"action_type": "navigate_back"}', "Go back to the screen before.", '{"action_type": "navigate_back"}'
        ),
        ActionForm(
            '{"action_type": "scroll", "direction": "up" | "down" | "left" | "right", "index": N}',
            "Scroll the screen, or only element N if one is named.",
            '{"action_type": "scroll", "direction": "down"}',
        ),
        ActionForm(
            '{"action_type": "open_app", "app_name": NAME}',
            "Start an app by its name.",
            '{"action_type": "open_app", "app_name": "Contacts"}',
        ),
        ActionForm('{"action_type": "wait"}', "Give the screen time to change.", '{"action_type": "wait"}'),
        ActionForm(
            '{"action_type": "answer", "text": TEXT}',
            "Tell the owner the answer to a question.",
            '{"action_type": "answer", "text": "The meeting is at 3 pm."}',
        ),
        ActionForm(
            '{"action_type": "status", "goal_status": "complete" | "infeasible"}',
            "End the episode.",
            '{"action_type": "status", "goal_status": "complete"}',
        ),
    ),
    ending=(
        'When the task is done: {"action_type": "status", "goal_status": "complete"}.',
        'When it cannot be done on this phone: {"action_type": "status", "goal_status": "infeasible"}.',
        'When a question was asked, give the answer first: {"action_type": "answer", "text": TEXT}.',
    ),
    rules=_STATUS_RULES,
    json=True,
)

OSWORLD = Guide(
    role=(
        "You operate a desktop computer with mouse and keyboard for its user, who wants something done. At every step "
        "you are shown the screen, as it is, with a numbered box around each element, or both; or the list of these "
        "elements."
    ),
    actions=(
        ActionForm('{"action_type": "click", "index": N}', "Click element N.", '{"action_type": "click", "index": 12}'),
        ActionForm(
            '{"action_type": "double_click", "index": N}',
            "Click element N twice, as to open a file.",
            '{"action_type": "double_click", "index": 4}',
        ),
        ActionForm(
            '{"action_type": "right_click", "index": N}',
            "Open the menu of element N.",
            '{"action_type": "right_click", "index": 7}',
        ),
        ActionForm(
            '{"action_type": "drag", "index": N, "to_index": M}',
            "Drag element N to element M.",
            '{"action_type": "drag", "index": 3, "to_index": 9}',
        ),
        ActionForm(
            '{"action_type": "input_text", "text": TEXT, "index": N}',
            "Type a text, after a click on element N if one is named.",
            '{"action_type": "input_text", "text": "Quarterly report", "index": 2}',
        ),
        ActionForm(
            '{"action_type": "hotkey", "keys": [KEY, …]}',
            "Press keys together, or a single one.",
            '{"action_type": "hotkey", "keys": ["ctrl", "s"]}',
        ),
        ActionForm(
            '{"action_type": "scroll", "direction": "up" | "down" | "left" | "right", "index": N}',
            "Turn the wheel over the screen, or over element N if one is named.",
            '{"action_type": "scroll", "direction": "down"}',
        ),
        ActionForm('{"action_type": "wait"}', "Give the screen time to change.", '{"action_type": "wait"}'),
        ActionForm(
            '{"action_type": "status", "goal_status": "complete" | "infeasible"}',
            "End the episode.",
            '{"action_type": "status", "goal_status": "complete"}',
        ),
    ),
    ending=(
        'When the task is done: {"action_type": "status", "goal_status": "complete"}.',
        'When it cannot be done on this computer: {"action_type": "status", "goal_status": "infeasible"}.',
    ),
    rules=(
        *_STATUS_RULES,
        'Where nothing has a number, "x" and "y" in pixels take the place of "index".',
    ),
    json=True,
)

GUIDES = {"alfworld": ALFWORLD, "webshop": WEBSHOP, "androidworld": ANDROIDWORLD, "osworld": OSWORLD}


def generic_guide(examples: Sequence[str] = ()) -> Guide:
    """The guide of an environment of which nothing is known but a few of its actions."""
    json = bool(examples) and all(example.lstrip().startswith("{") for example in examples)
    return Guide(
        role="You act in an environment. At every step you are shown its state, and give it one command.",
        actions=tuple(ActionForm(example, "A command of this environment.", example) for example in examples),
        ending=("The episode ends when the goal is reached, or when the steps are used up.",),
        rules=(
            "Where a list of valid actions is shown, write one of them exactly as it stands.",
            "If the environment refuses a command, it says what it expects: read it, and write the next one that way.",
        ),
        json=json,
    )


def guide_for(env: str | gym.Env[Any, Any] = "", rollback: bool | None = None) -> Guide:
    """The guide of an environment, given by its id or by itself.

    The environment itself says more: whether there is a rollback, and for one without a guide of its own a few of its
    actions. Of an id it is taken that the run has the rollback, as registered environments do in the explore schema.
    """
    if isinstance(env, str):
        guide = GUIDES.get(_short(env)) or generic_guide()
        return guide.with_rollback() if rollback is not False else guide
    examples = getattr(env.unwrapped.action_space, "examples", ())
    guide = GUIDES.get(_short(env.spec.id) if env.spec else "") or generic_guide(examples)
    has_rollback = _has_rollback(env) if rollback is None else rollback
    return guide.with_rollback() if has_rollback else guide


def _short(env_id: str) -> str:
    """ "eapo/ALFWorld-v0" is "alfworld"."""
    return re.sub(r"-v\d+$", "", env_id.rpartition("/")[2]).lower()


def _has_rollback(env: gym.Env[Any, Any]) -> bool:
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        if isinstance(layer, Rollback):
            return True
        layer = layer.env
    return False
