"""The data of supervised fine-tuning: one example is an observation and the turn that should answer it.

    examples = read_examples("data/rollback.jsonl")
    write_examples(examples, "data/rollback.parquet")

An example also says how to get there again (the task, the seed of the reset, the commands so far) and between which two
states its action leads, so that a model's answer can be tried and not only compared. Pictures are files beside the
data, in the folder `images`, without loss and named after what is in them (`eapo_gym.bench.pictures`).

Files are JSONL, a line for each example, or Parquet (extra `parquet`); their ending says which.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from eapo_gym.atomic import write_atomically
from eapo_gym.bench.pictures import Pictures
from eapo_gym.bench.records import json_ready
from eapo_gym.errors import ActionError, EapoError, MissingExtra
from eapo_gym.json_action import parse_json_action
from eapo_gym.schema import Context, Observation, Turn

Kind = Literal["demonstration", "rollback"]

IMAGES_FOLDER = "images"


class BadExamples(EapoError, ValueError):
    """A file of examples that cannot be read or written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """What is seen, and the turn that should answer it."""

    kind: Kind
    env: str
    """A registered id, or "module:Class"."""

    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    """What the environment was made with."""

    source: str = ""
    split: str = ""
    task: str
    goal: str
    state: str
    explore: str = ""
    """What the prompt shows of the response before; in a rollback example, the instruction to go back."""

    memory: str = ""
    elements: str | None = None
    valid_actions: tuple[str, ...] | None = None
    screenshot: str | None = None
    """The name of a picture in `folder`."""

    marked: str | None = None
    turn: Turn
    seed: int = 0
    """Of the reset that the episode began with."""

    actions: tuple[str, ...] = ()
    """The commands from the reset to the state that is shown, as the environment took them."""

    fingerprint: str = ""
    """Of the state that is shown."""

    target: str = ""
    """The fingerprint that the turn's action leads to; empty where nobody has tried."""

    undone: str = ""
    """In a rollback example, the action that the turn takes back."""

    action_kind: str = ""
    """The sort of that action, or else of the turn's own."""

    walker: str = ""
    """The agent that had got there."""

    folder: Path | None = field(default=None, compare=False, repr=False)
    """Where the pictures are: beside the file that the example was read from. Not written."""

    def observation(self) -> Observation:
        """What the agent is shown."""
        return Observation(
            goal=self.goal,
            state=self.state,
            explore=self.explore,
            memory=self.memory,
            elements=self.elements,
            valid_actions=self.valid_actions,
            screenshot=self._picture(self.screenshot),
            marked=self._picture(self.marked),
            context=Context(self.env, self.task, t=len(self.actions)),
        )

    def _picture(self, name: str | None) -> Any:
        if name is None:
            return None
        if self.folder is None:
            raise BadExamples(f"The example of {self.task} has a picture and no folder that it is in.")
        return Pictures(self.folder).load(name)

    def to_json(self) -> dict[str, Any]:
        """As plain data; what is as it usually is stands not in it."""
        data = {name: value for name in _CHECKS if (value := getattr(self, name)) != _USUAL.get(name, _NOTHING)}
        turn = {name: getattr(self.turn, name) for name in _OF_TURN}
        return {**data, "turn": {name: text for name, text in turn.items() if text}}

    @classmethod
    def from_json(cls, data: object, folder: Path | None = None) -> Example:
        """The example that `to_json` wrote; whatever else comes is a `ValueError` that says what was expected."""
        if not isinstance(data, dict):
            raise ValueError(f"expected an object, got {type(data).__name__}")
        for name in data:
            if name not in _CHECKS:
                raise ValueError(f"expected no field {name!r:.60}")
        for name, (expected, fits) in _CHECKS.items():
            if name not in data and name not in _USUAL:
                raise ValueError(f"expected a field {name!r} ({expected}), and there is none")
            if name in data and not fits(data[name]):
                raise ValueError(f"{name}: expected {expected}, got {data[name]!r:.60}")
        lists = {name: None if data[name] is None else tuple(data[name]) for name in _LISTS & data.keys()}
        # Memory is part of every target: without one the response would have no memory section, and break the form.
        turn = Turn(**{"memory": "", **data["turn"]}, format_ok=True)
        return cls(**{**data, **lists, "turn": turn, "folder": folder})


def action_kind(action: str) -> str:
    """The sort of an action: its verb, or the `action_type` of one that is JSON.

    >>> action_kind("take mug 1 from desk 1"), action_kind('{"action_type": "click", "index": 3}')
    ('take', 'click')
    """
    if action.lstrip().startswith("{"):
        try:
            return str(parse_json_action(action)["action_type"])
        except (ActionError, KeyError):
            pass  # braces may mean something else to an environment; then its first word is as good as any
    words = action.split("[", 1)[0].split()  # WebShop's "search[red shoes]"
    return words[0][:40] if words else ""


# Files


def read_examples(path: str | Path) -> list[Example]:
    """The examples of a JSONL or Parquet file."""
    path = Path(path)
    rows = _PARQUET.read(path) if path.suffix == ".parquet" else _read_lines(path)
    folder = path.parent / IMAGES_FOLDER
    found = [_read(row, folder, f"{path}, line {number}") for number, row in rows]
    if not found:
        raise BadExamples(f"{path} has no examples: expected at least one (eapo-gym demonstrations writes some).")
    return found


