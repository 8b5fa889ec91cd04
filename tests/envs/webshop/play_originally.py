"""Plays random sessions in the original's own engine, in an interpreter of its own, and says what it showed.

    python play_originally.py FOLDER < request.json > answer.json

FOLDER is a checkout of the original (github.com/princeton-nlp/WebShop); the interpreter needs flask, beautifulsoup4,
thefuzz and numpy. What pages and actions do not depend on is replaced: the search by words of the title, the tagger by
"a word of more than three letters is a noun", and packages that are merely imported by empty modules.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

MOST = 50


def simple_search(titles: list[str], query: str, most: int) -> list[int]:
    """Numbers of the titles that share a word with the query, those that share most first."""
    wanted = set(query.lower().split())
    shared = {number: len(wanted & set(title.lower().split())) for number, title in enumerate(titles)}
    return sorted((number for number, count in shared.items() if count), key=lambda n: (-shared[n], n))[:most]


def simple_nouns(text: str) -> list[str]:
    return [word for word in text.split() if len(word) > 3]


class _Searcher:
    """What the engine calls of pyserini's searcher."""

    titles: list[str]
    asins: list[str]

    def __init__(self, folder: str) -> None: ...

    def search(self, query: str, k: int) -> list[Any]:
        return [SimpleNamespace(docid=number) for number in simple_search(self.titles, query, k)]

    def doc(self, number: int) -> Any:
        return SimpleNamespace(raw=lambda: json.dumps({"id": self.asins[number]}))


def _stand_ins() -> None:
    def module(name: str, **content: Any) -> None:
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(content)

    def tagger(text: str) -> list[Any]:
        nouns = set(simple_nouns(text))
        return [SimpleNamespace(text=word, pos_="NOUN" if word in nouns else "X") for word in text.split()]

    module("gym", Env=object)
    module("spacy", load=lambda name: tagger)
    module("tqdm", tqdm=lambda items, **_: items)
    module("rich", print=lambda *_: None)
    module("rank_bm25", BM25Okapi=None)
    for name in ("torch", "cleantext", "pyserini", "pyserini.search"):
        module(name)
    module("pyserini.search.lucene", LuceneSearcher=_Searcher)


def open_original(folder: Path, request: dict[str, Any]) -> Any:
    """The original's environment on the request's products."""
    _stand_ins()
    sys.path.insert(0, str(folder))
    files = Path(tempfile.mkdtemp())
    for name in ("products", "attributes", "human"):
        (files / name).write_text(json.dumps(request[name]), encoding="utf-8")
    from web_agent_site import utils

    utils.DEFAULT_ATTR_PATH, utils.HUMAN_ATTR_PATH = str(files / "attributes"), str(files / "human")
    # Past the package's own __init__, which brings the browser environment and Selenium with it.
    sys.modules["web_agent_site.envs"] = ModuleType("web_agent_site.envs")
    sys.modules["web_agent_site.envs"].__path__ = [str(folder / "web_agent_site/envs")]
    from web_agent_site.envs import web_agent_text_env as original

    # The engine opens its files in the encoding of the locale.
    _Searcher.titles = [product["name"] for product in request["products"]]
    _Searcher.asins = [product["asin"] for product in request["products"]]
    random.seed(request["seed"])
    env = original.WebAgentTextEnv.__new__(original.WebAgentTextEnv)
    parsed: dict[str, Any] = {}

    def parse_once(html: str | None = None) -> Any:
        html = env.state["html"] if html is None else html
        if html not in parsed:
            parsed.clear()
            parsed[html] = original.BeautifulSoup(html, "html.parser")
        return parsed[html]

    env._parse_html = parse_once
    env.__init__(
        observation_mode="text",
        file_path=str(files / "products"),
        human_goals=request["human_goals"],
        show_attrs=request["show_attrs"],
    )
    return env


ODD = (
    *("click[", "click[]", "search[]", "search[ ]", "Search[a]", "look", "", "search[a\nb]", "search[a] b"),
    *("click[[x]]", "search[item_page]", "search[search_results the]", "search[item_sub_page the]", "click[search]"),
    "click[a]b]",
)


class Walker:
    """A customer who knows no aim: clicks, searches, and much that is wrong."""

    def __init__(self, seed: int, titles: list[str], categories: list[str]) -> None:
        self.rng = random.Random(seed)
        self.titles, self.categories = titles, categories
        self.seen: list[str] = []

    def action(self, clickables: list[str]) -> str:
        rng = self.rng
        self.seen += [each for each in clickables if each not in self.seen]
        luck = rng.random()
        if luck < 0.72 and len(clickables) > 1:
            name = "buy now" if "buy now" in clickables and rng.random() < 0.15 else rng.choice(clickables)
            return f"click[{name.upper() if rng.random() < 0.2 else name}]"
        if luck < 0.78 and self.seen:
            return f"click[{rng.choice(self.seen)}]"
        if luck < 0.81:
            return rng.choice(ODD)
        if luck < 0.84:
            return f"search[<c> {rng.choice(self.categories)}]"
        words = rng.choice(self.titles).split() or ["nothing"]
        return f"search[{' '.join(rng.sample(words, min(len(words), rng.randint(1, 3))))}]"


def play(env: Any, goal: int, seed: int, steps: int, walker: Walker) -> dict[str, Any]:
    def seen() -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for mode in ("text", "text_rich", "url"):
            env.observation_mode = mode
            shown[mode] = env.observation
        actions = env.get_available_actions()
        return {**shown, "search_bar": actions["has_search_bar"], "clickables": actions["clickables"]}

    env.reset(session=goal)
    moments = [seen()]
    for _ in range(steps):
        action = walker.action(moments[-1]["clickables"])
        _, reward, done, _ = env.step(action)
        moments.append({"action": action, "reward": float(reward), "done": done, **seen()})
    env.server.user_sessions.clear()
    return {"goal": goal, "seed": seed, "moments": moments}


def main() -> None:
    request = json.load(sys.stdin)
    with redirect_stdout(sys.stderr):
        env = open_original(Path(sys.argv[1]), request)
    titles = [product["name"] for product in request["products"]]
    categories = sorted({product["category"] for product in request["products"]})
    goals = env.server.goals
    sessions = []
    for seed in range(request["first"], request["first"] + request["sessions"]):
        goal = random.Random(seed).randrange(len(goals))
        sessions.append(play(env, goal, seed, request["steps"], Walker(seed, titles, categories)))
    used = {session["goal"]: goals[session["goal"]] for session in sessions}
    json.dump({"goals": used, "prices": env.server.product_prices, "sessions": sessions}, sys.stdout)


if __name__ == "__main__":
    main()
