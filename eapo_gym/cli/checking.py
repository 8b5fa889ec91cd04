"""`eapo-gym check`: the conformance check, for a terminal."""

from __future__ import annotations

import json
from typing import Any

from eapo_gym.cli.targets import address, make_env
from eapo_gym.cli.terminal import console, plain


def check(target: str, kwargs: dict[str, Any], *, budget: float, skip: list[str], as_json: bool) -> bool:
    """Check an environment and print what was found; True if it keeps the contract."""
    from eapo_gym.envs.checker import run_checks

    env = make_env(target, kwargs)
    out = console()
    try:
        report = run_checks(
            env,
            budget_seconds=budget,
            make=address(target) if ":" in target else None,
            make_kwargs=kwargs,
            skip=skip,
            progress=out.is_terminal and not as_json,
        )
    finally:
        env.close()
    if as_json:
        print(json.dumps(report.to_dict(), indent=1, default=str))
        return report.ok
    out.print(report)
    head, *_ = str(report).split("\n", 1)
    for finding in report.findings:
        out.print()
        out.print(plain(finding), soft_wrap=True)
    out.print()
    out.print(plain(head, style="bold green" if report.ok else "bold red"))
    return report.ok
