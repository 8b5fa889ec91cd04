"""`eapo-gym data webshop`: builds the shop's catalogue and search index from the benchmark's files."""

from __future__ import annotations

from pathlib import Path

from eapo_gym.cli.terminal import console, plain
from eapo_gym.cli.training_tables import bar


def build(origin: Path, into: Path | None, products: int | None, seed: int) -> None:
    """Build both, and say what came of it."""
    from eapo_gym.envs.webshop.building import build_official
    from eapo_gym.envs.webshop.goals import KINDS

    with bar("products") as tell:
        catalogue, tally = build_official(
            origin, into, most=products, seed=seed, progress=lambda what, done: tell(done, products, what)
        )
    say = console()
    goals = ", ".join(f"{len(catalogue.goals(kind)):,} {kind}" for kind in KINDS)
    say.print(plain(f"{catalogue.label}: {len(catalogue):,} products; goals: {goals}"), soft_wrap=True)
    if left_out := tally.unnamed + tally.duplicates:
        say.print(
            plain(f"left out, as in the benchmark: {left_out:,} ({tally.duplicates:,} were there already)"),
            soft_wrap=True,
        )
    say.print(plain(f"nouns of titles: {catalogue.nouns_label}"), soft_wrap=True)
