"""`branch` and `resume`: save and restore a whole stack, wrappers and all.

Not to be confused with a rollback, which moves only the environment back while memory, visit counts and step count go
on. A branch is what online rewards and tree search need: the episode as if the excursion had never been.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
from gymnasium import wrappers as gym_wrappers

from eapo_gym.envs.base import AgentEnv, Info, Obs
from eapo_gym.errors import ContractError, SnapshotError

# What Gymnasium's own wrappers must remember, by the name of the attribute.
_GYMNASIUM_STATE: dict[type, tuple[str, ...]] = {
    gym_wrappers.TimeLimit: ("_elapsed_steps",),
    gym_wrappers.OrderEnforcing: ("_has_reset", "_has_rendered"),
    # It checks what an environment first does, once: nothing of that belongs to the episode.
    gym_wrappers.PassiveEnvChecker: (),
    gym_wrappers.RecordEpisodeStatistics: ("episode_start_time", "episode_returns", "episode_lengths"),
}

_STATELESS = (gym_wrappers.TransformObservation, gym_wrappers.TransformAction, gym_wrappers.TransformReward)


@dataclass(frozen=True, slots=True)
class Branch:
    """A saved episode: what each layer remembers, outermost first."""

    layers: tuple[tuple[str, Any], ...]


def branch(env: gym.Env[Any, Any]) -> Branch:
    """Save the episode of `env`, through all of its wrappers."""
    return Branch(tuple((type(layer).__name__, _save(layer)) for layer in _layers(env)))


def resume(env: gym.Env[Any, Any], saved: Branch) -> tuple[Obs, Info]:
    """Put `env` back to where it was branched; returns the observation and info of that moment."""
    layers = _layers(env)
    here, there = [type(layer).__name__ for layer in layers], [name for name, _ in saved.layers]
    if here != there:
        raise SnapshotError(f"This branch was taken from the stack {there}, but the environment is {here}.")
    *wrappers, innermost = zip(layers, saved.layers, strict=True)
    env_, (_, (snapshot, generator)) = innermost
    obs, info = env_.restore(snapshot)
    env_.np_random.bit_generator.state = copy.deepcopy(generator)
    for layer, (_, state) in reversed(wrappers):
        obs, info = _load(layer, state, obs, info)
    return obs, info


def _layers(env: gym.Env[Any, Any]) -> list[Any]:
    layers: list[Any] = []
    while isinstance(env, gym.Wrapper):
        layers.append(env)
        env = env.env
    if not isinstance(env, AgentEnv):
        raise ContractError(f"Only an AgentEnv can be branched, and {type(env).__name__} is none.")
    return [*layers, env]


def _save(layer: Any) -> Any:
    if isinstance(layer, AgentEnv):
        return layer.snapshot(), copy.deepcopy(layer.np_random.bit_generator.state)
    if hasattr(layer, "branch_state"):
        return layer.branch_state()
    return {name: copy.deepcopy(getattr(layer, name)) for name in _remembered(layer) if hasattr(layer, name)}


def _load(layer: Any, state: Any, obs: Obs, info: Info) -> tuple[Obs, Info]:
    if hasattr(layer, "resume_state"):
        resumed: tuple[Obs, Info] = layer.resume_state(state, obs, info)
        return resumed
    for name, value in state.items():
        setattr(layer, name, copy.deepcopy(value))
    if isinstance(layer, gym.ObservationWrapper):
        obs = layer.observation(obs)
    if isinstance(layer, gym_wrappers.PassiveEnvChecker) and not layer.checked_step:
        # The first step is compared with what came before it, and here that was no reset.
        layer._previous_data = obs, info
    return obs, info


def _remembered(layer: Any) -> tuple[str, ...]:
    for kind, names in _GYMNASIUM_STATE.items():
        if isinstance(layer, kind):
            return names
    if isinstance(layer, _STATELESS):
        return ()
    raise ContractError(
        f"{type(layer).__name__} may have a state that branch() does not know of: "
        "give it branch_state() and resume_state(state, obs, info), as eapo_gym.wrappers.AgentWrapper has them."
    )
