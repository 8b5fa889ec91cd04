"""From the benchmark's files to an environment that plays them, by the command."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import gymnasium as gym
import pytest
from typer.testing import CliRunner

import eapo_gym  # noqa: F401 (registers the ids)
from eapo_gym.cli.app import app
from eapo_gym.envs.webshop.building import BusyFolder, build_official, claimed
from eapo_gym.envs.webshop.needs import needs
from eapo_gym.envs.webshop.opening import open_shop
from eapo_gym.envs.webshop.products import BUILD_COMMAND
from eapo_gym.envs.webshop.search.index import SearchIndexError
from eapo_gym.envs.webshop.store import open_store
from tests.envs.webshop.small_catalogue import entries, write_files

ROOT = Path(__file__).parents[3]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    monkeypatch.setenv("WEBSHOP_DATA", str(folder))
    return folder


def official() -> bool:
    return next(need.ok for need in needs() if need.name == "official catalogue")


def test_the_command_builds_what_the_official_source_opens(tmp_path: Path, data: Path) -> None:
    assert not official()
    write_files(tmp_path)
    result = CliRunner().invoke(app, ["data", "webshop", "--from", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "60 products" in result.output
    assert "left out, as in the benchmark: 3 (1 were there already)" in result.output
    assert official()
    env = gym.make("eapo/WebShop-v0", source="official", schema="native")
    _, info = env.reset(seed=0)
    assert info["source"] == "official"
    assert info["catalogue"].startswith("official, items_shuffle_small.json")
    found, _, _, _, info = env.step("search[lamp]")
    assert "Page 1" in found["state"]
    assert not info["invalid_action"]


def test_a_folder_without_the_files_is_one_sentence(tmp_path: Path, data: Path) -> None:
    result = CliRunner().invoke(app, ["data", "webshop", "--from", str(tmp_path)])
    assert result.exit_code != 0
    assert "name the folder that has the benchmark's files" in " ".join(result.output.split())


def test_what_was_built_already_is_not_built_again(tmp_path: Path, data: Path) -> None:
    files = write_files(tmp_path)
    assert build_official(files)[1]
    before = (data / "store" / "note.json").read_bytes()
    again, built = build_official(files)
    assert (built, len(again)) == (False, 60)
    assert (data / "store" / "note.json").read_bytes() == before
    for changed in ({"seed": 1}, {"most": 10}):
        assert build_official(files, **changed)[1]
        assert not build_official(files, **changed)[1]
    assert len(open_store(data / "store")) == 8
    write_files(tmp_path, entries(count=12))
    catalogue, built = build_official(files)
    assert (built, len(catalogue)) == (True, 12)
    shutil.rmtree(data / "index")
    assert build_official(files)[1], "what is not whole is built again"


def test_the_next_environment_of_a_process_opens_what_was_built_anew(tmp_path: Path, data: Path) -> None:
    build_official(write_files(tmp_path))
    first = open_shop("official")
    assert open_shop("official") is first
    build_official(write_files(tmp_path, entries(count=12)))
    assert (len(first.shop), len(open_shop("official").shop)) == (60, 12)


def test_the_index_of_another_catalogue_is_refused_with_the_command(tmp_path: Path, data: Path) -> None:
    files = write_files(tmp_path)
    build_official(files)
    build_official(write_files(tmp_path, entries(count=12)), tmp_path / "other")
    shutil.rmtree(data / "index")
    shutil.copytree(tmp_path / "other" / "index", data / "index")
    with pytest.raises(SearchIndexError, match=f"belongs to another catalogue .* run '{BUILD_COMMAND}'"):
        gym.make("eapo/WebShop-v0", source="official")


def test_a_folder_that_another_process_fills_is_left_to_it(tmp_path: Path, data: Path) -> None:
    files = write_files(tmp_path)
    with claimed(data):
        (data / "store" / "draft-0123").mkdir(parents=True)
        (data / ".index.0123").mkdir()
        with pytest.raises(BusyFolder, match=f"Another process is at work in {data}: wait for it to end"):
            build_official(files)
        assert (data / "store" / "draft-0123").exists()
        assert (data / ".index.0123").exists()
    build_official(files)
    assert sorted(path.name for path in data.iterdir()) == [".lock", "index", "store"]
    assert sorted(path.name for path in (data / "store").iterdir()) == [
        open_store(data / "store").note["files"],
        "note.json",
    ]


BUILDER = """
import os, sys, time
from pathlib import Path
from eapo_gym.envs.webshop.building import build_official
from eapo_gym.envs.webshop.catalogue import CatalogueFiles
def progress(what, done):
    if what == sys.argv[2]:
        print("here", flush=True)
        time.sleep(60)
