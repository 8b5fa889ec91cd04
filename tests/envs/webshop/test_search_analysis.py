"""The words of a text, against what Lucene's analyser (9.5) made of it."""

from __future__ import annotations

import random
import unicodedata

import pytest

from eapo_gym.envs.webshop.search.analysis import LONGEST_WORD, STOP_WORDS, terms, words
from eapo_gym.envs.webshop.search.porter import stem
from eapo_gym.envs.webshop.search.word_classes import word_classes

# Recorded: a text, and the terms that Lucene finds in it, with blanks between them.
RECORDED = [
    (
        "It's the runners' dogs, and Tom’s cats: U.S.A. 3.5\" 50,000mm $9.99 4x6 AT&T C++ don't rock'n'roll",
        "runner dog tom cat u.s.a 3.5 50,000mm 9.99 4x6 t c don't rock'n'rol",
    ),
    (
        "_under_score__ a_b ___ e.g. i.e. 1.2.3,4;5 a.1 1.a 1:2 a:b a·b",
        "_under_score__ a_b e.g i. 1.2.3,4;5 1 1 1 2 a:b a·b",
    ),
    (
        "wi-fi men’s women＇S S's 's x's X'S naïve café ÀÉÎ ÅNGSTRÖM straße İstanbul ΣΊΣΥΦΟΣ",
        "wi fi men women s s x x naïv café àéî ångström straße istanbul σίσυφοσ",
    ),
    (
        "日本語のテキスト カタカナ ｶﾀｶﾅ ひらがな 한국어 中文字 ー々",
        "日 本 語 の テキスト カタカナ ｶﾀｶﾅ ひ ら が な 한국어 中 文 字 ー 々",
    ),
    (
        "ภาษาไทย ລາວ မြန်မာ ភាសា हिन्दी বাংলা",
        "ภาษาไทย ລາວ မြန်မာ ភាសា हिन्दी বাংলা",
    ),
    (
        "עברית ה\"ב צה\"ל ג' א'ב العربية ١٢٣ ۴۵۶ ௧௨",
        "עברית ה\"ב צה\"ל ג' א'ב العربية ١٢٣ ۴۵۶ ௧௨",
    ),
    (
        "😀😃 👨\u200d👩\u200d👧\u200d👦 👍🏽 🇩🇪🇫🇷🇩 1\ufe0f\u20e3 #\u20e3 *\ufe0f\u20e3 © ™\ufe0f ℹ\ufe0f "
        "❤\ufe0f\u200d🔥 🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f ☺\ufe0e",
        "😀 😃 👨\u200d👩\u200d👧\u200d👦 👍🏽 🇩🇪 🇫🇷 1\ufe0f\u20e3 #\u20e3 *\ufe0f\u20e3 © ™\ufe0f ℹ\ufe0f "
        "❤\ufe0f\u200d🔥 🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f ☺",
    ),
    (
        "a\u0301b e\u200dx soft\xadhyphen zero\u200bwidth no\xa0break nar\u202frow word\u2060joiner bom\ufeffx",
        "a\u0301b e\u200dx soft\xadhyphen zero width break nar\u202frow word\u2060join bom\ufeffx",
    ),
    (
        "𝐛𝐨𝐥𝐝𝐬 𝒔𝒉𝒐𝒆𝒔 𐐀𐐁𐐂 ｆｕｌｌ ｗｉｄｔｈ１２３ ﬁx ½ ² Ⅳ №5 ㎏ 10℃ 5µm",
        "𝐛𝐨𝐥𝐝𝐬 𝒔𝒉𝒐𝒆𝒔 𐐨𐐩𐐪 ｆｕｌｌ ｗｉｄｔｈ１２３ ﬁx ⅳ 5 10 5µm",
    ),
    (
        "relational conditional rationally valenci hesitanci digitizer possibly radically differently vileli "
        "analogously vietnamization predication operator feudalism decisiveness hopefulness callousness "
        "formality sensitivity sensibility archaeology analogi geologi",
        "relat condit ration valenc hesit digit possibl radic differ vile analog vietnam predic oper feudal "
        "decis hope callous formal sensit sensibl archaeolog analog geologi",
    ),
    (
        "triplicate formative formalize electricity electrical hopeful goodness revival allowance inference "
        "airliner gyroscopic adjustable defensible irritant replacement adjustment dependent adoption "
        "homologou communism activate angularity homologous effective bowdlerize",
        "triplic form formal electr electr hope good reviv allow infer airlin gyroscop adjust defens irrit "
        "replac adjust depend adopt homolog commun activ angular homolog effect bowdler",
    ),
    (
        "caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled sized "
        "hopping tanned falling hissing fizzed failing filing happy sky probate rate cease controll roll by "
        "yes syzygy yyy as is ions dying skies possibly",
        "caress poni ti caress cat feed agre plaster bled motor sing conflat troubl size hop tan fall hiss "
        "fizz fail file happi sky probat rate ceas control roll ye syzygi yyi ion dy ski possibl",
    ),
    (
        "tab\x09new\x0aline\x0d\x0anull\x00char\x01\x7f\x85\u2028x\u2029",
        "tab new line null char x",
    ),
]


