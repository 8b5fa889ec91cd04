"""The words of a text as Lucene's analyser for English has them.

It cuts the text into words by Unicode's rules (Annex 29, and emoji as a whole), takes off "'s", makes letters small,
drops 33 stop words, and stems what is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

from eapo_gym.envs.webshop.search.porter import stem
from eapo_gym.envs.webshop.search.word_classes import word_classes

STOP_WORDS = frozenset(
    {
        *("a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not"),
        *("of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was"),
        *("will", "with"),
    }
)

LONGEST_WORD = 255
"""In units of UTF-16: what is longer is cut."""

_ASCII_WORD = re.compile(
    r"""
    (?<! _ ) _* [A-Za-z0-9]
    (?: [A-Za-z0-9_]
      | (?<= [A-Za-z] ) [.':]  (?= [A-Za-z] )
      | (?<= [0-9] )    [.,;'] (?= [0-9] )
    )*
    """,
    re.VERBOSE,
)
"""What the rules come to where all is ASCII."""

# From here on, texts are written in the letters of `word_classes`, so one letter of a rule stands for one character.
# Python takes the first alternative that fits, where the longest one is wanted: their order matters.

_EXTEND = "[xSzkmgGtf]*"
_EXTEND_EMOJI = "[xSzkmgG]*"  # a variation selector after an emoji has a rule of its own


def _rule(text: str) -> re.Pattern[str]:
    return re.compile(text.replace("~~", _EXTEND_EMOJI).replace("~", _EXTEND), re.VERBOSE)


_RUN = """
    (?: K ~ (?: (?: _ ~ )* K ~ )*                                  # Katakana
      | (?: h ~ (?: " ~ h ~ | ' ~ )                                # Hebrew has quotes within words, and behind them
          | [1n] ~ (?: (?: (?: _ ~ )* | [,.'] ~ ) [1n] ~ )*
          | [aeh] ~ (?: (?: _ ~ )* (?! h ~ (?: ' | " ~ h ) ) [aeh] ~ | [:.'] ~ [aeh] ~ )*
        )+
    )
"""
_WORD = _rule(f"(?: _ ~ )* {_RUN} (?: (?: _ ~ )+ {_RUN} )* (?: _ ~ )* | (?: [sS] ~ )+ | H ~")
_EMOJI = _rule(
    """
    z* [Ee] ~~ f g+ G                                              # with a tag, as the flag of Wales
  | (?: z* [Ee] | m ~~ z [Ee] )                                    # one, or several joined
    (?: ~~ z [Ee] | ~~ f z+ [Ee] | ~~ f z m ~~ z [Ee] )*
    (?: ~~ f z m ~~ | ~~ f? )
  | m ~~
  | [1#] ~~ f? k ~~                                                # on a key
  | F ~ F ~                                                        # the flag of a country
    """
)
_START = re.compile(r"[a1hnKHsSeEFm#] | _ (?= [_xSzkmgGtf]{0,254} [Kaeh1n] ) | z (?= z{0,254} [Ee] )", re.VERBOSE)
"""Where a word may start; what only joins is looked at once, so that a text of nothing else takes no time."""


def words(text: str) -> list[str]:
    """The words of a text as they stand there."""
    if text.isascii():
        return _ascii_words(text)
    found: list[str] = []
    for is_ascii, pieces in groupby(text.split(" "), str.isascii):
        if is_ascii:
            found += _ascii_words(" ".join(pieces))
        else:
            for piece in pieces:
                found += _any_words(piece)
    return found


def terms(text: str) -> list[str]:
    """What of a text is searched for, and found."""
    return [found for found in map(term, words(text)) if found]


@lru_cache(maxsize=1 << 15)
def term(word: str) -> str:
    """What is searched for a word; nothing for a stop word."""
    if word[-2:-1] in ("'", "’", "＇") and word[-1] in "sS":
        word = word[:-2]
    word = word.lower() if word.isascii() else _small(word)
    return "" if word in STOP_WORDS else stem(word)


def _small(word: str) -> str:
    """In small letters, one by one as Java has them: no letter becomes two, and sigma has one form."""
    return "".join(letter.lower()[0] for letter in word)


def _ascii_words(text: str) -> list[str]:
    found: list[str] = _ASCII_WORD.findall(text)
    if len(text) <= LONGEST_WORD or max(map(len, found), default=0) <= LONGEST_WORD:
        return found
    return [part for word in found for part in ([word] if len(word) <= LONGEST_WORD else _any_words(word))]


def _any_words(text: str) -> Iterator[str]:
    classes = text.translate(word_classes())
    start = 0
    while found := _START.search(classes, start):
        start = found.start()
        end = _end(classes, start, start + LONGEST_WORD)
        if _length(text[start:end]) > LONGEST_WORD:
            end = _end(classes, start, _window(text, start))
        if end > start:
            yield text[start:end]
        start = max(end, start + 1)


def _end(classes: str, start: int, until: int) -> int:
    """Where the longest word ends that starts here, which is where it starts if there is none."""
    word, emoji = _WORD.match(classes, start, until), _EMOJI.match(classes, start, until)
    return max(word.end() if word else start, emoji.end() if emoji else start)


def _length(text: str) -> int:
    """In units of UTF-16."""
    return len(text) + sum(character > "\uffff" for character in text)


def _window(text: str, start: int) -> int:
    """Up to where `LONGEST_WORD` units of UTF-16 go."""
    room = LONGEST_WORD
    for end in range(start, len(text)):
        room -= 1 + (text[end] > "\uffff")
        if room < 0:
            return end
    return len(text)
