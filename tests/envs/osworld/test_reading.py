"""Task files are read as they are meant, or refused in one sentence that names the task and the place in its file."""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.osworld.paths import leaves_home, on_machine, paths_of
from eapo_gym.envs.osworld.reading import LARGEST_FILE, LONGEST_INSTRUCTION, read_task
from eapo_gym.envs.osworld.requirements import requirements
from eapo_gym.envs.osworld.steps import STEPS
from eapo_gym.envs.osworld.tasks import Check, ConfigStep, DesktopTask, TaskFileError
from tests.envs.osworld.remembering import official_archive

RESULT = {"type": "vm_file", "path": "/home/user/a.txt", "dest": "a.txt"}
EXPECTED = {"type": "rule", "rules": {"expected": "yes"}}


def raw(**changes: Any) -> dict[str, Any]:
    """A small task file; a change of None takes a field away."""
    evaluator = {"func": "exact_match", "result": RESULT, "expected": EXPECTED}
    whole = {"id": "t-1", "instruction": "Do it.", "config": [], "related_apps": ["os"], "evaluator": evaluator}
    return {name: value for name, value in (whole | changes).items() if value is not None}


def judged(**changes: Any) -> dict[str, Any]:
    evaluator = {"func": "exact_match", "result": RESULT, "expected": EXPECTED} | changes
    return raw(evaluator={name: value for name, value in evaluator.items() if value is not None})


def read(content: dict[str, Any], **known: Any) -> DesktopTask:
    return read_task(content, domain="os", **known)


def refused(content: Any, **known: Any) -> str:
    with pytest.raises(TaskFileError) as caught:
        read_task(content, domain="os", **known)
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 800
    assert said.endswith(".")
    return said


def test_what_the_benchmark_writes_in_several_ways_has_one_form() -> None:
    task = read(
        raw(
            config=[
                {"type": "execute", "parameters": {"command": ["ls", ""], "shell": "true", "stdout": "ls.out"}},
                {"type": "sleep", "parameters": {"seconds": 2}},
            ],
            related_apps=["libreoffice calc", "Writer", "vscode", "vs_code", "OS"],
            evaluator={
                "func": ["exact_match", "compare_table"],
                "conj": "or",
                "result": [RESULT, RESULT],
                "expected": [EXPECTED, {}],
                "options": [{}, {"rules": []}],
                "postconfig": [{"type": "open", "parameters": {"path": "~/a"}}],
            },
        )
    )
    assert task.id == "os/t-1"
    assert task.config == (
        ConfigStep("execute", {"command": ("ls", ""), "shell": True, "stdout": "ls.out"}),
        ConfigStep("sleep", {"seconds": 2.0}),
    )
    assert task.apps == ("libreoffice_calc", "libreoffice_writer", "vs_code", "os")
    assert task.evaluator.checks == (
        Check("exact_match", RESULT, EXPECTED, {}),
        Check("compare_table", RESULT, None, {"rules": []}),
    )
    assert not task.evaluator.all_of_them
    assert task.evaluator.postconfig == (ConfigStep("open", {"path": "~/a"}),)


