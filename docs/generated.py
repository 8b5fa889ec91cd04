"""Fills the parts of README and docs that are known elsewhere: measured numbers, the API, the checks, the knobs.

    python docs/generated.py            # write them
    python docs/generated.py --check    # name the pages that are out of date; exit status 1 if there are any

Such a part stands between `<!-- generated: NAME -->` and `<!-- end -->`. All else is written by hand, and states no
measured number: so none can drift from the file that it came from.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Literal, get_args, get_origin

from measured import MEASURED

ROOT = Path(__file__).parent.parent

PART = re.compile(r"(<!-- generated: (?P<name>[a-z_. -]+) -->\n).*?(<!-- end -->)", re.DOTALL)

API = (
    "eapo_gym",
    "eapo_gym.schema",
    "eapo_gym.protocol",
    "eapo_gym.wrappers",
    "eapo_gym.visitation",
    "eapo_gym.vector",
    "eapo_gym.envs.checker",
    "eapo_gym.envs.hosting",
    "eapo_gym.envs.alfworld.env",
    "eapo_gym.envs.alfworld.generator",
    "eapo_gym.envs.alfworld.experts",
    "eapo_gym.envs.alfworld.agreement",
    "eapo_gym.envs.webshop.env",
    "eapo_gym.envs.webshop.experts",
    "eapo_gym.envs.androidworld.experts",
    "eapo_gym.engines.base",
    "eapo_gym.engines",
    "eapo_gym.agents.base",
    "eapo_gym.agents.loading",
    "eapo_gym.agents.experts",
    "eapo_gym.agents.arms",
    "eapo_gym.bench.evaluate",
    "eapo_gym.bench.rollout",
    "eapo_gym.bench.records",
    "eapo_gym.bench.store",
    "eapo_gym.bench.metrics",
    "eapo_gym.bench.compare",
    "eapo_gym.bench.statistics",
    "eapo_gym.bench.report",
    "eapo_gym.trainers.config",
    "eapo_gym.trainers.presets",
    "eapo_gym.trainers.train",
    "eapo_gym.trainers.rollback",
    "eapo_gym.trainers.demonstrations",
    "eapo_gym.trainers.collecting",
    "eapo_gym.trainers.examples",
    "eapo_gym.trainers.sft",
    "eapo_gym.trainers.rollback_rate",
    "eapo_gym.trainers.batch",
    "eapo_gym.trainers.rewards",
    "eapo_gym.trainers.groups",
    "eapo_gym.trainers.objective",
    "eapo_gym.trainers.policy",
    "eapo_gym.trainers.qphi",
    "eapo_gym.trainers.rollout",
    "eapo_gym.trainers.checkpoint",
    "eapo_gym.trainers.publish",
    "eapo_gym.trainers.failures",
    "eapo_gym.trainers.runs",
    "eapo_gym.trainers.report",
    "eapo_gym.trainers.sweep",
    "eapo_gym.loggers",
    "eapo_gym.scaffold",
    "eapo_gym.errors",
)
"""The modules whose names are public, in the order of the page."""

LONGEST = 60
"""Arguments that take more characters are cut down to those that are needed."""


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(text: str) -> str:
    """A page's text with all of its generated parts made again."""
    return PART.sub(lambda part: f"{part[1]}\n{PARTS[part['name']]().strip()}\n\n{part[3]}", text)


# The API


def api() -> str:
    """A section for each module; a name that is public in several stands with the first."""
    sections, shown = [], set[int]()
    for name in API:
        module = importlib.import_module(name)
        new = [public for public in names_of(module) if id(getattr(module, public)) not in shown]
        shown.update(id(getattr(module, public)) for public in new)
        rows = [f"| `{spelt(module, public)}` | {first_sentence(doc_of(module, public))} |" for public in new]
        about = (module.__doc__ or "").strip().partition("\n")[0]
        sections.append("\n".join((f"## {name}", "", about, "", "| name | what it is |", "|---|---|", *rows)))
    return "\n\n".join(sections)


