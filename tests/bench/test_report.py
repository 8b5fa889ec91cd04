import base64
import io
import json
import re
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.bench.metrics import metrics_of
from eapo_gym.bench.pictures import Pictures
from eapo_gym.bench.records import Episode, StepNote
from eapo_gym.bench.report import episode_page, report_page, view_of, write_report
from eapo_gym.bench.report.album import make_album
from eapo_gym.bench.report.pack import pack, pack_in_blocks, unpack
from eapo_gym.bench.report.view import pictures_of
from eapo_gym.bench.store import IMAGES_FOLDER
from eapo_gym.schema import Observation, Trajectory
from tests.bench.reports import SOLVES, TASK, corridor, gui, noise, one_step, run_of, says

HOSTILE = (
    '</p></script><script>alert("x")</script><img src=x onerror=alert(1)>{{title}} & \' " \x00\x1b[31m\ud800 \u2028'
)
VOID = {"meta", "br", "img", "hr", "link"}
ANY_TEXT = st.text(alphabet=st.characters(), max_size=80)


class Outline(HTMLParser):
    """What a browser would make of a page: its elements, their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.texts: dict[str, str] = {}
        self.feed(page)
        self.close()
        assert not self.inside

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.inside.pop() == tag, "elements close in another order than they were opened"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts[self.inside[-1]] = self.texts.get(self.inside[-1], "") + data

    @property
    def policy(self) -> str:
        return next(str(a["content"]) for _, a in self.elements if a.get("http-equiv") == "Content-Security-Policy")


def data_of(page: str) -> dict[str, str]:
    """The data elements of a page, by id."""
    return dict(re.findall(r'<script type="text/plain" id="([\w-]+)">([\w+/=]*)</script>', page))


def index_of(page: str) -> dict[str, Any]:
    index: dict[str, Any] = unpack(data_of(page)["index"])
    return index


@pytest.fixture(scope="module")
def solved() -> Episode:
    return corridor(*SOLVES)


class TestView:
    def test_a_moment_for_each_state_that_was_seen(self, solved: Episode) -> None:
        view = view_of(solved)
        assert view["outcome"] == "solved"
        assert [moment["print"] for moment in view["moments"]] == solved.fingerprints()
        assert [moment["did"] is None for moment in view["moments"]] == [False] * len(solved) + [True]
        # Stays, goes, comes back by rollback, takes the key, does nothing, goes.
        assert [moment["depth"] for moment in view["moments"]] == [0, 1, 0, 2, 0, 1, 0, 0, 0, 0]

    def test_what_was_said_and_done(self, solved: Episode) -> None:
        moments = view_of(solved)["moments"]
        assert moments[0]["did"]["think"] == "Where am I?"
        assert "<memory> Key in room 0. Lamp off. </memory>" in moments[0]["did"]["response"]
        assert moments[1]["memory"] == moments[0]["did"]["memory"] == "Key in room 0. Lamp off."
        assert moments[2]["did"]["rollback"] == {"held": True, "action": "left", "reason": None}
        assert "take key" in moments[0]["offered"]
        assert moments[-2]["did"]["reward"] > 0
        assert moments[-2]["did"]["terminated"]

    def test_degrees_are_those_of_the_trajectory(self, solved: Episode) -> None:
        view = view_of(solved)
        assert view["degree"] == solved.trajectory.exploration_degree()
        assert view["degree_no_loops"] == solved.trajectory.exploration_degree(self_loops=False)

    def test_is_json_even_where_numbers_are_not_finite(self) -> None:
        episode = one_step("x")
        episode.trajectory.transitions[0].reward = float("nan")
        episode.notes[0] = replace(episode.notes[0], reward_parts={"task": float("inf")})
        view = view_of(episode)
        json.dumps(view, allow_nan=False)
        assert view["moments"][0]["did"]["reward"] is None

    @pytest.mark.parametrize(
        "wrong", [7, float("nan"), float("-inf"), 10**400, ["x"]], ids=["number", "nan", "infinity", "long", "list"]
    )
    def test_what_is_damaged_is_shown_as_it_is_written(self, wrong: Any, tmp_path: Path) -> None:
        pytest.importorskip("PIL.Image")
        episode = one_step("x")
        texts = dict.fromkeys(("response", "think", "notice", "elements", "screenshot", "finish"), wrong)
        numbers = dict.fromkeys(("agent_seconds", "env_seconds"), float("nan"))
        episode.notes[0] = replace(episode.notes[0], **texts, **numbers)
        episode = replace(episode, last_marked=wrong, error=wrong, seconds=float("nan"))
        moment = view_of(episode)["moments"][0]
        assert (moment["screenshot"], moment["did"]["finish"], moment["did"]["agent_seconds"]) == (str(wrong),) * 2 + (
            None,
        )
        index = index_of(report_page(run_of(episode, folder=tmp_path)))
        assert (index["rows"][0]["seconds"], index["picture_notice"][:19]) == (None, "1 picture not found")

    def test_steps_without_notes_are_shown_too(self, solved: Episode) -> None:
        assert len(view_of(replace(solved, notes=[]))["moments"]) == len(solved) + 1

    def test_while_it_is_played_the_last_moment_is_the_present(self, solved: Episode) -> None:
        now = Observation("Unlock the door.", "You are in room 2.", memory="mine", valid_actions=("look", "left"))
        before = view_of(Episode("human", Trajectory(TASK, "embedded")), now, "f0")
        assert [moment["print"] for moment in before["moments"]] == ["f0"]
        assert (before["outcome"], before["goal"]) == ("playing", "Unlock the door.")
        later = view_of(solved, now, solved.fingerprints()[-1])
        assert len(later["moments"]) == len(solved) + 1
        assert later["moments"][-1]["offered"] == ["look", "left"]
        assert later["moments"][-1]["did"] is None


class TestPack:
    @given(st.recursive(ANY_TEXT | st.integers() | st.none(), lambda inner: st.lists(inner, max_size=4)))
    def test_round_trip(self, value: Any) -> None:
        assert unpack(pack(value)) == json.loads(json.dumps(value))

    def test_blocks_hold_everything_once_and_in_order(self) -> None:
        values = [{"text": f"{i} " * 40_000} for i in range(60)]
        blocks = list(pack_in_blocks(values))
        assert len(blocks) > 2
        assert [value for text, _ in blocks for value in unpack(text)] == values
        assert [len(unpack(text)) for text, _ in blocks] == [count for _, count in blocks]


class TestPage:
    def test_all_episodes_are_in_it(self, solved: Episode) -> None:
        failed = corridor(says("look"), repeat=1)
        page = report_page(run_of(solved, failed))
        data, index = data_of(page), index_of(page)
        views = [unpack(data[f"block-{row['block']}"])[row["at"]] for row in index["rows"]]
        assert views == [view_of(solved), view_of(failed)]
        assert [row["outcome"] for row in index["rows"]] == ["solved", "agent"]
        assert failed.error in index["rows"][1]["error"]

    def test_numbers_are_those_of_the_metrics_and_what_is_missing_counts(self, solved: Episode) -> None:
        run = run_of(solved, corridor(says("look"), repeat=1), planned=2)
        (shown,) = index_of(report_page(run))["runs"]
        assert shown["metrics"] == metrics_of(run).to_json()
        assert (shown["planned"], shown["played"]) == (4, 2)
        assert shown["metrics"]["success"]["rate"] == 0.25

    def test_it_stands_alone(self, solved: Episode) -> None:
        page = report_page(run_of(solved))
        outline = Outline(page)
        assert not any({"src", "href"} & attributes.keys() for _, attributes in outline.elements)
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page), "nothing is loaded from anywhere"

    def test_only_the_pages_own_script_may_run(self, solved: Episode) -> None:
        page = report_page(run_of(solved))
        outline = Outline(page)
        (run,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
        digest = base64.b64encode(sha256(run.encode()).digest()).decode()
        assert f"script-src 'sha256-{digest}'" in outline.policy
        assert "default-src 'none'" in outline.policy
        runnable = [a for tag, a in outline.elements if tag == "script" and a.get("type") != "text/plain"]
        assert len(runnable) == 1

    def test_hostile_text_stays_text(self) -> None:
        page = episode_page(one_step(HOSTILE, memory_in=HOSTILE[:40]))
        page.encode("utf-8")  # can be written to a file
        outline = Outline(page)
        assert "img" not in [tag for tag, _ in outline.elements]
        assert "{{title}}" in outline.texts["title"], "a text is not a place of the template"
        assert not {"\x00", "\x1b", "\ud800"} & set(page)
        assert index_of(page)["rows"][0]["goal"] == HOSTILE

    @settings(max_examples=40, deadline=None)
    @given(ANY_TEXT.filter(bool))
    def test_no_text_changes_the_structure(self, text: str) -> None:
        def elements(text: str) -> list[tuple[str, dict[str, str | None]]]:
            return Outline(episode_page(one_step(text))).elements

        assert elements(text) == elements("x")

    def test_an_episode_without_steps_is_listed_but_has_no_page_of_its_own(self) -> None:
        empty = Episode("", Trajectory("t", ""), outcome="timeout", error="The reset took too long.")
        (row,) = index_of(report_page(run_of(empty)))["rows"]
        assert (row["steps"], row["degree"], row["error"]) == (0, None, "The reset took too long.")
        with pytest.raises(ValueError, match="without a step"):
            episode_page(empty)

    def test_a_run_in_which_nothing_was_played(self) -> None:
        index = index_of(report_page(run_of(planned=3)))
        assert index["rows"] == []
        assert index["runs"][0]["metrics"]["outcomes"]["missing"] == 3

    def test_several_runs_have_names_that_tell_them_apart(self, solved: Episode, tmp_path: Path) -> None:
        runs = [run_of(solved, folder=tmp_path / name) for name in ("first", "second")]
        index = index_of(report_page(runs))
        assert [run["name"] for run in index["runs"]] == ["first", "second"]
        assert [row["run"] for row in index["rows"]] == [0, 1]
        with pytest.raises(ValueError, match="at least one run"):
            report_page([])

    def test_the_stamp_is_said_and_the_source_plainly(self, solved: Episode) -> None:
        run = run_of(solved)
        run.stamp = {
            "environment": {"id": "toy/Corridor", "source": "embedded", "step_limit": 30, "rollback_mode": "restore"},
            "agent": {"name": "mine", "privileged": True},
            "engine": {"kind": "transformers", "model": "some/model"},
            "versions": {"eapo_gym": "1.2.3"},
        }
        (shown,) = index_of(report_page(run))["runs"]
        facts = dict(shown["facts"])
        assert shown["sources"] == ["embedded"]
        assert (shown["agent"], shown["environment"], shown["privileged"]) == ("mine", "toy/Corridor", True)
        assert (facts["step limit"], facts["rollback"], facts["model"]) == ("30", "restore", "some/model")
        assert facts["versions"] == "eapo-gym 1.2.3"

    def test_is_written_whole(self, solved: Episode, tmp_path: Path) -> None:
        path = write_report(run_of(solved), tmp_path / "deep" / "report.html")
        assert path.read_text(encoding="utf-8") == report_page(run_of(solved))
        assert [file.name for file in path.parent.iterdir()] == ["report.html"]


class TestAlbum:
    def test_each_picture_once_and_small(self, tmp_path: Path) -> None:
        image = pytest.importorskip("PIL.Image")
        run = gui(tmp_path)
        page = report_page(run)
        names = {name for episode in run.episodes for name in pictures_of(episode)}
        data, index = data_of(page), index_of(page)
        assert set(index["pictures"]) == names
        assert len(names) < sum(len(pictures_of(episode)) for episode in run.episodes), "both saw the same pages"
        for at in index["pictures"].values():
            assert image.open(io.BytesIO(base64.b64decode(data[f"picture-{at}"]))).format == "WEBP"
        assert f"{len(names)} pictures" in index["picture_notice"]

    def test_what_has_no_room_is_left_out_and_said(self, tmp_path: Path) -> None:
        pytest.importorskip("PIL.Image")
        pictures = Pictures(tmp_path)
        names = [pictures.save(noise(i)) for i in range(40)]
        episodes = [replace(one_step("x"), notes=[StepNote(screenshot=name)]) for name in names]
        album = make_album([(tmp_path, episodes)], megabytes=0.1)
        assert 0 < sum(map(len, album.pictures.values())) <= 100_000
        assert len(album.pictures) + album.left_out == 40
        assert f"{album.left_out} pictures left out, since the limit is 0.1 MB" in album.notice()

    def test_no_budget_leaves_all_out(self, tmp_path: Path) -> None:
        pytest.importorskip("PIL.Image")
        index = index_of(report_page(gui(tmp_path), images_mb=0))
        assert index["pictures"] == {}
        assert "left out" in index["picture_notice"]

    def test_large_screens_are_scaled_down(self, tmp_path: Path) -> None:
        image = pytest.importorskip("PIL.Image")
        name = Pictures(tmp_path).save(noise(0, 2400, 1080))
        album = make_album([(tmp_path, [replace(one_step("x"), notes=[StepNote(marked=name)])])], megabytes=60)
        assert image.open(io.BytesIO(album.pictures[name])).size == (576, 1280)

    @pytest.mark.parametrize(
        "name", ["../secret.webp", "/etc/hostname", "..", "no-such.webp", "text.webp", "x" * 5000, "zero\0"]
    )
    def test_names_lead_nowhere_else_and_what_is_no_picture_is_counted(self, tmp_path: Path, name: str) -> None:
        pytest.importorskip("PIL.Image")
        folder = tmp_path / IMAGES_FOLDER
        Pictures(folder).save(noise(0))
        next(folder.iterdir()).rename(tmp_path / "secret.webp")
        (folder / "text.webp").write_text("not a picture")
        album = make_album([(folder, [replace(one_step("x"), notes=[StepNote(screenshot=name)])])], megabytes=60)
        assert (album.pictures, album.missing) == ({}, 1)
        assert "1 picture not found" in album.notice()
