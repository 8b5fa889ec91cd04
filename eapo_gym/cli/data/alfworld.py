"""`eapo-gym data alfworld`: the official games, fetched or brought along, and verified; or generated ones, as files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from eapo_gym.cli.data.bring_in import INCOMING, bring_in
from eapo_gym.cli.data.download import download, find_command
from eapo_gym.cli.terminal import console, plain, progress
from eapo_gym.envs.alfworld.data import DATA_VARIABLE, DOWNLOAD, GAME_FILE, data_folder
from eapo_gym.envs.alfworld.inspection import MARKER, SplitState, overview, to_verify, verify

_BROKEN_SHOWN = 20


def get_data(into: Path | None, *, origin: Path | None, python: str | None, verify_only: bool, detector: bool) -> bool:
    """Bring the official games and verify them; True if they can be used.

    What somebody brings along may be a part: a split that it lacks is reported, and no failure.
    """
    data = (into or data_folder()).expanduser().absolute()
    out = console()
    if origin is not None:
        with progress() as bar:
            row = bar.add_task(f"unpacking {origin.name}", total=None)
            splits = bring_in(origin.expanduser(), data, lambda split: bar.advance(row))
        out.print(plain(f"{origin} holds {', '.join(splits)}"))
    elif not verify_only:
        _fetch(data, python, detector)
    states = _verify(data)
    _print(states, data)
    usable = all(not state.broken for state in states) and any(state.verified for state in states)
    if origin is not None:
        return usable
    return usable and all(state.complete for state in states)


def _fetch(data: Path, python: str | None, detector: bool) -> None:
    out = console()
    if all(state.complete for state in overview(data)):
        out.print(plain(f"All official games are in {data} already: nothing to fetch."))
        return
    command = find_command(python)
    out.print(plain(f"Running ALFWorld's own {command} into {data}; broken off, it goes on where it stopped."))
    status = download(command, data, detector=detector)
    if status:
        out.print(plain(f"{command.name} ended with status {status}. What it brought:"))


def _verify(data: Path) -> list[SplitState]:
    with progress() as bar:
        row = bar.add_task("verifying the games", total=to_verify(data))
        return verify(data, lambda split: bar.update(row, advance=1, description=f"verifying {split}"))


def _print(states: Sequence[SplitState], data: Path) -> None:
    out = console()
    for state in states:
        sign = "[green]✓[/]" if state.verified else "[red]✗[/]" if state.broken else "[yellow]–[/]"
        out.print(sign, plain(state))
    broken = [sentence for state in states for sentence in state.broken]
    for sentence in broken[:_BROKEN_SHOWN]:
        out.print(plain(f"  {sentence}"), soft_wrap=True)
    if broken:
        more = f" (and {len(broken) - _BROKEN_SHOWN} more, see {data / MARKER})" if len(broken) > _BROKEN_SHOWN else ""
        out.print(plain(f"Delete the broken files{more}, then run '{DOWNLOAD}' again: it fetches what is missing."))
    elif any(not state.complete for state in states):
        out.print(plain(f"'{DOWNLOAD}' fetches what is missing."))
    if data != data_folder().absolute():
        out.print(plain(f"To use these games: export {DATA_VARIABLE}={data}"), soft_wrap=True)


def write_generated(count: int, into: Path, *, seed: int, difficulty: str) -> None:
    """Write generated games as folders that the official environment loads; games that are there are left alone."""
    from eapo_gym.envs.alfworld.generator import generate, preset

    knobs = preset("" if difficulty == "default" else difficulty)
    into = into.expanduser().absolute()
    draft = into / INCOMING
    written = 0
    with progress() as bar:
        for number in bar.track(range(seed, seed + count), description="generating"):
            game = generate(number, knobs=knobs)
            place = into / game.id
            if not (place / GAME_FILE).exists():
                game.write(draft)
                place.parent.mkdir(parents=True, exist_ok=True)
                (draft / game.id).replace(place)
                written += 1
    shutil.rmtree(draft, ignore_errors=True)
    out = console()
    kept = f", {count - written} were there already" if written < count else ""
    out.print(plain(f"{written} generated games written below {into}{kept}."), soft_wrap=True)
    out.print(
        plain(f"Play them: gym.make('eapo/ALFWorld-v0', source='folder', games={os.fspath(into)!r})"), soft_wrap=True
    )