@pytest.mark.parametrize(("text", "found"), RECORDED, ids=lambda text: ascii(text[:20]))
def test_terms_are_those_of_lucene(text: str, found: str) -> None:
    assert terms(text) == found.split(" ")


def test_stop_words_leave_nothing() -> None:
    assert len(STOP_WORDS) == 33
    assert terms(" ".join(STOP_WORDS).upper() + " The's") == []
    assert terms("") == terms(" \t\n\0") == terms("!?-/\\$%&") == []


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("a" * 600, [255, 255, 90]),
        ("é" * 254 + "😀", [254, 1]),
        ("𝐚" * 200, [127, 73]),  # two units of UTF-16 each
        ("_" * 300 + "a", [255]),
        ("_" * 300, []),
        ("a" * 255 + ".b", [255, 1]),
        ("a" * 254 + ".b", [254, 1]),
        ("a" * 253 + ".b", [255]),
        ("😀" + "\u200d" * 300 + "😀", [254, 48]),
    ],
    ids=lambda value: ascii(value[:3]) if isinstance(value, str) else None,
)
def test_long_words_are_cut_as_lucene_cuts_them(text: str, lengths: list[int]) -> None:
    assert [len(word) for word in words(text)] == lengths


def test_texts_of_ascii_have_the_words_that_the_general_rules_find() -> None:
    chance = random.Random(0)
    for _ in range(3000):
        text = "".join(chance.choice("aB1_.,:;'\"#-") for _ in range(chance.randint(1, 25)))
        # A soft hyphen behind a letter makes it a text that is not ASCII, and moves no boundary.
        general = words("".join(c + "\xad" if c in "aB1_" else c for c in text))
        assert words(text) == [word.replace("\xad", "") for word in general], ascii(text)


def test_anything_is_cut_into_parts_of_itself() -> None:
    chance = random.Random(1)
    for _ in range(2000):
        text = "".join(chr(chance.choice((chance.randrange(128), chance.randrange(0x110000)))) for _ in range(30))
        rest = iter(text)
        for word in words(text):
            assert word
            assert all(character in rest for character in word), ascii(text)
        terms(text)


def test_a_long_text_of_what_only_joins_is_no_trouble() -> None:
    for unit in ("_", "‿", "\u200d", "‿😀", "\u200d‿", 'ה"', "1,", "😀" + "\u200d" * 200 + "\ufe0f", "\ud800", "🇦"):
        terms(unit * (30_000 // len(unit)))


def test_every_character_has_a_class() -> None:
    classes = word_classes()
    assert len(classes) == 0x110000
    assert set(classes) == set("-\"',.:_1nah#KHsSEeFmxzktfgG")


def test_classes_agree_with_another_list_of_them() -> None:
    regex = pytest.importorskip("regex")
    classes = word_classes()
    assigned = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cs")]
    different = {
        "a": r"[\p{WB=ALetter}]", "h": r"\p{WB=Hebrew_Letter}", "n": r"\p{WB=Numeric}", "K": r"\p{WB=Katakana}",
        "H": r"[\p{Han}\p{Hiragana}]", "_": r"\p{WB=ExtendNumLet}", ":": r"\p{WB=MidLetter}",
        "x": r"[\p{WB=Extend}\p{WB=Format}]", "s": r"\p{LB=SA}", "S": r"\p{LB=SA}",
        "m": r"\p{Emoji_Modifier}", "F": r"\p{WB=Regional_Indicator}",
    }  # fmt: skip
    ours = {letter: {character for character in assigned if classes[ord(character)] == letter} for letter in different}
    for letter, pattern in different.items():
        wrong = [character for character in ours[letter] if not regex.match(pattern, character)]
        assert len(wrong) <= 0.01 * len(ours[letter]), (letter, wrong[:20])  # a few were reclassified since


def test_stems_are_those_of_another_implementation() -> None:
    porter = pytest.importorskip("nltk.stem.porter")
    theirs = porter.PorterStemmer(mode="MARTIN_EXTENSIONS")
    for word in _made_up_words(20_000):
        assert stem(word) == theirs.stem(word, to_lowercase=False), word


def test_stems_of_stems_are_short_and_never_empty() -> None:
    for word in _made_up_words(5000):
        assert 0 < len(stem(word)) <= len(word)


def _made_up_words(count: int) -> list[str]:
    chance = random.Random(0)
    endings = [
        *("s", "es", "ed", "ing", "eed", "y", "ies", "ational", "tional", "enci", "anci", "izer", "bli"),
        *("abli", "alli", "entli", "eli", "ousli", "ization", "ation", "ator", "alism", "iveness", "fulness"),
        *("ousness", "aliti", "iviti", "biliti", "logi", "icate", "ative", "alize", "iciti", "ical", "ful"),
        *("ness", "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
        *("sion", "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "e", "le", "ll", "lle"),
    ]
    letters = "aeiouybcdlrstwxyzn"
    made = []
    for _ in range(count):
        start = "".join(chance.choice(letters) for _ in range(chance.randint(0, 5)))
        made.append(start + "".join(chance.choices(endings, k=chance.randint(1, 2))))
    return made


def test_the_longest_word_is_lucenes() -> None:
    assert LONGEST_WORD == 255