def names_of(module: ModuleType) -> list[str]:
    """What the module says is public, or else what it defines, explains and does not hide."""
    names = list(getattr(module, "__all__", ())) or [
        name for name in definitions(module) if not name.startswith("_") and doc_of(module, name)
    ]
    return sorted(names, key=lambda name: (name.lower(), name))


def spelt(module: ModuleType, name: str) -> str:
    """The name, with its arguments where it is something to be called; those that may be left out only if they fit."""
    value = inspect.unwrap(getattr(module, name))
    if not inspect.isfunction(value) and (not is_class(value) or issubclass(value, Exception)):
        return name
    parameters = list(inspect.signature(value).parameters.values())
    shown = [str(plain(parameter)) for parameter in parameters]
    keywords = [parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters]
    if any(keywords):
        shown.insert(keywords.index(True), "*")
    if sum(map(len, shown)) > LONGEST:
        needed = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
        shown = [*needed[:4], "…"]
    return f"{name}({', '.join(shown)})".replace("Ellipsis", "…")


def is_class(value: object) -> bool:
    """Python 3.10 takes an alias of a generic type for a class, and an alias of `str` is one."""
    return inspect.isclass(value) and get_origin(value) is None and value.__module__ != "builtins"


def plain(parameter: inspect.Parameter) -> inspect.Parameter:
    """Without its type, and without a default that says little in a table."""
    simple = parameter.default is parameter.empty or isinstance(parameter.default, str | int | float | tuple | None)
    default = parameter.default if simple else ...
    return parameter.replace(annotation=parameter.empty, default=default)


def doc_of(module: ModuleType, name: str) -> str:
    """The docstring of a name, or the string below its assignment, wherever it was defined."""
    value = inspect.unwrap(getattr(module, name))
    if is_class(value) or inspect.isfunction(value):
        return value.__doc__ or ""
    if get_origin(value) is Literal:
        return f"One of {', '.join(f'`{each!r}`' for each in get_args(value))}."
    tree = ast.parse(inspect.getsource(module))
    for node, follower in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.ImportFrom) and node.module and any((a.asname or a.name) == name for a in node.names):
            return doc_of(importlib.import_module(node.module), name)
        if name in assigned(node) and isinstance(follower, ast.Expr) and isinstance(follower.value, ast.Constant):
            return str(follower.value.value)
    return ""


def definitions(module: ModuleType) -> list[str]:
    """The names that a module defines itself, in its own order."""
    found: list[str] = []
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node.name)
        found += assigned(node)
    return found


def assigned(node: ast.AST) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def first_sentence(doc: str) -> str:
    paragraph = " ".join(inspect.cleandoc(doc).split("\n\n")[0].split())
    sentence = re.match(r".*?(?:[.!?](?=\s|$)|:(?=\s*$)|$)", paragraph)
    return as_markdown((sentence[0] if sentence else paragraph).rstrip(":"))


def as_markdown(text: str) -> str:
    """A line of a docstring in a table: outside of `code`, no character means anything but itself."""
    special = {ord(char): f"&#{ord(char)};" for char in "_*[]{}<>"}
    parts = text.replace("|", "\\|").split("`")
    return "`".join(part if i % 2 else part.translate(special) for i, part in enumerate(parts))


# Smaller parts


def checks() -> str:
    from eapo_gym.envs.checker.run import CHECKS

    return "\n".join(("| check | promise |", "|---|---|", *(f"| `{c.name}` | {c.promise} |" for c in CHECKS)))


