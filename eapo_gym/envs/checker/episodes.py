"""Checks of episodes: tasks, seeds, resets, branches. They look at the whole stack."""

from __future__ import annotations

import math

from eapo_gym.envs.checker.bench import Bench
from eapo_gym.envs.checker.seen import Divergence, called, said, shown
from eapo_gym.errors import UnknownName


def check_tasks(bench: Bench) -> None:
    for _ in bench.tries(1):
        tasks = bench.core.ask("tasks")
        if not isinstance(tasks, list) or not all(isinstance(task, str) for task in tasks) or not tasks:
            bench.fail(
                "tasks() is no list of ids",
                expected="a list of str, at least one",
                actual=shown(tasks),
                fix="Return the ids of the split's tasks: what reset(options={'task': id}) takes.",
                script=("tasks()",),
            )
            return
        if len(set(tasks)) < len(tasks):
            bench.fail(
                "tasks() lists an id twice",
                expected=f"{len(tasks)} different ids",
                actual=f"{shown(next(task for task in tasks if tasks.count(task) > 1))} more than once",
                fix="Make the ids unique: results are kept by them.",
                script=("tasks()",),
            )
        if (again := bench.core.ask("tasks")) != tasks:
            bench.fail(
                "tasks() changes",
                expected=shown(tasks),
                actual=shown(again),
                fix="Return the same ids in the same order at every call: no chance, no order of a set.",
                script=("tasks(); tasks()",),
            )
            return
        split = bench.core.core.split
        if (named := bench.core.ask("tasks", split)) != tasks:
            bench.fail(
                "tasks(split) of the environment's own split is not tasks()",
                expected=shown(tasks),
                actual=shown(named),
                fix="Let tasks(split=None) stand for self.split.",
                script=(called("tasks", split),),
            )


def check_task_option(bench: Bench) -> None:
    tasks = bench.core.ask("tasks")
    wanted = bench.rng.sample(tasks, min(4, len(tasks)))
    for probe in bench.tries(len(wanted)):
        info = bench.stack.reset(seed=bench.seed(probe), task=wanted[probe]).info
        if info.get("task") != wanted[probe]:
            bench.fail(
                "reset(options={'task': id}) plays another task",
                expected=shown(wanted[probe]),
                actual=shown(info.get("task")),
                fix="Begin reset with super().reset(seed=seed) and self.task = self.choose_task(options).",
                script=(bench.stack.calls,),
            )
            return
    for _ in bench.tries(1):
        options = {"task": "no-such-task-7f3a"}
        try:
            bench.stack.env.reset(options=options)
            actual = "no error"
        except UnknownName:
            return
        except Exception as error:  # any other error is what this probe is after
            actual = said(error)
        bench.fail(
            "an unknown task is not refused clearly",
            expected="UnknownName, which says which tasks there are",
            actual=actual,
            fix="Use self.choose_task(options), or raise UnknownName.of('task', wanted, self.tasks()).",
            script=(called("reset", options=options),),
        )


def check_seeding(bench: Bench) -> None:
    for probe in bench.tries(max(len(bench.seeds), bench.episodes)):
        if _differs_when_repeated(bench, bench.seed(probe), bench.length(probe)):
            return
    for _ in bench.tries(1):
        _later_resets_follow_from_the_seed(bench)
    for _ in bench.tries(1):
        _seeds_reach_different_tasks(bench)


def _differs_when_repeated(bench: Bench, seed: int, length: int) -> bool:
    first = bench.stack.play(length, seed=seed)
    again = bench.stack.play(length, seed=seed, commands=first.commands)
    found = bench.differ(first, again)
    if found is None:
        return False
    # A leak from the episode before is the same each time that episode was the same; chance is not.
    repeats = [bench.stack.play(length, seed=seed, commands=first.commands) for _ in range(6)]
    script = (first.calls(found.steps), "then the same calls again")
    if all(bench.differ(again, repeat) is None for repeat in repeats):
        _file_leak(bench, found, script)
    else:
        _file_chance(bench, found, script)
    return True


