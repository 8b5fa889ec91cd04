"""Asks the benchmark's own metrics: run by an interpreter that has desktop-env (`EAPO_OSWORLD_PYTHON`).

Reads one JSON object per line, `{"metric", "result", "expected", "options"}`, and answers each with the metric's
number, or with the name of what it raised. The packages above the metrics are made here without running their code,
which would import everything from cloud providers to speech models; what a metric's module needs and this interpreter
lacks is a stand-in that can be imported and nothing else.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import json
import logging
import sys
import types
from unittest import mock

MODULES = ("table", "docs", "slides", "pdf", "libreoffice", "chrome")
LACKING = ("easyocr", "borb", "playwright", "bs4")


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder: gives an empty stand-in for every module that nobody else has."""

    def find_spec(self, name, path=None, target=None):
        needed = name.partition(".")[0] in LACKING
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if needed else None

    def create_module(self, spec):
        stand_in = mock.MagicMock(name=spec.name)
        stand_in.__path__, stand_in.__spec__ = [], spec
        return stand_in

    def exec_module(self, module):
        """Nothing is to run."""


def benchmark_metrics():
    spec = importlib.util.find_spec("desktop_env")
    root = spec.submodule_search_locations[0]
    for name, path in (
        ("desktop_env", root),
        ("desktop_env.evaluators", f"{root}/evaluators"),
        ("desktop_env.evaluators.metrics", f"{root}/evaluators/metrics"),
    ):
        package = types.ModuleType(name)
        package.__path__ = [path]
        sys.modules[name] = package
    sys.meta_path.append(StandIns())
    found = {}
    for name in MODULES:
        module = importlib.import_module(f"desktop_env.evaluators.metrics.{name}")
        found.update({key: value for key, value in vars(module).items() if isinstance(value, types.FunctionType)})
    return found


def color_difference(one, other):
    """What `evaluate_colored_words_in_tables` compares with its threshold."""
    from skimage.color import deltaE_ciede2000, rgb2lab

    return deltaE_ciede2000(*(rgb2lab([part / 255.0 for part in color]) for color in (one, other)))


def text_similarity(one, other):
    from rapidfuzz import fuzz

    return fuzz.ratio(one, other) / 100


def main():
    answers, sys.stdout = sys.stdout, sys.stderr  # the metrics print
    metrics = {**benchmark_metrics(), "color_difference": color_difference, "text_similarity": text_similarity}
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        question = json.loads(line)
        arguments = [question["result"]] + ([question["expected"]] if "expected" in question else [])
        try:
            verdict = metrics[question["metric"]](*arguments, **question.get("options", {}))
            answer = {"verdict": None if verdict is None else float(verdict)}
        except Exception as error:  # whatever it is, it is the answer
            answer = {"raised": f"{type(error).__name__}: {error}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