def test_one_metric_is_a_list_of_one_and_what_is_missing_is_nothing() -> None:
    content = raw(config=None, related_apps=None, evaluator={"func": "infeasible"})
    task = read(content)
    assert (task.config, task.apps, task.beside) == ((), (), None)
    assert task.evaluator.checks == (Check("infeasible"),)
    assert task.evaluator.is_infeasible
    assert task.raw == content


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "expected a JSON object, got a list that is empty"),
        (raw(id=None), "expected an id of letters"),
        (raw(id="../x"), "expected an id of letters"),
        (raw(instruction="  "), "instruction: expected a text"),
        (raw(instruction=["a"]), "instruction: expected a text, got a list"),
        (
            raw(instruction="a" * (LONGEST_INSTRUCTION + 1)),
            "instruction: expected at most 10,000 characters, got 10,001",
        ),
        (raw(instruction="a" * 10_000_000), "expected a file of at most 1 MB"),
        (raw(instruction="\ud800"), "nothing that JSON can hold"),
        (raw(weight=float("nan")), "nothing that JSON can hold"),
        (raw(related_apps="os"), "related_apps: expected a list of names"),
        (raw(config={}), "config: expected a list of steps, got an object"),
        (raw(config=[{"type": "sleep", "parameters": {"seconds": 1}}] * 201), "expected at most 200 steps, got 201"),
        (raw(config=["sleep"]), "config, step 1: expected an object such as"),
        (raw(config=[{"type": "tidy_desktop", "parameters": {}}]), "its type 'tidy_desktop' is none of download,"),
        (raw(config=[{"type": "sleep"}]), "config, step 1: (sleep) seconds is missing"),
        (raw(config=[{"type": "sleep", "parameters": {"seconds": True}}]), "seconds: expected a number from 0 to 600"),
        (raw(config=[{"type": "sleep", "parameters": {"seconds": 1e9}}]), "expected a number from 0 to 600"),
        (raw(config=[{"type": "open", "parameters": {"path": "a", "x": 1}}]), "it is told 'x', which is none of path"),
        (
            raw(config=[{"type": "launch", "parameters": {"command": []}}]),
            "command: expected a text or a list of texts",
        ),
        (raw(config=[{"type": "launch", "parameters": {"command": ["a", 1]}}]), "command: expected a text, got 1"),
        (
            raw(config=[{"type": "launch", "parameters": {"command": "a", "shell": "y"}}]),
            "shell: expected true or false",
        ),
        (
            raw(config=[{"type": "execute", "parameters": {"command": "a", "stdout": "../../a"}}]),
            "stdout: expected the name of a file, without a folder, got '../../a'",
        ),
        (
            raw(config=[{"type": "execute", "parameters": {"command": "a", "until": {"code": 0}}}]),
            "until: it is told 'code', which is none of returncode, stdout, stderr",
        ),
        (raw(config=[{"type": "download", "parameters": {"files": [{"url": "u"}]}}]), "files: path is missing"),
        (raw(evaluator="evaluation_dir"), "evaluator: expected an object with func, result and expected, got 'eval"),
        (judged(func=""), "expected func to name a metric, got ''"),
        (judged(func=None), "expected func to name a metric, got nothing"),
        (judged(func=[]), "expected func to name from 1 to 50 metrics, got 0"),
        (judged(result=None), "result is missing, and 'exact_match' has nothing to look at"),
        (judged(result=[RESULT]), "expected result to be an object, got a list"),
        (judged(func=["a", "b"]), "expected result to be a list of 2, one for each metric, got an object"),
        (judged(func=["a", "b"], result=[RESULT]), "a list of 2, one for each metric, got a list of 1"),
        (judged(func=["a"], result=["b"], expected=None), "expected result to be an object, got 'b'"),
        (judged(result={"path": "a"}), "expected result to have a type that names a getter, got nothing"),
        (judged(options=3), "expected options to be an object, got 3"),
        (judged(conj="xor"), "expected conj to be 'and' or 'or', got 'xor'"),
        (judged(postconfig=[{"type": "sleep"}]), "evaluator: postconfig, step 1: (sleep) seconds is missing"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(content: Any, said: str) -> None:
    assert said in refused(content)


def test_metrics_and_getters_that_there_are_not() -> None:
    known: dict[str, Any] = {"metrics": {"exact_match"}, "getters": {"vm_file", "rule"}}
    assert read(judged(), **known).evaluator.checks[0].metric == "exact_match"
    assert "Task os/t-1: evaluator: there is no metric 'guess'." in refused(judged(func="guess"), **known)
    assert "there is no getter 'oracle'" in refused(judged(expected={"type": "oracle"}), **known)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "it is not JSON"),
        (b"\xff\xfe", "it is not JSON"),
        (b'{"id": "\\ud800"}', "it is not JSON"),
        (b'{"id": NaN}', "it is not JSON (NaN is no number)"),
        (b"[" * 100_000, "it is not JSON"),
        (b'{"id": ' + b"9" * 5_000 + b"}", "it is not JSON"),
        (b" " * (LARGEST_FILE + 1), "expected a file of at most 1 MB"),
        (json.dumps(raw(id="another")).encode(), "its id is 'another', and its file is called 'a.json'"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    assert said in refused(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "cannot be read (No such file or directory)" in refused(tmp_path / "a.json")


def test_a_task_knows_the_folder_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "t-1.json"
    path.write_text(json.dumps(raw()))
    assert read_task(path, domain="os").beside == tmp_path


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
WORDS = st.sampled_from(["files", "path", "url", "command", "type", "func", "result", "expected", "parameters", *STEPS])
ANY_JSON = st.recursive(
    SCALARS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
STEP = st.fixed_dictionaries(
    {"type": st.sampled_from(list(STEPS)) | ANY_JSON},
    optional={"parameters": st.dictionaries(st.sampled_from(sorted({n for s in STEPS.values() for n in s})), ANY_JSON)},
)
EVALUATOR = st.fixed_dictionaries(
    {"func": ANY_JSON, "result": ANY_JSON},
    optional={"expected": ANY_JSON, "options": ANY_JSON, "conj": ANY_JSON, "postconfig": st.lists(STEP, max_size=2)},
)
ALMOST = st.fixed_dictionaries(
    {"id": st.just("a") | ANY_JSON, "instruction": st.just("b") | ANY_JSON},
    optional={"config": st.lists(STEP, max_size=3) | ANY_JSON, "evaluator": EVALUATOR, "related_apps": ANY_JSON},
)


@given(ANY_JSON | ALMOST)
def test_any_json_is_read_or_refused(content: Any) -> None:
    try:
        task = read_task(content, domain="os")
    except TaskFileError:
        return
    leaves_home(task)
    requirements(task)


@given(st.binary(max_size=300) | ALMOST.map(lambda content: json.dumps(content).encode()))
def test_any_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("tasks") / "a.json"
    path.write_bytes(content)
    try:
        assert read_task(path, domain="os").id == "os/a"
    except TaskFileError as error:
        assert str(error).startswith("Task os/")  # noqa: PT017


# Where paths lead


def writing(path: str) -> DesktopTask:
    return read(raw(config=[{"type": "download", "parameters": {"files": [{"url": "https://a", "path": path}]}}]))


@pytest.mark.parametrize(
    "path",
    [
        "/home/user/Desktop/a.xlsx",
        "~/a",
        "$HOME/a",
        "${HOME}/.config/a",
        "setup.sh",
        "Downloads/a b.pptx",
        "/home/user/x/../a",
        "~",
        "a~b",
    ],
)
def test_paths_in_the_home_directory(path: str) -> None:
    assert leaves_home(writing(path)) is None


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/home/user/../other/a",
        "../a",
        "~/../../etc/passwd",
        "~root/a",
        "$HOMEX/a",
        "a/$X",
        "/home/username/a",
        "//etc/passwd",
        "C:\\Users\\user\\a.xlsx",
        "\\\\server\\a",
        "a\0b",
    ],
)
def test_paths_that_leave_it_are_named(path: str) -> None:
    assert leaves_home(writing(path)) == path


def test_files_that_are_judged_are_looked_at_too() -> None:
    several = {"type": "vm_file", "path": ["/home/user/a", "/etc/shadow"], "multi": True}
    assert leaves_home(read(judged(expected=several))) == "/etc/shadow"
    assert leaves_home(read(judged(result={"type": "cloud_file", "path": "https://a/../b"}))) is None


@given(st.text(alphabet="ab./~$ ", max_size=20))
def test_a_path_that_stays_is_one_below_the_home_directory(path: str) -> None:
    home = PurePosixPath("/home/user")
    if path and leaves_home(writing(path)) is None:
        place = on_machine(path, home)
        assert place.is_relative_to(home)
        assert ".." not in place.parts


# The benchmark's own files


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> list[DesktopTask]:
    folder = tmp_path_factory.mktemp("official")
    with tarfile.open(official_archive()) as archive:
        archive.extractall(folder, filter="data")
    listed = json.loads((folder / "test_all.json").read_text())
    return [
        read_task(folder / "examples" / domain / f"{key}.json", domain=domain)
        for domain, keys in listed.items()
        for key in keys
    ]


def test_every_task_of_the_benchmark_is_read(official: list[DesktopTask]) -> None:
    assert len(official) == 369
    assert sum(task.evaluator.is_infeasible for task in official) == 30
    metrics = Counter(check.metric for task in official for check in task.evaluator.checks)
    assert metrics.most_common(3) == [("compare_table", 62), ("compare_pptx_files", 38), ("infeasible", 30)]
    getters = Counter(check.result["type"] for task in official for check in task.evaluator.checks if check.result)
    assert getters.most_common(2) == [("vm_file", 231), ("vm_command_line", 36)]
    assert sum(not task.evaluator.all_of_them for task in official) == 3


def test_no_task_of_the_benchmark_leaves_the_home_directory(official: list[DesktopTask]) -> None:
    assert sum(1 for task in official for _ in paths_of(task)) > 700
    assert [task.id for task in official if leaves_home(task)] == []
