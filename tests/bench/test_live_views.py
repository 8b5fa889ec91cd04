"""What an environment's own page may be made of, and what becomes of one that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eapo_gym.bench.live.views import checked_page
from eapo_gym.bench.store import load_run
from eapo_gym.errors import ContractError
from tests.bench.test_live import playing
from tests.toys import Corridor


class Drawn(Corridor):
    """Has a page of its own, which is broken in the second room."""

    def live_page(self) -> dict[str, Any]:
        if "room 1" in self.describe():
            raise ZeroDivisionError("no such luck")
        return {"parts": [{"tag": "button", "do": "right", "parts": ["To the right"]}]}


def nested(depth: int) -> Any:
    part: Any = "the end"
    for _ in range(depth):
        part = {"tag": "div", "parts": [part]}
    return part


def test_a_page_comes_back_with_what_may_be_left_out() -> None:
    part = {"tag": "p", "class": "x", "parts": ("a", {"tag": "progress", "value": 0.5})}
    assert checked_page({"parts": [part]}) == {
        "key": "",
        "style": "",
        "parts": [{"tag": "p", "class": "x", "parts": ["a", {"tag": "progress", "value": 0.5, "parts": []}]}],
    }


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([{"tag": "script", "parts": ["alert(1)"]}], "got 'script'"),
        ([{"tag": "iframe"}], "got 'iframe'"),
        ([{"tag": ["div"]}], "got \\['div'\\]"),
        ([{"parts": []}], "got None"),
        ([{"tag": "div", "onclick": "alert(1)"}], "'onclick'\\] is nothing that a div can have"),
        ([{"tag": "img", "src": "https://example.com/x.png"}], "'src'\\]"),
        ([{"tag": "div", "style": "color: red"}], "'style'\\]"),
        ([{"tag": "button", "do": 3}], "do: expected a text, got 3"),
        ([{"tag": "button", "do": None}], "do: expected a text, got None"),
        ([{"tag": "button", "pressed": 1}], "pressed: expected True or False, got 1"),
        ([{"tag": "progress", "value": float("nan")}], "value: expected a number from 0 to 1, got nan"),
        ([{"tag": "div", "parts": "text"}], "expected a list of parts, got 'text'"),
        ([3], "expected a text or an element, got 3"),
        ([nested(41)], "at most 40 parts within each other"),
        ("text", "expected a list of parts"),
    ],
)
def test_what_no_page_may_have_is_refused(parts: Any, said: str) -> None:
    with pytest.raises(ContractError, match=said):
        checked_page({"parts": parts})


@pytest.mark.parametrize("page", [None, "text", [], {}, {"parts": [], "script": ""}, {"parts": [], "style": 3}])
def test_what_is_no_page_is_refused(page: Any) -> None:
    with pytest.raises(ContractError, match="live_page: expected"):
        checked_page(page)


def test_a_page_that_fails_costs_nobody_the_episode(tmp_path: Path) -> None:
    target = f"{Path(__file__)}:Drawn"
    with playing(tmp_path / "run", target, task="train/key-in-1") as played:
        state = played.state()
        assert state["page"]["parts"][0]["do"] == "right"
        assert played.act("right")[0] == 200
        state = played.state()
        assert (state["status"], state["page"]) == ("yours", None)
        assert state["notice"] == "The environment's page cannot be shown: ZeroDivisionError: no such luck"
        assert played.act("left")[0] == 200
        state = played.state()
        assert (state["page"]["parts"][0]["do"], state["notice"]) == ("right", "")


def test_what_is_bought_in_the_shop_is_kept_with_the_catalogue_that_it_came_from(tmp_path: Path) -> None:
    with playing(tmp_path / "run", "eapo/WebShop-v0", task="test/0", kwargs={"split": "test"}) as played:
        for command in ("search[sneakers ethylene vinyl midsole]", "click[b0nbqrv591]", "click[heather]", "click[7]"):
            assert played.act(command)[0] == 200
        assert played.state()["page"]["key"].startswith("item")
        assert played.act("click[buy now]")[0] == 200
        state = played.state()
        assert (state["status"], state["view"]["outcome"]) == ("over", "solved")
        assert state["page"]["key"].startswith("done"), "the end has a page too"
        assert set(state["splits"]) == {"test", "eval", "train"}
        assert played.post("/api/begin", split="eval")[0] == 200
        assert played.state()["view"]["task"].startswith("eval/")
        played.stop()
    run = load_run(tmp_path / "run")
    [episode] = run.episodes
    assert episode.trajectory.transitions[-1].reward == 1.0
    assert run.stamp["environment"]["catalogue"].startswith("embedded v1, 1,000 products, ")
