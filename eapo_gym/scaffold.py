"""`eapo-gym new-env NAME`: writes an environment that works, with its test, to begin from."""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from importlib.resources import files
from pathlib import Path

from eapo_gym.errors import EapoError
from eapo_gym.templates import my_env

_TEMPLATES = {"my_env.py": "{}.py", "test_my_env.py.template": "test_{}.py", "my_env.md.template": "{}.md"}
_MAX_NAME = 40


class BadName(EapoError, ValueError):
    """A name that no environment can have."""


class AlreadyThere(EapoError, FileExistsError):
    """A file that would have to be overwritten."""


def new_env(name: str, folder: str | Path = ".") -> list[Path]:
    """Write `<name>.py`, `test_<name>.py` and `<name>.md` (how to go on) into `folder`; returns their paths.

    `name` may be written as `tea_shop`, `tea-shop` or `TeaShop`. Nothing is overwritten, and nothing is written at all
    unless everything can be.
    """
    module, class_name = _names(name)
    folder = Path(folder)
    texts = {
        folder / path.format(module): _text_of(template).replace("my_env", module).replace("MyEnv", class_name)
        for template, path in _TEMPLATES.items()
    }
    for path in texts:
        if path.exists():
            raise AlreadyThere(f"{path} is there already: choose another name or folder, or remove it first.")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    return list(texts)


def _names(name: str) -> tuple[str, str]:
    """The module and the class of a name: `tea_shop` and `TeaShop`."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(?:[-_ ][A-Za-z0-9]+)*", name) or len(name) > _MAX_NAME:
        raise BadName(
            f"{name!r:.60} is no name for an environment: expected letters and digits that begin with a letter, "
            f"at most {_MAX_NAME} characters, like tea_shop or TeaShop."
        )
    module = "_".join(word.lower() for word in words)
    class_name = "".join(word[0].upper() + word[1:] for word in words)
    taken = keyword.iskeyword(module) or module in sys.stdlib_module_names or module in sys.modules
    taken = taken or hasattr(builtins, class_name) or (class_name != "MyEnv" and hasattr(my_env, class_name))
    if taken:
        raise BadName(f"{name!r} has a meaning in Python or in eapo-gym already: try {module}_env.")
    return module, class_name


def _text_of(template: str) -> str:
    return (files("eapo_gym.templates") / template).read_text(encoding="utf-8")
