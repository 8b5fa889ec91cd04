from itertools import product
from random import Random

import pytest

from eapo_gym.envs.webshop.fuzzy import ALIKE, alike, token_set_ratio
from eapo_gym.envs.webshop.normalize import COLOURS, plain_option, plain_pair


@pytest.mark.parametrize(
    ("first", "second", "ratio"),  # answers of thefuzz 0.22.1
    [
        ("fuzzy was a bear", "fuzzy fuzzy was a bear", 100),
        ("fuzzy was a bear but not a dog", "fuzzy was a bear but not a cat", 92),
        ("machine wash", "machine washable", 86),
        ("easy clean", "easy to clean", 100),
        ("non slip", "anti slip", 71),
        ("black", "('color', 'black')", 100),
        ("navy", "('color', 'navy blue')", 100),
        ("10.5", "10 5", 100),
        ("crème", "crme", 100),
        ("a_b", "a b", 100),
        ("", "", 0),
        ("--", "--", 0),
        ("é", "é", 0),
        ("абв", "абв", 100),
    ],
)
def test_ratios(first, second, ratio):
    assert token_set_ratio(first, second) == ratio
    assert token_set_ratio(second, first) == ratio
    assert alike(first, second) == (ratio > ALIKE)


def phrases(count: int, seed: int) -> list[str]:
    random = Random(seed)
    words = ["easy", "clean", "cleaning", "non", "slip", "16", "ounce", "x-large", "ç", "ß", "İ", "'s", "_", "三木", ""]
    letters = "abcxyz é_-1'\"|"
    return [
        " ".join(random.choices(words, k=random.randrange(5)))
        if number % 2
        else "".join(random.choices(letters, k=random.randrange(25)))
        for number in range(count)
    ]


def test_thefuzz_says_the_same():
    fuzz = pytest.importorskip("thefuzz.fuzz")
    for first, second in product(phrases(250, 1), phrases(250, 2)):
        ratio = fuzz.token_set_ratio(first, second)
        assert token_set_ratio(first, second) == ratio, (first, second)
        assert alike(first, second) == (ratio > ALIKE), (first, second)


def test_alike_is_the_ratio_above_85():
    near = 0
    for first, second in product(phrases(200, 3), phrases(200, 4)):
        ratio = token_set_ratio(first, second)
        near += 75 < ratio < 95
        assert alike(first, second) == (ratio > ALIKE), (first, second)
    assert near > 100


def test_a_value_stands_for_its_first_colour_by_the_alphabet():
    assert plain_option("navy blue") == "blue"
    assert plain_option("standard") == "tan"
    assert plain_option("x-large") == "x-large"
    assert len(COLOURS) == len(set(COLOURS)) == 102
    assert list(COLOURS) == sorted(COLOURS)


def test_a_pair_has_a_colour_only_to_the_letter():
    assert plain_pair("color", "black") == "black"
    assert plain_pair("color", "jet black") == "('color', 'jet black')"
    assert plain_pair("size", "it's") == "('size', \"it's\")"
