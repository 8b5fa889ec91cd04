"""`eapo-gym envs`: what can be played here, what is missing, and what brings it."""

from __future__ import annotations

import json
from dataclasses import asdict

from eapo_gym.cli.targets import registered_ids
from eapo_gym.cli.terminal import console, plain
from eapo_gym.envs.needs import Need, needs_of, works


def list_envs(as_json: bool) -> None:
    """Print every environment of the suite with its needs."""
    needs = {env_id: needs_of(env_id) for env_id in registered_ids()}
    if as_json:
        environments = [
            {"id": env_id, "works": works(found), "needs": [asdict(need) for need in found]}
            for env_id, found in needs.items()
        ]
        print(json.dumps({"environments": environments}, indent=1))
    else:
        _print_table(needs)


def _print_table(needs: dict[str, list[Need]]) -> None:
    from rich.table import Table

    out = console()
    for env_id, found in needs.items():
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for need in found:
            sign = "[green]✓[/]" if need.ok else "[yellow]–[/]" if need.optional else "[red]✗[/]"
            detail = plain(need.detail)
            if need.fix:
                detail.append(f"\n→ {need.fix}", style="cyan")
            table.add_row(sign, need.name, detail)
        verdict = "[green]works[/]" if works(found) else "[red]does not work yet[/]"
        out.print(f"[bold]{env_id}[/]  {verdict}")
        out.print(table)
    out.print("\n✓ here   – optional, not here   ✗ needed, not here")
