"""Plays tasks on real desktops, right and wrong, and says what came of it.

`eapo_gym.envs.osworld.own.verifying` is a program as well: `python -m … CalcSort Writer` plays every template whose
name begins with one of these words.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from eapo_gym.envs.osworld.actions import parse_action
from eapo_gym.envs.osworld.client import HttpComputer
from eapo_gym.envs.osworld.computer import ComputerError
from eapo_gym.envs.osworld.desktop import HomeCopy, LocalDesktop
from eapo_gym.envs.osworld.elements import elements_of
from eapo_gym.envs.osworld.inputs import Input
from eapo_gym.envs.osworld.judging.judge import INFEASIBLE_STATUS, Verdict, judge
from eapo_gym.envs.osworld.own.base import SPLITS, WAYS, Way
from eapo_gym.envs.osworld.own.catalog import made, make_task, template_of, templates
from eapo_gym.envs.osworld.own.seeing import Plan, Seeing
from eapo_gym.envs.osworld.preparing import Preparer
from eapo_gym.envs.osworld.settled import Look, act_and_look, look
from eapo_gym.errors import EapoError

MOST_ACTIONS = 60
WAIT = 1.0
"""Seconds that an action takes which only waits."""


@dataclass(frozen=True, slots=True)
class Play:
    """What came of one try at a task."""

    task_id: str
    way: Way

    actions: tuple[str, ...]
    score: float
    said: str
    """What the checks found, or what went wrong."""

    seconds: float

    @property
    def is_right(self) -> bool:
        """Whether it ended as it should: solved with 1, or failed with less than that and by no accident."""
        return not self.said.startswith("!") and (self.score == 1.0) == (self.way == "solve")

    def line(self) -> str:
        word = "ok " if self.is_right else "BAD"
        took = f"{len(self.actions)} actions, {self.seconds:.0f} s"
        return f"{word} {self.task_id} {self.way}: {self.score:g} in {took}. {self.said}"


@dataclass
class Player:
    """Plays on one desktop, whose home is as new before every try."""

    desktop: LocalDesktop
    new_home: HomeCopy
    folder: Path
    """Where the tasks are made."""

    shots: Path | None = None
    """Where the last screen of what went wrong is put, as a picture and a list of elements."""

    def play(self, task_id: str, way: Way) -> Play:
        """Try a task once, by the template's right or wrong way."""
        began = time.monotonic()
        self.desktop.load_home(self.new_home)
        computer = HttpComputer(str(self.desktop.socket))
        actions: list[str] = []
        try:
            verdict = self._played(task_id, way, computer, actions)
            score, said = verdict.score, " ".join(each.sentence for each in verdict.checks)
        except (EapoError, ComputerError) as error:
            score, said = 0.0, f"! {type(error).__name__}: {error}"
        done = Play(task_id, way, tuple(actions), score, said, time.monotonic() - began)
        if not done.is_right and self.shots is not None:
            _keep_sight(computer, self.shots / f"{task_id.replace('/', '.')}.{way}")
        computer.close()
        return done

    def _played(self, task_id: str, way: Way, computer: HttpComputer, actions: list[str]) -> Verdict:
        template, task = template_of(task_id), make_task(task_id, self.folder)
        with tempfile.TemporaryDirectory() as scratch:
            preparer = Preparer(computer, _no_network, Path(scratch), settle=lambda most: look(computer, most=most))
            preparer.prepare(task)
            sight = _Sight(computer)
            plan = template.play(way, Seeing(lambda: sight.elements), made(task_id).params)
            status = _act(plan, sight, actions)
            return judge(
                task,
                computer,
                answer_status=status,
                cache=Path(scratch) / "judging",
                prepare=preparer.finish,
            )


def _no_network(address: str) -> Path:
    raise ComputerError(f"Our own tasks fetch nothing from the network, and {address!r} was asked for.")


class _Sight:
    """What an agent sees: the elements as they were when the screen stood still after the last action."""

    def __init__(self, computer: HttpComputer) -> None:
        self.computer = computer
        self._see(look(computer))

    def act(self, inputs: Sequence[Input]) -> None:
        self._see(act_and_look(self.computer, inputs))

    def wait(self) -> None:
        time.sleep(WAIT)
        self._see(look(self.computer))

    def _see(self, seen: Look) -> None:
        self.elements = elements_of(seen.tree, self.computer.size).elements


def _act(plan: Plan, sight: _Sight, actions: list[str]) -> str | None:
    """Do what a plan says to its end; gives the status with which it ends."""
    size = sight.computer.size
    for text in plan:
        actions.append(text)
        action = parse_action(text, size)
        if action.kind in ("done", "fail"):
            return INFEASIBLE_STATUS if action.kind == "fail" else None
        if len(actions) > MOST_ACTIONS:
            raise ComputerError(f"The plan has more than {MOST_ACTIONS} actions.")
        if action.kind == "inputs":
            sight.act(action.inputs(sight.elements, size))
        else:
            sight.wait()
    raise ComputerError("The plan has no end.")


def _keep_sight(computer: HttpComputer, place: Path) -> None:
    from PIL import Image

    place.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(computer.screenshot()).save(f"{place}.png")
    listing = elements_of(computer.tree(), computer.size)
    Path(f"{place}.txt").write_text(listing.as_text(), encoding="utf-8")


def verify(
    task_ids: Sequence[str],
    ways: Sequence[Way] = WAYS,
    *,
    desktops: int = 1,
    folder: Path,
    shots: Path | None = None,
    tell: Callable[[Play], object] = lambda play: None,
) -> list[Play]:
    """Play tasks in these ways, on so many desktops at once; `tell` hears of each as it is done."""
    tries = [(task_id, way) for task_id in task_ids for way in ways]
    free: Queue[Player] = Queue()

    def one(task_id: str, way: Way) -> Play:
        player = free.get()
        try:
            play = player.play(task_id, way)
        finally:
            free.put(player)
        tell(play)
        return play

    running = [LocalDesktop() for _ in range(min(desktops, len(tries)))]
    try:
        for desktop in running:
            desktop.start()
            free.put(Player(desktop, desktop.save_home(), folder, shots))
        with ThreadPoolExecutor(len(running)) as pool:
            return list(pool.map(lambda each: one(*each), tries))
    finally:
        for desktop in running:
            desktop.close()


def _chosen(words: Sequence[str], split: str, number: int) -> Iterator[str]:
    for name in templates():
        if not words or any(name.startswith(word) for word in words):
            yield f"{split}/{name}/{number}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Play our own desktop tasks, right and wrong.")
    parser.add_argument("names", nargs="*", help="beginnings of templates' names; all without")
    parser.add_argument("--split", choices=list(SPLITS), default="train")
    parser.add_argument("--number", type=int, default=0)
    parser.add_argument("--way", choices=WAYS, help="only the right way, or only the wrong one")
    parser.add_argument("--desktops", type=int, default=1)
    parser.add_argument("--shots", type=Path, help="a folder for what was on the screen where something went wrong")
    chosen = parser.parse_args(arguments)
    ways = (chosen.way,) if chosen.way else WAYS
    with tempfile.TemporaryDirectory() as folder:
        plays = verify(
            list(_chosen(chosen.names, chosen.split, chosen.number)),
            ways,
            desktops=chosen.desktops,
            folder=Path(folder),
            shots=chosen.shots,
            tell=lambda play: print(play.line(), flush=True),
        )
    wrong = sum(not play.is_right for play in plays)
    print(f"{len(plays) - wrong} of {len(plays)} went as they should.")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
