"""`eapo-gym doctor`: what a device needs, looked at one after the other, with what to do."""

from __future__ import annotations

import json
from dataclasses import asdict

from eapo_gym.cli.terminal import console, plain
from eapo_gym.envs.androidworld.device.inspection import Place, inspect
from eapo_gym.envs.needs import works
from eapo_gym.errors import UnknownName

ENVIRONMENTS = ("androidworld",)


def doctor(environment: str, place: Place, as_json: bool) -> bool:
    """Print what was found; True if all that is needed is there."""
    if environment.lower() not in ENVIRONMENTS:
        raise UnknownName.of("environment with a doctor", environment, ENVIRONMENTS)
    found = inspect(place)
    well = works(found)
    if as_json:
        print(json.dumps({"environment": "androidworld", "works": well, "findings": [asdict(each) for each in found]}))
        return well
    from rich.table import Table

    out = console()
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for each in found:
        sign = "[green]✓[/]" if each.ok else "[yellow]–[/]" if each.optional else "[red]✗[/]"
        detail = plain(each.detail)
        if each.fix:
            detail.append(f"\n→ {each.fix}", style="cyan")
        table.add_row(sign, each.name, detail)
    out.print(table)
    verdict = "[green]A device can be played on.[/]" if well else "[red]No device can be played on yet.[/]"
    out.print(f"\n{verdict} The embedded phone needs none of this.")
    out.print("✓ here   – useful, not here   ✗ needed, not here")
    return well
