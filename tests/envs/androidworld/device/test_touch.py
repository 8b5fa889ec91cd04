"""What is typed into a device never means anything to its shell."""

import pytest

from eapo_gym.envs.androidworld.device.touch import typed_words
from eapo_gym.envs.androidworld.phone.adb import Adb
from eapo_gym.envs.androidworld.phone.factory import new_phone


@pytest.mark.parametrize(
    "text",
    [
        "a;b", "$(id)", "`id`", "a|b", "a&&b", "it's", '"hi"', "<a>", "(a)", "#a", "*", "a?b", "~", "{a,b}", "[a]",
        "back\\slash", "!a", "100%", "tab\there", "a=b", "-v", "$HOME", "；reboot", "＄HOME", "｀id｀", "😀x",
    ],
)  # fmt: skip
def test_the_shell_reads_one_word_as_it_was_written(text: str) -> None:
    typed = typed_words(text)
    assert len(typed) == 1
    said = Adb(new_phone()).run(["shell", "echo", *typed]).decode()
    plain = {"；reboot": ";reboot", "＄HOME": "$HOME", "｀id｀": "`id`", "😀x": "x"}.get(text, text)
    assert said == plain + "\n"


def test_spaces_and_lines_are_keys_of_their_own() -> None:
    assert typed_words("two  words\nnext") == ["two", "%s", "%s", "words", "\n", "next"]


def test_what_a_device_cannot_type_goes() -> None:
    assert typed_words("Crème brûlée") == ["Creme", "%s", "brulee"]
    assert typed_words("日本 🙂") == ["%s"]
    assert typed_words("\x00\x1b[31m") == ["\\[31m"]