def _read(row: object, folder: Path, where: str) -> Example:
    try:
        return Example.from_json(row, folder)
    except (ValueError, TypeError) as error:
        raise BadExamples(f"{where} is no example: {error}.") from error


def write_examples(examples: Iterable[Example], path: str | Path) -> Path:
    """Write a JSONL or Parquet file, whole or not at all. Pictures are not copied: they belong beside it."""
    path = Path(path)
    if path.suffix == ".parquet":
        _PARQUET.write([example.to_json() for example in examples], path)
    elif path.suffix == ".jsonl":
        write_atomically(path, "".join(json_line(example.to_json()) for example in examples))
    else:
        raise BadExamples(f"{path}: expected a file that ends in .jsonl or .parquet.")
    return path


def json_line(data: Mapping[str, Any]) -> str:
    """A line of ASCII: no foreign text, a lone surrogate among them, can end it or make the file unreadable."""
    return json.dumps(data, separators=(",", ":"), default=json_ready, allow_nan=False) + "\n"


def content_hash(path: str | Path) -> str:
    """Of a file, for a run to say what it was trained on."""
    content = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            while block := file.read(1 << 20):
                content.update(block)
    except OSError as error:
        raise BadExamples(f"{path} cannot be read: {error.strerror}.") from error
    return f"sha256:{content.hexdigest()}"


def _read_lines(path: Path) -> Iterable[tuple[int, object]]:
    if path.suffix != ".jsonl":
        raise BadExamples(f"{path}: expected a file of examples that ends in .jsonl or .parquet.")
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise BadExamples(f"{path} cannot be read: {error.strerror}.") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadExamples(
                    f"{path}, line {number} is not JSON: {str(error) or type(error).__name__}."
                ) from error


class _Parquet:
    """One column for each field; what has no type of its own there (arguments, turns) is JSON."""

    def read(self, path: Path) -> Iterable[tuple[int, object]]:
        pyarrow, parquet = self._packages()
        try:
            rows = parquet.read_table(path).to_pylist()
        except (OSError, pyarrow.ArrowException) as error:
            raise BadExamples(f"{path} is no Parquet file that can be read: {error}.") from error
        for number, row in enumerate(rows, start=1):
            try:
                for name in _AS_JSON & row.keys():
                    row[name] = json.loads(row[name])
            except (ValueError, TypeError, RecursionError) as error:
                raise BadExamples(f"{path}, row {number} is no example: {name} is not JSON ({error}).") from error
            yield number, row

    def write(self, rows: Sequence[Mapping[str, Any]], path: Path) -> None:
        pyarrow, parquet = self._packages()
        text, texts = pyarrow.string(), pyarrow.list_(pyarrow.string())
        types = {name: texts if name in _LISTS else text for name in _CHECKS} | {"seed": pyarrow.int64()}
        columns = {
            name: pyarrow.array([self._cell(name, row.get(name, _USUAL.get(name))) for row in rows], kind)
            for name, kind in types.items()
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.draft")
        try:
            parquet.write_table(pyarrow.table(columns), draft)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)

    @staticmethod
    def _cell(name: str, value: Any) -> Any:
        if name in _AS_JSON:
            return json.dumps(value, default=json_ready)
        if isinstance(value, str):
            return _encodable(value)
        return [_encodable(item) for item in value] if name in _LISTS and value is not None else value

    @staticmethod
    def _packages() -> tuple[Any, Any]:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise MissingExtra.of("Parquet files", "parquet") from error
        return pyarrow, pyarrow.parquet


_PARQUET = _Parquet()


def _encodable(text: str) -> str:
    """Parquet's texts are UTF-8, which has no lone surrogates; JSONL keeps them."""
    return text.encode("utf-8", "replace").decode("utf-8")


# What the fields of a line may be


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _or_null(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or fits(value)


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict)


_OF_TURN = ("think", "explore", "memory", "action")


def _is_turn(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() <= set(_OF_TURN)
        and all(map(_is_text, value.values()))
        and bool(value.get("action"))
    )


_TEXT = ("a text", _is_text)
_CHECKS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    item.name: _TEXT for item in fields(Example) if item.name != "folder"
} | {
    "kind": (f"one of {', '.join(get_args(Kind))}", lambda value: value in get_args(Kind)),
    "env_kwargs": ("an object", _is_mapping),
    "elements": ("a text or null", _or_null(_is_text)),
    "valid_actions": ("a list of texts or null", _or_null(_are_texts)),
    "screenshot": ("a text or null", _or_null(_is_text)),
    "marked": ("a text or null", _or_null(_is_text)),
    "turn": ("an object with the texts think, explore, memory and an action", _is_turn),
    "seed": ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "actions": ("a list of texts", _are_texts),
}
_LISTS = {"valid_actions", "actions"}
_AS_JSON = {"env_kwargs", "turn"}
_NOTHING = object()
_NEEDED = ("kind", "env", "task", "goal", "state", "turn")
_bare = Example(kind="demonstration", env="", task="", goal="", state="", turn=Turn())
_USUAL = {name: getattr(_bare, name) for name in _CHECKS if name not in _NEEDED}


def without_thought(example: Example) -> Example:
    """The same, with a target that has no think section."""
    return replace(example, turn=replace(example.turn, think=""))
