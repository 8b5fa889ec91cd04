"""Porter's stemmer (1980) with the two changes its author made later, which is the variant that Lucene has.

The changes: "bli" becomes "ble" (not only "abli" "able"), and "logi" becomes "log". Words of one or two letters stay.
"""

from __future__ import annotations

from collections.abc import Sequence

_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a word in small letters; characters that are no English letters count as consonants."""
    if not word.isascii():
        return _decoded(_stem(_utf16(word)))
    return _stem(word)


def _utf16(word: str) -> str:
    """The word as Java has it, where some characters are two: it matters for how long a word is."""
    units = word.encode("utf-16-le", "surrogatepass")
    return "".join(chr(units[i] | units[i + 1] << 8) for i in range(0, len(units), 2))


def _decoded(units: str) -> str:
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _stem(word: str) -> str:
    if len(word) <= 2:
        return word
    word = _without_y(_without_past(_without_plural(word)))
    word = _replaced(_replaced(word, _STEP_2), _STEP_3)
    return _without_e(_without_suffix(word))


def _without_plural(word: str) -> str:
    """Step 1a."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _without_past(word: str) -> str:
    """Step 1b: "agreed", "plastered", "motoring"."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    ending = next((ending for ending in ("ed", "ing") if word.endswith(ending)), None)
    if ending is None:
        return word
    rest = word[: -len(ending)]
    if "v" not in _shape(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _ends_double(rest):
        return rest if rest[-1] in "lsz" else rest[:-1]
    if _measure(rest) == 1 and _ends_short(rest):
        return rest + "e"
    return rest


def _without_y(word: str) -> str:
    """Step 1c."""
    return word[:-1] + "i" if word.endswith("y") and "v" in _shape(word[:-1]) else word


def _replaced(word: str, rules: Sequence[tuple[str, str]]) -> str:
    """Steps 2 and 3: the first rule whose suffix is there decides, whether or not it may be replaced."""
    for suffix, other in rules:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + other if _measure(rest) > 0 else word
    return word


def _without_suffix(word: str) -> str:
    """Step 4: as above, where longer words lose more."""
    suffix = next((suffix for suffix in _STEP_4 if word.endswith(suffix)), "")
    cut = len(word) - (3 if suffix in ("sion", "tion") else len(suffix))
    return word[:cut] if _measure(word[:cut]) > 1 else word


def _without_e(word: str) -> str:
    """Step 5."""
    measure = _measure(word)
    if word.endswith("e") and (measure > 1 or (measure == 1 and not _ends_short(word[:-1]))):
        word = word[:-1]
    return word[:-1] if word.endswith("ll") and measure > 1 else word


def _shape(word: str) -> str:
    """Its consonants and vowels, as "c" and "v"; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """How often a consonant follows a vowel."""
    return _shape(word).count("vc")


def _ends_double(word: str) -> bool:
    """Whether it ends in a consonant twice."""
    return len(word) > 1 and word[-1] == word[-2] and _shape(word).endswith("c")


def _ends_short(word: str) -> bool:
    """Whether it ends in consonant, vowel, consonant, as "hop" does, and the last is none of w, x and y."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"
