"""The shop beside the original's own engine: pages, available actions, addresses, goals and rewards."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from tests.envs.webshop.original_sessions import ORIGINAL, ask_original, differences, random_products
from tests.envs.webshop.record_sessions import RECORDED

needs_original = pytest.mark.skipif(
    not ORIGINAL, reason="no original is here: set EAPO_WEBSHOP_ORIGINAL to a checkout of it (see play_originally.py)"
)


@pytest.fixture(scope="module")
def recorded():
    return json.loads(gzip.decompress(RECORDED.read_bytes()))


@pytest.mark.parametrize("which", [0, 1], ids=["odd texts", "generated"])
def test_recorded_sessions_go_as_they_went_there(recorded, which):
    request, answer = recorded[which]
    assert list(differences(request, answer)) == []


def test_the_recording_has_seen_everything(recorded):
    moments = [moment for _, answer in recorded for session in answer["sessions"] for moment in session["moments"]]
    rewards = {moment["reward"] for moment in moments if moment.get("done")}
    assert len(rewards) > 5
    assert {0.0} < rewards
    for page in ("search_results", "item_page", "item_sub_page", "/done/", "/Attributes/", '/{"'):
        assert any(page in moment["url"] for moment in moments), page
    assert any("[clicked button]" in moment["text_rich"] for moment in moments)
    assert any("Page 3" in moment["text"] for moment in moments)


def test_a_difference_would_be_found(recorded):
    request, answer = json.loads(json.dumps(recorded[1]))
    session = answer["sessions"][0]
    for name, wrong in (("text", "another page"), ("clickables", []), ("url", "http://"), ("reward", 0.9)):
        moment = session["moments"][-1]
        changed = answer | {"sessions": [{**session, "moments": [*session["moments"][:-1], moment | {name: wrong}]}]}
        (found,) = differences(request, changed)
        assert name in found


@needs_original
@pytest.mark.parametrize("seed", [101, 102])
def test_on_odd_catalogues(seed):
    request = random_products(seed, 60) | {"show_attrs": bool(seed % 2), "first": seed, "sessions": 25, "steps": 15}
    assert list(differences(request, ask_original(request))) == []


@needs_original
def test_on_the_benchmarks_products():
    shared = Path(os.environ.get("EAPO_SHARED") or Path(__file__).parents[4] / "shared") / "data/webshop"
    names = {"products": "items_shuffle*.json", "attributes": "items_ins_v2*.json", "human": "items_human_ins*.json"}
    files = {part: next(shared.glob(name), None) for part, name in names.items()}
    if None in files.values():
        pytest.skip("the benchmark's 1,000 products are not here: set EAPO_SHARED")
    request = {part: json.loads(file.read_text(encoding="utf-8")) for part, file in files.items() if file}
    for kind in (False, True):
        request |= {"human_goals": kind, "show_attrs": False, "seed": 3, "first": 0, "sessions": 25, "steps": 12}
        assert list(differences(request, ask_original(request))) == []