def knobs() -> str:
    from dataclasses import fields

    from eapo_gym.envs.alfworld.generator import PRESETS, Difficulty, difficulty

    docs = {
        node.target.id: follower.value.value
        for kind in ast.parse(inspect.getsource(difficulty)).body
        if isinstance(kind, ast.ClassDef) and kind.name == "Difficulty"
        for node, follower in zip(kind.body, kind.body[1:], strict=False)
        if isinstance(node, ast.AnnAssign) and isinstance(follower, ast.Expr)
    }
    head = ["knob", *(f"`{name}`" for name in PRESETS), "what it is"]
    rows = [
        [f"`{field.name}`", *(f"{getattr(preset, field.name):g}" for preset in PRESETS.values()), docs[field.name]]
        for field in fields(Difficulty)
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def agents() -> str:
    from eapo_gym.agents.loading import agent_names

    return "\n".join(("| agent | what it is |", "|---|---|", *(f"| `{n}` | {a} |" for n, a in agent_names().items())))


def arms() -> str:
    from eapo_gym.agents.arms import ARMS

    return "\n".join(("| arm | what it is |", "|---|---|", *(f"| `{n}` | {a.about} |" for n, a in ARMS.items())))


# The trainer


def settings() -> str:
    """Every setting of a training run, under the headings that the configuration's file has."""
    from dataclasses import MISSING, fields
    from typing import get_type_hints

    from eapo_gym.trainers.config import TrainConfig, docs

    said, kinds = docs(), get_type_hints(TrainConfig)
    parts: dict[str, list[str]] = {}
    heading = "What is trained"
    names = {item.name: item for item in fields(TrainConfig)}
    for line in inspect.getsource(TrainConfig).splitlines():
        if found := re.fullmatch(r"    # (.+)", line):
            heading = found[1]
        elif (found := re.match(r"    (\w+): ", line)) and found[1] in names:
            item = names[found[1]]
            default = item.default if item.default_factory is MISSING else item.default_factory()
            written = f"`{as_yaml(default)}`"
            others = [f"`{each}`" for each in get_args(kinds[item.name]) if isinstance(each, str) and each != default]
            row = (f"`{item.name}`", written + (f" (or {', '.join(others)})" if others else ""), said[item.name])
            parts.setdefault(heading, []).append(f"| {' | '.join((*row[:2], as_markdown(row[2])))} |")
    head = ("| setting | default | what it does |", "|---|---|---|")
    return "\n\n".join("\n".join((f"**{heading}**", "", *head, *rows)) for heading, rows in parts.items())


def as_yaml(value: object) -> str:
    """As it would stand in a configuration's file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(as_yaml, value))}]"
    return '""' if value == "" else str(value)


def presets() -> str:
    from eapo_gym.trainers.presets import PRESETS

    rows = [
        f"| `{name}` | {', '.join(f'`{key}: {as_yaml(value)}`' for key, value in values.items()) or 'the defaults'} |"
        for name, values in PRESETS.items()
    ]
    return "\n".join(("| `algorithm` | what it sets |", "|---|---|", *rows))


def failures() -> str:
    from eapo_gym.trainers import failures as module

    return "\n".join(line for line in (module.__doc__ or "").splitlines() if line.startswith("|"))


def may_differ() -> str:
    """Read from the source, which needs torch to be imported."""
    rows = []
    for name, price in (("MAY_DIFFER", "none"), ("MAY_DIFFER_IN_BITS", "the last bits")):
        source = (ROOT / "eapo_gym" / "trainers" / "records.py").read_text(encoding="utf-8")
        [value] = [node.value for node in ast.parse(source).body if name in assigned(node)]  # type: ignore[attr-defined]
        rows += [f"| `{setting}` | {why} | {price} |" for setting, why in ast.literal_eval(value).items()]
    return "\n".join(("| setting | why it may be another | what that costs |", "|---|---|---|", *rows))


PARTS: dict[str, Callable[[], str]] = {
    "agents": agents,
    "api": api,
    "arms": arms,
    "checks": checks,
    "failures": failures,
    "knobs": knobs,
    "may differ": may_differ,
    "presets": presets,
    "settings": settings,
    **MEASURED,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    stale = [page for page in pages() if filled(page.read_text(encoding="utf-8")) != page.read_text(encoding="utf-8")]
    for page in stale:
        if options.check:
            print(f"{page.relative_to(ROOT)} is out of date: run python docs/generated.py")
        else:
            page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
            print(f"wrote {page.relative_to(ROOT)}")
    return int(options.check and bool(stale))


if __name__ == "__main__":
    raise SystemExit(main())
