"""`eapo-gym doctor`: what a device or a desktop needs, looked at one after the other, with what to do."""

from __future__ import annotations

import json
from dataclasses import asdict

from eapo_gym.cli.terminal import console, plain
from eapo_gym.envs.androidworld.device.inspection import Place, inspect
from eapo_gym.envs.needs import Need, works
from eapo_gym.envs.osworld.needs import needs as needs_of_desktops
from eapo_gym.errors import UnknownName

_VERDICTS = {
    "androidworld": (
        "[green]A device can be played on.[/]",
        "[red]No device can be played on yet.[/]",
        "The embedded phone needs none of this.",
    ),
    "osworld": (
        "[green]Our own tasks can be played on a local desktop.[/]",
        "[red]No local desktop can be played on yet.[/]",
        "A machine of the benchmark's is played on at its address, with none of it.",
    ),
}
"""What is said of all that was found: where all is well, where it is not, and besides."""

ENVIRONMENTS = tuple(_VERDICTS)


def doctor(environment: str, place: Place, as_json: bool) -> bool:
    """Print what was found; True if all that is needed is there."""
    name = environment.lower()
    if name not in ENVIRONMENTS:
        raise UnknownName.of("environment with a doctor", environment, ENVIRONMENTS)
    found = inspect(place) if name == "androidworld" else needs_of_desktops()
    well = works(found)
    if as_json:
        print(json.dumps({"environment": name, "works": well, "findings": [asdict(each) for each in found]}))
    else:
        _show(found, name)
    return well


def _show(found: list[Need], name: str) -> None:
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
    yes, no, besides = _VERDICTS[name]
    out.print(f"\n{yes if works(found) else no} {besides}")
    out.print("✓ here   – useful, not here   ✗ needed, not here")
