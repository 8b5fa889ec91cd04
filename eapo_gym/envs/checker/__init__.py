"""`check_agent_env`: the conformance check that an environment must pass.

    from eapo_gym import check_agent_env

    check_agent_env(MyEnv(), make=MyEnv)

Its parts, from the door inwards: `run` has the list of the checks; `interface`, `episodes`, `states`, `actions`,
`snapshots` and `elsewhere` are the checks; `bench` drives the environment and minds the budget; `returns` looks at what
came back and `seen` keeps it; `report` says what was found.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import gymnasium as gym

from eapo_gym.envs.checker.elsewhere import Maker
from eapo_gym.envs.checker.report import ContractBroken, Finding, Outcome, Report
from eapo_gym.envs.checker.run import CHECKS, Check, run_checks

__all__ = ["CHECKS", "Check", "ContractBroken", "Finding", "Outcome", "Report", "check_agent_env", "run_checks"]


def check_agent_env(
    env: gym.Env[Any, Any],
    *,
    seeds: Sequence[int] = (0, 1, 2),
    steps: int = 40,
    episodes: int = 8,
    budget_steps: int = 50_000,
    budget_seconds: float = 90.0,
    cross_process: bool = True,
    make: Maker | None = None,
    make_kwargs: Mapping[str, Any] | None = None,
    rng_seed: int = 0,
    skip: Collection[str] = (),
    progress: bool = False,
) -> Report:
    """Try every promise of the contract on `env`; raise `ContractError` with all that was found, or return the report.

    `env` is an `AgentEnv`, bare or in any stack of wrappers. Spaces, return values, seeding, rendering and `branch()`
    are tried on the whole stack (where it wants a model's whole response, commands are rendered into one); all else is
    the promise of the environment itself, and tried on it behind the wrappers' back. The environment stays open, and
    wants a reset before it is used again.

    `steps` is the longest walk and `episodes` the number of walks per check; they begin with `seeds` and count on from
    the last of these. `budget_steps` and `budget_seconds` bound the whole: each check gets its share and finishes at
    least its first probe; the report says which were cut. Another process builds the environment from its `spec`, its
    recorded constructor arguments, or from `make` (a class, a function or "module:name") called with `make_kwargs`.
    `rng_seed` chooses the walks, `skip` names checks to leave out, `progress` shows a bar.

    Where info carries `invalid_action`, it must be False after every valid action and True after a text that
    `parse_action` refuses. Where it does not, a valid action must not be answered as such a text is.
    """
    report = run_checks(
        env,
        seeds=seeds,
        steps=steps,
        episodes=episodes,
        budget_steps=budget_steps,
        budget_seconds=budget_seconds,
        cross_process=cross_process,
        make=make,
        make_kwargs=make_kwargs,
        rng_seed=rng_seed,
        skip=skip,
        progress=progress,
    )
    report.raise_if_broken()
    return report
