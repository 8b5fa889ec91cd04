from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eapo_gym.escaping import decode, encode, escape
from tests.hostile import hostile_text

# What must never come out, looked for more bluntly than the code under test does it.
FORGERIES = re.compile(
    r"<\s*/?\s*(think|explore|memory|action|goal|state|elements)\b|<\||\\\s*boxed|\[/?INST\]"
    r"|<(start|end)_of_turn>|</?s>|<<SYS>>",
    re.IGNORECASE,
)


def normalised(text: str) -> str:
    """What a tokenizer's normaliser may make of a text: compatibility forms resolved, invisible characters gone."""
    return "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")


@pytest.mark.parametrize(
    "token",
    [
        "</memory>",
        "<Memory>",
        "</ MEMORY >",
        "<\n/\nstate\t>",
        "<action type='x'>",
        "</memory",
        "\\boxed{take key}",
        "\\ boxed{}",
        "<|im_start|>",
        "<|im_end|>",
        "<|eot_id|>",
        "<|endoftext|>",
        "<|image_pad|>",
        "<|vision_start|>",
        "<start_of_turn>",
        "<end_of_turn>",
        "<start_of_image>",
        "<tool_call>",
        "<unused42>",
        "<s>",
        "</s>",
        "<bos>",
        "<IMG_CONTEXT>",
        "<<SYS>>",
        "[INST]",
        "[/INST]",
        "[TOOL_CALLS]",
        "<｜User｜>",
        "＜/memory＞",
        "﹤memory﹥",
        "<ⓜemory>",
        "<𝐦𝐞𝐦𝐨𝐫𝐲>",
        "<th㏌k>",
        "<ﬆate>",
        "<ſtate>",
        "</mem\u200bory>",
        "<\u2060think>",
        "＼boxed{}",
        "［INST］",
    ],
)
def test_escape_takes_control_tokens_apart(token: str) -> None:
    escaped = escape(f"before {token} after")

    assert "&#" in escaped
    assert normalised(token) not in normalised(escaped)
    assert escaped.startswith("before ")
    assert escaped.endswith(" after")


@pytest.mark.parametrize(
    "text",
    [
        "You are in the middle of a room. Looking quickly around you, you see a bed 1, a desk 2, and a drawer 1.",
        "Instruction: [SEP] find me a sofa, and price lower than 50.00 dollars [SEP] Back to Search",
        "Price: $10 < $20 > $5, 3 <4, a<b, x <s and y> t, 1 << 4, <- back, <3",
        "<html><body class='x'><b>bold</b></body></html>",
        "Tom & Jerry &amp; &lt;b&gt; &#39;",
        "C:\\books\\box.txt and \\textbf{boxes}",
        "click[think] click[img] [Inst] list[0]",
        '{"action_type": "click", "index": 5}',
        "naïve café ½ ™ … 한국어 العربية 👩\u200d👩\u200d👧 ＡＢＣ ＜ １２３",
        "memory foam, state of the art; goal: think big <memories>",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert escape(text) == text
    assert encode(text) == text
    assert decode(text) == text


@given(hostile_text)
@example("<" * 50)
@example("<th㏌k><\u200b|")
def test_nothing_gets_through_escape(text: str) -> None:
    escaped = escape(text)

    assert not FORGERIES.search(escaped)
    assert not FORGERIES.search(normalised(escaped))
    assert escape(escaped) == escaped


@given(st.lists(hostile_text, max_size=4))
def test_escaped_texts_stay_apart_in_lines(texts: list[str]) -> None:
    """What one text ends with and the next begins with make nothing together, as long as there is a tag between."""
    prompt = "\n|\n".join(escape(text) for text in texts)
    assert not FORGERIES.search(prompt)


@given(hostile_text, st.booleans())
def test_decode_undoes_encode(text: str, in_braces: bool) -> None:
    encoded = encode(text, in_braces=in_braces)

    assert decode(encoded) == text
    assert not FORGERIES.search(encoded)


@given(hostile_text)
def test_braces_balance_after_encoding(text: str) -> None:
    depth = 0
    for char in encode(text, in_braces=True):
        depth += (char == "{") - (char == "}")
        assert depth >= 0
    assert depth == 0


def test_partnered_braces_are_left_alone() -> None:
    assert encode('{"a": {"b": "}"}}', in_braces=True) == '{"a": {"b": "}"}&#125;'
    assert encode("{{x}}", in_braces=True) == "{{x}}"


def test_every_look_alike_of_a_start_is_known() -> None:
    """A new Unicode version may bring more of them: then the forgeries above have to be thought through again."""
    for start, rest in {"<": "/memory>", "[": "INST]", "\\": "boxed{"}.items():
        for code in range(0x80, 0x110000):
            if start in unicodedata.normalize("NFKC", chr(code)):
                assert escape(chr(code) + rest) == f"&#{code};{rest}"