def _file_chance(bench: Bench, found: Divergence, script: tuple[str, ...]) -> None:
    bench.fail(
        "the same seed gives another episode",
        expected=f"{found.difference.what}: {found.difference.expected}, as the first time",
        actual=found.difference.actual,
        fix="After super().reset(seed=seed), draw every random number from self.np_random, the choice of the task "
        f"included: no global random, no clock, no order of a set.{found.hint}",
        script=script,
    )


def _file_leak(bench: Bench, found: Divergence, script: tuple[str, ...]) -> None:
    bench.fail(
        "reset keeps something of the episode before",
        expected=f"{found.difference.what}: {found.difference.expected}, as in a new environment",
        actual=found.difference.actual,
        fix=f"In reset, set every attribute that an episode changes, not only in __init__.{found.hint}",
        script=script,
        check="fresh-start",
    )


def _later_resets_follow_from_the_seed(bench: Bench) -> None:
    orders = []
    for _ in range(2):
        first = bench.stack.reset(seed=bench.seed(0))
        orders.append([first.info.get("task"), *(bench.stack.reset().info.get("task") for _ in range(3))])
    if orders[0] != orders[1]:
        bench.fail(
            "the resets after a seeded one do not follow from the seed",
            expected=f"the tasks {orders[0]}, as the first time",
            actual=f"the tasks {orders[1]}",
            fix="Draw from self.np_random, and do not make a new generator where reset gets no seed.",
            script=(bench.stack.calls,),
        )


def _seeds_reach_different_tasks(bench: Bench) -> None:
    tasks = len(bench.core.ask("tasks"))
    if tasks < 2:
        return
    # As many seeds as it takes for chance to hit one task every time only once in a million.
    seeds = range(1 + math.ceil(6 / math.log10(tasks)))
    reached = {bench.stack.reset(seed=seed).info.get("task") for seed in seeds}
    if len(reached) == 1:
        bench.fail(
            "every seed reaches the same task",
            expected=f"different ones among the {tasks} tasks",
            actual=f"{shown(reached.pop())} from each of {len(seeds)} seeds",
            fix="Where no task is asked for, draw one: self.task = self.choose_task(options).",
            script=tuple(called("reset", seed=seed) for seed in seeds[:3]),
        )


def check_fresh_start(bench: Bench) -> None:
    """The opening was played when the environment was new; after other episodes it must go just the same."""
    opening = bench.opening
    assert opening is not None, "check_api records it"
    for probe in bench.tries(min(3, bench.episodes)):
        # A long episode, and a short one that is left in the middle.
        bench.stack.play(bench.length(probe + 2), seed=bench.seed(probe + 1))
        bench.stack.play(2, seed=bench.seed(probe + 2))
        again = bench.stack.play(len(opening), seed=bench.seed(0), commands=opening.commands)
        found = bench.differ(opening, again)
        if found:
            before = "; ".join(again.start[:-1])
            _file_leak(bench, found, (f"in a new environment: {opening.calls(found.steps)}", f"after: {before}"))
            return


def check_branching(bench: Bench) -> None:
    for probe in bench.tries(bench.episodes):
        length = bench.length(probe)
        bench.stack.play(bench.rng.randrange(length), seed=bench.seed(probe))
        if bench.stack.now.ended:
            continue
        saved = bench.stack.branch()
        first = bench.stack.go_on(length)
        for detour in ("none", "another episode"):
            if detour == "another episode":
                bench.stack.play(length, seed=bench.seed(probe + 1))
            bench.stack.resume(saved)
            again = bench.stack.go_on(length, first.commands)
            found = bench.differ(first, again, whole_start=False)
            if found:
                bench.fail(
                    "resume() does not bring back the episode that branch() saved",
                    expected=f"{found.difference.what}: {found.difference.expected}, as before the branch was left",
                    actual=found.difference.actual,
                    fix="If snapshot() and restore() pass, a wrapper forgets something: return all that it remembers "
                    f"of the episode from branch_state(), as a copy, and set it in resume_state().{found.hint}",
                    script=(first.calls(found.steps), again.calls(found.steps)),
                )
                return
