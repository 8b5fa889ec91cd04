"""How checks are put together: the benchmark's order and its rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eapo_gym.envs.osworld.judging import CannotJudge, Verdict, judge, known_getters, known_metrics
from eapo_gym.envs.osworld.tasks import Check, ConfigStep, DesktopTask, Evaluator
from eapo_gym.errors import UnknownName
from tests.envs.osworld.judging.machine import Machine

HALF = "the quick brown fox"


def rule(expected: object) -> dict[str, Any]:
    return {"type": "rule", "rules": {"expected": expected}}


def said(text: str, metric: str = "exact_match", wanted: object = "yes") -> Check:
    return Check(metric, rule(text) | {"rules": text}, rule(wanted))


def alike(text: str) -> Check:
    return said(text, "fuzzy_match", HALF)


def missing_file(metric: str = "compare_config") -> Check:
    return Check(metric, {"type": "vm_file", "path": "/home/user/gone", "dest": "gone"}, rule("yes"))


def task(*checks: Check, all_of_them: bool = True, beside: Path | None = None) -> DesktopTask:
    steps = (ConfigStep("sleep", {"seconds": 1}),)
    return DesktopTask("t", "os", "Do it.", (), Evaluator(checks, all_of_them, steps), beside=beside)


def verdict(one: DesktopTask, cache: Path, status: str | None = "complete", **more: Any) -> Verdict:
    return judge(
        one, more.pop("computer", Machine()), answer_status=status, cache=cache, prepare=lambda _: None, **more
    )


@pytest.mark.parametrize(
    ("checks", "all_of_them", "score"),
    [
        ((said("yes"),), True, 1.0),
        ((said("no"),), True, 0.0),
        ((said("yes"), said("yes")), True, 1.0),
        ((said("yes"), said("no")), True, 0.0),
        ((said("no"), said("yes")), False, 1.0),
        ((said("no"), said("no")), False, 0.0),
        ((missing_file(), said("yes")), True, 0.0),
        ((missing_file(), said("yes")), False, 1.0),
    ],
)
def test_checks_are_combined(checks: tuple[Check, ...], all_of_them: bool, score: float, tmp_path: Path) -> None:
    assert verdict(task(*checks, all_of_them=all_of_them), tmp_path).score == score


def test_partial_scores_are_averaged_by_and_and_the_best_of_or(tmp_path: Path) -> None:
    low, high = (verdict(task(alike(text)), tmp_path).score for text in ("the fox", "the quick fox"))
    assert 0 < low < high < 1
    both = (alike("the fox"), alike("the quick fox"))
    assert verdict(task(*both), tmp_path).score == pytest.approx((low + high) / 2)
    assert verdict(task(*both, all_of_them=False), tmp_path).score == high


def test_a_check_that_decides_is_the_last_one(tmp_path: Path) -> None:
    refused = Check("exact_match", {"type": "page_info", "url": "https://a"}, rule("yes"))
    assert verdict(task(said("no"), refused), tmp_path).score == 0.0
    assert verdict(task(said("yes"), refused, all_of_them=False), tmp_path).score == 1.0
    with pytest.raises(CannotJudge, match="network"):
        verdict(task(said("yes"), refused), tmp_path)


@pytest.mark.parametrize(("status", "score"), [("infeasible", 1.0), ("complete", 0.0), (None, 0.0)])
def test_what_cannot_be_done_is_right_if_the_agent_says_so(status: str | None, score: float, tmp_path: Path) -> None:
    assert verdict(task(Check("infeasible")), tmp_path, status).score == score


def test_giving_up_what_can_be_done_is_worth_nothing_whatever_was_done(tmp_path: Path) -> None:
    given_up = verdict(task(said("yes")), tmp_path, "infeasible")
    assert given_up.score == 0.0
    assert "gave up" in given_up.checks[0].sentence


def test_the_steps_come_before_the_checks(tmp_path: Path) -> None:
    """What a step writes is what `cache_file` gives."""

    def prepare(one: DesktopTask) -> None:
        assert one.evaluator.postconfig[0].type == "sleep"
        (tmp_path / "listed.out").write_text("a.eml\n")

    check = Check(
        "check_list", {"type": "cache_file", "path": "listed.out"}, {"type": "rule", "rules": {"expect": ["a"]}}
    )
    found = judge(task(check), Machine(), answer_status="complete", cache=tmp_path, prepare=prepare)
    assert found.score == 1.0
    (tmp_path / "listed.out").unlink()
    found = verdict(task(check), tmp_path)
    assert found.score == 0.0
    assert "listed.out" in found.checks[0].sentence


def test_what_a_task_brings_along_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "gold.txt").write_text("same")
    machine = Machine({"/home/user/done.txt": b"same"})
    done = {"type": "vm_file", "path": "~/done.txt", "dest": "gold.txt"}  # the name of the other on purpose
    check = Check("compare_text_file", done, {"type": "cloud_file", "path": "gold.txt", "dest": "gold.txt"})
    one = task(check, beside=tmp_path / "task")
    assert verdict(one, tmp_path / "cache", computer=machine).score == 1.0
    machine.files["/home/user/done.txt"] = b"other"
    assert verdict(one, tmp_path / "cache", computer=machine).score == 0.0


def test_what_an_agent_leaves_broken_is_worth_nothing_and_named(tmp_path: Path) -> None:
    machine = Machine({"/home/user/gone": b"\xff\xfe"})
    found = verdict(task(missing_file()), tmp_path, computer=machine)
    assert found.score == 0.0
    assert "UTF-8" in found.checks[0].sentence


def test_unknown_names_say_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"metric 'exact_mach'.*'exact_match'"):
        verdict(task(Check("exact_mach", rule(1), rule(1))), tmp_path)
    with pytest.raises(UnknownName, match=r"getter 'rules'.*'rule'"):
        verdict(task(Check("exact_match", {"type": "rules"}, rule(1))), tmp_path)


def test_no_metric_is_registered_twice() -> None:
    import importlib
    import pkgutil

    from eapo_gym.envs.osworld.judging import registry

    names = [
        name
        for package in map(importlib.import_module, (*registry.METRIC_PACKAGES, *registry.GETTER_PACKAGES))
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
        for attribute in ("METRICS", "GETTERS")
        for name in getattr(importlib.import_module(module.name), attribute, {})
    ]
    assert len(names) == len(set(names)) == len(known_metrics() - {"infeasible"}) + len(known_getters())
