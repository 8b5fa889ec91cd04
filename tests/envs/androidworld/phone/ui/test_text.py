from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.androidworld.phone.ui.text import drawable, lines_of, width_of


def test_letters_that_the_font_lacks_are_drawn_as_what_comes_next() -> None:
    assert drawable("Zoë Åström – naïve • 3×2") == "Zoe Astrom - naive · 3x2"
    assert drawable("漢 🙂") == "\ufffd \ufffd"
    assert drawable("“quoted”…") == "“quoted”…"


@given(st.text(max_size=200), st.integers(60, 900), st.integers(12, 60), st.integers(0, 4))
def test_lines_fit(text: str, width: int, size: int, most: int) -> None:
    lines = lines_of(text, size, width, most)
    assert not most or len(lines) <= most
    for line in lines:
        assert width_of(line, size) <= width or len(line) <= 2


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=80), st.integers(80, 600))
def test_no_letter_is_lost(text: str, width: int) -> None:
    assert "".join("".join(lines_of(text, 24, width)).split()) == "".join(text.split())