build_official(CatalogueFiles.in_folder(Path(sys.argv[1])), progress=progress)
"""


@pytest.mark.parametrize("stage", ["products", "search index"])
def test_of_two_builders_one_builds_and_what_a_killed_one_leaves_is_cleared_away(
    tmp_path: Path, data: Path, stage: str
) -> None:
    files = write_files(tmp_path)
    builder = subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(tmp_path), stage], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert builder.stdout is not None
    assert builder.stdout.readline() == "here\n"
    result = CliRunner().invoke(app, ["data", "webshop", "--from", str(tmp_path)])
    assert result.exit_code == 2
    assert "Another process is at work in" in " ".join(result.output.split())
    assert builder.poll() is None, "the one that builds is not disturbed"
    builder.send_signal(signal.SIGKILL)
    builder.wait()
    builder.stdout.close()
    assert [*(data / "store").glob("draft-*"), *data.glob(".index.*")], "it has left something"
    assert not official() or stage == "search index"
    build_official(files)
    assert not [*(data / "store").glob("draft-*"), *data.glob(".index.*")]
    assert len(open_shop("official").shop) == 60


def test_builders_at_once_leave_one_whole_catalogue(tmp_path: Path, data: Path) -> None:
    files = write_files(tmp_path)
    outcomes: list[object] = []

    def build() -> None:
        try:
            outcomes.append(build_official(files)[1])
        except BusyFolder as busy:
            outcomes.append(busy)

    builders = [threading.Thread(target=build) for _ in range(4)]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join()
    assert outcomes.count(True) == 1
    assert len(open_shop("official").shop) == 60


NAMES = [
    "ligne\u2028séparée\u2029 💡 Ωμέγα \u0000 \uffff e\u0301 \ufeff",
    "half \ud83d and the other half \ude00",
    "עברית \u202eמשמאל\u202c العربية \u200f\u200b\u00ad",
    "👩‍👩‍👧‍👦 🏳️‍🌈 日本語の電気スタンド ﷽ ẞß İı",
    "\x1b[31mred\x1b[0m\r\b <b>&amp;</b> [SEP] ] [",
    " \t\n ",
    "",
    "𝔩𝔞𝔪𝔭 " * 500,
]


def test_names_of_every_kind_are_built_found_and_shown(tmp_path: Path, data: Path) -> None:
    (entry, *_), _, _ = entries()
    products, found = [], {}
    for number, name in enumerate(NAMES):
        asin = f"B{number:09d}"
        changes = {
            "asin": asin,
            "name": name,
            "full_description": f"lampshade {name}",
            "small_description": [name],
            "query": name,
            "product_category": name,
            "customization_options": {f"kind {name}": [{"value": name}]},
            "pricing": "",
        }
        products.append(entry | changes)
        found[asin] = {
            "attributes": ["bright", name],
            "instruction": f"Find me {name}",
            "instruction_attributes": ["bright"],
        }
    files = write_files(tmp_path, ([], {}, {}))
    for path, content in ((files.products, products), (files.attributes, found)):
        path.write_text(json.dumps(content), encoding="utf-8")  # escaped, as halves of characters cannot be otherwise
    build_official(files)
    assert [open_shop("official").shop.product(number).name for number in range(len(NAMES))] == NAMES
    env = gym.make("eapo/WebShop-v0", source="official", split="train", schema="native")
    for task in env.get_wrapper_attr("tasks")():
        env.reset(options={"task": task})
        _, _, _, _, info = env.step("search[lampshade]")
        shown = [name for name in info["clickables"] if name.startswith("b0")]
        assert len(shown) == len(NAMES)
        for asin in shown:
            env.step("search[lampshade]")
            env.step(f"click[{asin}]")
            _, _, _, _, info = env.step("click[description]")
            assert not info["invalid_action"]
        env.step("click[< prev]")
        _, reward, terminated, _, _ = env.step("click[buy now]")
        assert terminated
        assert 0 <= reward <= 1


@pytest.mark.parametrize(
    ("action", "understood"),
    [
        ("search[" + "lamp " * 200_000 + "]", True),
        ("search[" + "x" * 2**20 + "]", True),
        ("search[" + "\ud800💡" * 500_000 + "]", True),
        ("search[ ]", True),
        ("search[]", False),
        ("search[", False),
        ("click[", False),
        ("click[]", False),
        ("click[" * 200_000, False),
        ("click[" + "b" * 2**20 + "]", False),
    ],
    ids=lambda value: f"{value[:12]}…{len(value)}" if isinstance(value, str) else "",
)
def test_commands_without_end_and_searches_for_a_megabyte(
    tmp_path: Path, data: Path, action: str, understood: bool
) -> None:
    build_official(write_files(tmp_path))
    env = gym.make("eapo/WebShop-v0", source="official", split="train", schema="native")
    before, _ = env.reset(seed=0)
    after, reward, terminated, _, info = env.step(action)
    assert (reward, terminated, info["invalid_action"]) == (0.0, False, not understood)
    assert "Page 1" in after["state"] if understood else after == before
    assert len(after["state"]) < 10_000
    found, _, _, _, info = env.step("search[lamp]")
    assert "Page 1" in found["state"]
    assert not info["invalid_action"]


def test_the_files_of_one_of_two_catalogues_in_a_folder(tmp_path: Path, data: Path) -> None:
    files = write_files(tmp_path)
    for end in ("", "_1000"):
        for path in (files.products, files.attributes):
            shutil.copy(path, path.with_name(path.name.replace("_small", end)))
    result = CliRunner().invoke(app, ["data", "webshop", "--from", str(tmp_path)])
    assert result.exit_code == 2
    assert "say which one is meant with --small or --full" in " ".join(result.output.split())
    for size, name in (("--small", "items_shuffle_1000.json"), ("--full", "items_shuffle.json")):
        result = CliRunner().invoke(app, ["data", "webshop", "--from", str(tmp_path), size])
        assert f"official, {name}: 60 products" in result.output
    (tmp_path / "items_ins_v2.json").unlink()
    result = CliRunner().invoke(app, ["data", "webshop", "--from", str(tmp_path), "--full"])
    assert "Expected items_shuffle.json and items_ins_v2.json" in " ".join(result.output.split())
    assert "found only one of them" in " ".join(result.output.split())


MEASURE = """
import resource, sys
from pathlib import Path
from eapo_gym.envs.webshop.catalogue import CatalogueFiles, read_products
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
count = sum(1 for _ in read_products(CatalogueFiles.in_folder(Path(sys.argv[1]))))
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_reading_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    (entry, *_), _, _ = entries()
    long = json.dumps(entry | {"full_description": "A lamp. " * 5_000})
    with (tmp_path / "items_shuffle.json").open("w") as file:
        file.write("[" + long)
        for number in range(1, 2_000):
            file.write("," + long.replace(entry["asin"], f"C{number:09d}"))
        file.write("]")
    (tmp_path / "items_ins_v2.json").write_text("{}")
    megabytes = (tmp_path / "items_shuffle.json").stat().st_size / 1e6
    said = subprocess.check_output([sys.executable, "-c", MEASURE, str(tmp_path)], cwd=ROOT, text=True)
    count, kilobytes = map(int, said.split())
    assert count == 2_000
    assert megabytes > 75
    assert kilobytes < 25_000
