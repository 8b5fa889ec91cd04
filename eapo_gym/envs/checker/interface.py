"""Checks of the outside: spaces, return values, info, rendering, wrappers. They look at the whole stack."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from eapo_gym.envs.checker.bench import Bench, Skipped
from eapo_gym.envs.checker.seen import shown


def check_spaces(bench: Bench) -> None:
    env = bench.stack.env
    for _ in bench.tries(1):
        for name in ("observation_space", "action_space"):
            space = getattr(env, name, None)
            if not isinstance(space, spaces.Space):
                # Without spaces nothing else can be tried.
                _file_space(bench, name, f"there is no {name}", "a gymnasium space", space, check="api")
                return
        _check_observation_space(bench, env.observation_space)
        if not isinstance(env.action_space, spaces.Text):
            expected = "spaces.Text: an action is one command, as text"
            _file_space(bench, "action_space", "the action space is no text", expected, env.action_space)


_HINTS = {
    "observation_space": "Declare observation_space = eapo_gym.schema.observation_space(…).",
    "action_space": "Declare action_space = eapo_gym.AnyText(examples=(…)), with a few commands as examples.",
}


def _check_observation_space(bench: Bench, space: spaces.Space[Any]) -> None:
    name = "observation_space"
    if not isinstance(space, spaces.Dict):
        expected = "spaces.Dict with at least 'goal' and 'state'"
        _file_space(bench, name, "the observation space is no Dict", expected, space)
        return
    for key in ("goal", "state", "elements"):
        part = space.spaces.get(key)
        if not isinstance(part, spaces.Text) and (part is not None or key != "elements"):
            _file_space(bench, name, f"the observation space has no text {key!r}", f"{key!r}: AnyText(…)", part)
    screen = space.spaces.get("screenshot")
    if screen is not None and not _is_image_space(screen):
        expected = "'screenshot': Box(0, 255, (height, width, 3), uint8), as screenshot=(height, width) makes it"
        _file_space(bench, name, "the screenshot is no image", expected, screen)


def _file_space(bench: Bench, name: str, title: str, expected: str, space: Any, check: str = "") -> None:
    script = (f"env.{name}",)
    bench.fail(title, expected=expected, actual=shown(space), fix=_HINTS[name], script=script, check=check)


def _is_image_space(space: spaces.Space[Any]) -> bool:
    return isinstance(space, spaces.Box) and space.dtype == np.uint8 and len(space.shape) == 3 and space.shape[2] == 3


def check_api(bench: Bench) -> None:
    """Records the very first episode as well, for `fresh-start`."""
    for _ in bench.tries(1):
        bench.opening = bench.stack.play(bench.length(2), seed=bench.seed(0))


def check_observations(bench: Bench) -> None:
    """Every observation of every check is looked at when it arrives; this one makes sure that each is a new object."""
    stack = bench.stack
    for probe in bench.tries(2):
        stack.reset(seed=bench.seed(probe))
        stack.step(bench.choose(stack.choices()))
        first = stack.obs
        if stack.now.ended:
            continue
        stack.step(bench.choose(stack.choices()))
        second = stack.obs
        arrays = [
            key for key in first if isinstance(first[key], np.ndarray) and isinstance(second.get(key), np.ndarray)
        ]
        shared = [key for key in arrays if np.shares_memory(first[key], second[key])]
        if first is second or shared:
            bench.fail(
                "an observation is changed by a later step",
                expected="a new observation from every step",
                actual=f"the same memory again ({', '.join(shared) or 'the dict itself'})",
                fix="Build a new dict (and copy arrays) for every observation: learners keep them.",
                script=(stack.calls,),
            )


def check_info(bench: Bench) -> None:
    """What every info carries is looked at whenever one arrives; this one adds what a look at one cannot tell."""
    for probe in bench.tries(min(4, len(bench.seeds))):
        info = bench.stack.reset(seed=bench.seed(probe)).info
        tasks = bench.core.ask("tasks")
        if isinstance(info.get("task"), str) and info["task"] not in tasks:
            bench.fail(
                "info names a task that tasks() does not list",
                expected=f"one of the {len(tasks)} ids of tasks(), like {shown(tasks[0]) if tasks else 'none'}",
                actual=shown(info["task"]),
                fix="Use the same ids in tasks(), self.task and info['task'].",
                script=(bench.stack.calls,),
            )


def check_sample(bench: Bench) -> None:
    space = bench.stack.env.action_space
    for probe in bench.tries(6):
        action = bench.stack.ask("sample", of=space)
        if not isinstance(action, str) or not space.contains(action):
            bench.fail(
                "action_space.sample() gives what the space does not contain",
                expected=f"a str in {space}",
                actual=shown(action),
                fix="Use eapo_gym.AnyText(examples=(…)) as action space.",
                script=("action_space.sample()",),
            )
            return
        bench.stack.reset(seed=bench.seed(probe))
        bench.stack.send(action, f"step({shown(action, 80)})")


def check_render(bench: Bench) -> None:
    env = bench.stack.env
    mode = env.render_mode
    if mode is None:
        raise Skipped("render_mode is None: make the environment with one to have rendering checked")
    for _ in bench.tries(1):
        bench.stack.reset(seed=bench.seed(0))
        bench.stack.step(bench.choose(bench.stack.choices()))
        modes = env.metadata.get("render_modes", [])
        if mode not in modes:
            bench.fail(
                "render_mode is not among the declared ones",
                expected=f"one of {modes}",
                actual=shown(mode),
                fix="List it in metadata['render_modes'], or refuse it in __init__.",
                script=("env.render_mode",),
            )
        frame = bench.stack.render()
        expected, right = {
            "ansi": ("a str", isinstance(frame, str)),
            "human": ("None", frame is None),
            "rgb_array": (
                "a uint8 array (height, width, 3)",
                isinstance(frame, np.ndarray) and frame.dtype == np.uint8 and frame.ndim == 3 and frame.shape[2] == 3,
            ),
        }.get(mode, ("", True))
        if not right:
            bench.fail(
                f"render() with render_mode={mode!r} returns the wrong type",
                expected=expected,
                actual=f"{shown(frame, 120)} ({type(frame).__name__})",
                fix="Return what gymnasium.Env.render documents for this mode.",
                script=(bench.stack.calls,),
            )


def check_wrappers(bench: Bench) -> None:
    """Whatever stands around the environment must answer for it, not for a state it once copied."""
    stack = bench.stack
    core, outer = stack.core, stack.outer
    if outer is core:
        raise Skipped("no wrapper of the contract stands around the environment")
    for probe in bench.tries(2):
        stack.reset(seed=bench.seed(probe))
        for _ in range(4):
            for name in ("fingerprint", "describe", "tasks"):
                answers = stack.ask(name), stack.ask(name, of=outer)
                _compare(bench, type(outer).__name__, f"{name}()", *answers)
            for name in ("task", "source", "split", "snapshot_kind"):
                _compare(bench, type(outer).__name__, name, getattr(core, name), getattr(outer, name))
            if bench.failed or stack.now.ended:
                break
            stack.step(bench.choose(stack.choices()))


def _compare(bench: Bench, wrapper: str, what: str, expected: Any, actual: Any) -> None:
    if expected != actual:
        bench.fail(
            f"{wrapper} answers {what} differently from the environment inside",
            expected=shown(expected),
            actual=shown(actual),
            fix="Subclass eapo_gym.wrappers.AgentWrapper, which asks the inner environment at every call.",
            script=(bench.stack.calls,),
        )
