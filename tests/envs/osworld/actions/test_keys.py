from __future__ import annotations

from ctypes import CDLL, c_ulong
from ctypes.util import find_library

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.osworld.actions.keys import ANDROID_KEYS, KEYSYMS, OTHER_NAMES, keys_as_written, keys_written
from eapo_gym.errors import ActionError


@given(st.lists(st.sampled_from(sorted(KEYSYMS)), min_size=1, max_size=6))
def test_keys_are_written_as_they_are_read(keys: list[str]) -> None:
    held = keys if len(keys) == 1 else [key.lower() for key in keys]
    assert keys_written(keys_as_written(held), "") == tuple(held)


@given(st.text(alphabet="ctrlalshif +-enTS", max_size=20))
def test_any_text_is_keys_or_refused(text: str) -> None:
    try:
        keys = keys_written(text, "enter")
    except ActionError:
        return
    assert set(keys) <= set(KEYSYMS)


def test_every_other_name_leads_to_a_key_and_hides_none() -> None:
    pressed = {key for keys in ANDROID_KEYS.values() for key in keys}
    assert {*OTHER_NAMES.values(), *pressed} <= set(KEYSYMS)
    assert not set(OTHER_NAMES) & set(KEYSYMS)


def test_every_character_of_a_us_keyboard_is_a_key() -> None:
    assert {chr(code) for code in range(32, 127)} <= set(KEYSYMS)


def test_the_keysyms_are_those_of_x() -> None:
    library = find_library("X11")
    if library is None:
        pytest.skip("libX11 is not installed, which knows the names of X's keys")
    named = CDLL(library).XStringToKeysym
    named.restype = c_ulong
    asked = set(KEYSYMS.values()) - {"NoSymbol"}
    assert {name for name in asked if not named(name.encode())} == set()
