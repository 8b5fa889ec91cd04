"""Asks the benchmark's own code: run by an interpreter that has desktop-env (`EAPO_OSWORLD_PYTHON`).

Reads a question a line, `{"metric", "result", "options"}` and perhaps "expected", and answers each with a line:
`{"score"}`, or `{"raised"}` with what went wrong. A question `{"day": …, "config": …}` is for the getter
`rule_relativeTime`, on that day. Packages around the metrics are not imported, and what a module of them needs and this
interpreter lacks is a stand-in.
"""

import datetime
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import logging
import sys
import types
from unittest import mock

METRICS = ("others", "chrome", "vscode", "general", "vlc", "gimp", "basic_os", "thunderbird")
STAND_INS = ("easyocr", "borb", "playwright", "pydrive", "formulas", "acoustid")


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder: gives an empty stand-in for a module that nobody else has."""

    def find_spec(self, name, path=None, target=None):
        wanted = name.partition(".")[0] in STAND_INS
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if wanted else None

    def create_module(self, spec):
        stand_in = mock.MagicMock(name=spec.name)
        stand_in.__path__, stand_in.__spec__ = [], spec
        return stand_in

    def exec_module(self, module):
        """Nothing is to run."""


def bare_packages():
    root = importlib.util.find_spec("desktop_env").submodule_search_locations[0]
    for name in ("", ".evaluators", ".evaluators.metrics", ".evaluators.getters"):
        package = types.ModuleType(f"desktop_env{name}")
        package.__path__ = [root + name.replace(".", "/")]
        sys.modules[package.__name__] = package
    sys.meta_path.append(StandIns())


def functions():
    found = {}
    for name in METRICS:
        module = importlib.import_module(f"desktop_env.evaluators.metrics.{name}")
        found.update({key: value for key, value in vars(module).items() if isinstance(value, types.FunctionType)})
    return found


def rule_on(day, config):
    misc = importlib.import_module("desktop_env.evaluators.getters.misc")

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return tz.localize(datetime.datetime.fromisoformat(day)) if tz else datetime.datetime.fromisoformat(day)

    with mock.patch.object(misc, "datetime", Clock):
        return misc.get_rule_relativeTime(None, config)


def answer(question, metrics):
    try:
        if "day" in question:
            return {"rules": rule_on(question["day"], question["config"])}
        arguments = [question["result"]] + ([question["expected"]] if "expected" in question else [])
        score = metrics[question["metric"]](*arguments, **question["options"])
        return {"score": float(score)}
    except Exception as error:  # whatever it is, it is the answer
        return {"raised": f"{type(error).__name__}: {error}"[:300]}


def main():
    answers, sys.stdout = sys.stdout, sys.stderr  # the metrics print
    bare_packages()
    metrics = functions()
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), metrics)), file=answers, flush=True)


if __name__ == "__main__":
    main()
