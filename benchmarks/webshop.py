"""How fast is WebShop, and how much memory does it take? Beside the original's engine, where that is at hand.

A random customer searches for words of the instruction, clicks whatever can be clicked, and buys at some point. All of
a step counts: the page, what can be clicked, the info, and choosing the action. What was searched for before is known,
as it is while training; so searches are measured alone too, each with a query that was not there before.

    python benchmarks/webshop.py                    # the embedded catalogue, and the benchmark's 1,000 products
    python benchmarks/webshop.py --full FOLDER      # and 1.18 million made-up products, built there unless they are

The benchmark's 1,000 products are those of --catalogue. The original takes part where EAPO_WEBSHOP_ORIGINAL names a
checkout of it and EAPO_WEBSHOP_PYTHON a Python with its packages (see webshop_original.py): both play the same sessions
then, a few here and a few there in turns.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import psutil
from common import RESULTS, machine, write_result
from rich.console import Console
from rich.table import Table
from webshop_search import MOST, queries_for

from eapo_gym.envs.webshop.catalogue import CatalogueFiles, read_products
from eapo_gym.envs.webshop.env import WebShopEnv
from eapo_gym.envs.webshop.generator import generated
from eapo_gym.envs.webshop.opening import INDEX, STORE, OpenShop, open_shop
from eapo_gym.envs.webshop.products import Product
from eapo_gym.envs.webshop.search.engine import ShopSearch
from eapo_gym.envs.webshop.store import MemoryCatalogue, build_store, open_store

STEPS = 15
"""Of a session at most."""

FULL = 1_180_000
"""About as many products as the benchmark has."""

ROUNDS = 10
"""In how many turns the original and we play."""

ANYWHERE = [{"seed": seed} for seed in range(200)]
"""Sessions for goals from all over a large catalogue."""

BUILT = "built.json"
SHARED = Path(os.environ.get("EAPO_SHARED") or Path(__file__).resolve().parents[2] / "shared") / "data" / "webshop"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=4000, help="that are played in each small catalogue")
    parser.add_argument("--catalogue", type=Path, default=SHARED, help="a folder with the benchmark's 1,000 products")
    parser.add_argument("--beside", type=int, default=60, help="sessions that the original and we play in turns")
    parser.add_argument("--queries", type=int, default=2000, help="searches in each catalogue")
    parser.add_argument("--full", nargs="?", const="", metavar="FOLDER", help="of the catalogue with --products")
    parser.add_argument("--products", type=int, default=FULL, help="products of the full catalogue")
    parser.add_argument("--processes", type=int, default=4, help="that share the full catalogue")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder that the result is written to")
    options = parser.parse_args()
    said = Console(width=130)

    shops = {"embedded": open_shop("embedded")}
    files = CatalogueFiles.in_folder(options.catalogue) if options.catalogue.is_dir() else None
    if files:
        shops["the benchmark's 1,000"] = small_shop(files)
    result: dict[str, Any] = {"small": {}}
    for name, shop in shops.items():
        said.print(f"{name}: {options.sessions:,} sessions, {options.queries:,} queries")
        products = [shop.shop.product(number) for number in range(len(shop.shop))]
        result["small"][name] = (
            rates(shop, options.sessions)
            | memory_and_snapshots(shop)
            | cold_searches(ShopSearch.make(shop.shop), queries_for(products, options.queries))
        )
    engine = os.environ.get("EAPO_WEBSHOP_ORIGINAL")
    if engine and files:
        said.print(f"the original and we, in turns: {options.beside} sessions")
        result["beside"] = beside(engine, files, options.beside)
    if options.full is not None:
        with full_folder(options.full, options.products, said) as folder:
            result["full"] = full(folder, options.queries, options.processes, said)
    said.print(tables(result))
    write_result("webshop", result, options.results)


# Small catalogues


def small_shop(files: CatalogueFiles) -> OpenShop:
    catalogue = MemoryCatalogue(read_products(files), "official, 1,000 products")
    return OpenShop(catalogue, ShopSearch.make(catalogue))


def rates(shop: OpenShop, sessions: int) -> dict[str, float]:
    """Of sessions for goals that were not played before, until all have been."""
    env = WebShopEnv(shop=shop)
    tasks = env.tasks()
    Random(1).shuffle(tasks)
    return played(env, [{"options": {"task": tasks[number % len(tasks)]}} for number in range(sessions)])


def played(env: WebShopEnv, resets: Sequence[dict[str, Any]]) -> dict[str, float]:
    """How fast a random customer's sessions are, which start with these resets."""
    chance = Random(0)
    steps, resetting, stepping = 0, 0.0, 0.0
    for reset in resets:
        began = time.perf_counter()
        obs, info = env.reset(**reset)
        resetting += time.perf_counter() - began
        words = words_of(obs)
        began = time.perf_counter()
        for _ in range(STEPS):
            _, _, over, _, info = env.step(some_action(info, words, chance))
            steps += 1
            if over:
                break
        stepping += time.perf_counter() - began
    return {"steps": steps, "steps_per_s": steps / stepping, "resets_per_s": len(resets) / resetting}


def words_of(obs: dict[str, str]) -> list[str]:
    return re.findall("[a-z0-9]+", obs["goal"].lower())


def some_action(info: dict[str, Any], words: Sequence[str], chance: Random) -> str:
    if info["has_search_bar"]:
        return f"search[{' '.join(chance.sample(words, min(len(words), chance.randint(2, 6))))}]"
    return f"click[{chance.choice(info['clickables'])}]"


def memory_and_snapshots(shop: OpenShop) -> dict[str, float]:
    env = WebShopEnv(shop=shop)
    task = env.tasks()[0]
    walk(env, task)
    rounds = 20_000
    began = time.perf_counter()
    for _ in range(rounds):
        env.snapshot()
    snapshot = (time.perf_counter() - began) / rounds
    kept = env.snapshot()
    began = time.perf_counter()
    for _ in range(rounds):
        env.restore(kept)
    restore = (time.perf_counter() - began) / rounds

    tracemalloc.start()
    more = [WebShopEnv(shop=shop) for _ in range(200)]
    for other in more:
        walk(other, task)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {
        "snapshot_us": snapshot * 1e6,
        "restore_us": restore * 1e6,
        "kb_per_further_env": grown / len(more) / 1024,
    }


def walk(env: WebShopEnv, task: str, seed: int = 0, steps: int = STEPS) -> None:
    """A session that ends before something is bought."""
    chance = Random(seed)
    obs, info = env.reset(options={"task": task})
    words = words_of(obs)
    for _ in range(steps):
        action = some_action(info, words, chance)
        if action != "click[buy now]":
            _, _, _, _, info = env.step(action)


def cold_searches(search: ShopSearch, queries: Sequence[str]) -> dict[str, float | int]:
    """Each query once. The first tenth does not count: what is read of an index is in memory then."""
    unknown = list(dict.fromkeys(queries))
    first = len(unknown) // 10
    for query in unknown[:first]:
        search.search(query, MOST)
    times = []
    for query in unknown[first:]:
        began = time.perf_counter()
        search.search(query, MOST)
        times.append(time.perf_counter() - began)
    times.sort()
    return {
        "queries": len(times),
        "searches_per_s": len(times) / sum(times),
        "search_ms_median": 1000 * times[len(times) // 2],
        "search_ms_99": 1000 * times[len(times) * 99 // 100],
    }


# Beside the original

Sessions = list[tuple[int, list[str]]]
"""The number of each session's goal, and what is done."""


def beside(engine: str, files: CatalogueFiles, count: int) -> dict[str, Any]:
    """The same sessions there and here, in turns, so that a machine that is slow for a while is slow for both."""
    sessions = planned(small_shop(files), count)
    search = ShopSearch.make(small_shop(files).shop)
    asins = [product.asin for product in read_products(files)]
    queries = {
        found[1] for _, actions in sessions for each in actions if (found := re.fullmatch(r"search\[(.+)]", each))
    }
    asked = {
        "engine": engine,
        "data": [str(path.resolve()) for path in (files.products, files.attributes, files.human) if path],
        "found": {query: [asins[number] for number in search.search(query, MOST)] for query in queries},
    }
    command = [os.environ.get("EAPO_WEBSHOP_PYTHON") or sys.executable, "-W", "ignore"]
    original = subprocess.Popen(
        [*command, str(Path(__file__).with_name("webshop_original.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUTF8": "1"},
    )
    nouns = ask(original, asked)["nouns"]
    env = WebShopEnv(shop=small_shop(files), split="test")
    theirs: list[dict[str, Any]] = []
    ours: list[dict[str, Any]] = []
    turn = -(-len(sessions) // ROUNDS)
    for start in range(0, len(sessions), turn):
        theirs.append(ask(original, sessions[start : start + turn]))
        ours.append(replay(env, sessions[start : start + turn]))
    original.communicate(timeout=60)
    pages = zip(*([page for turn in turns for page in turn["pages"]] for turns in (theirs, ours)), strict=True)
    return {
        "nouns_of_the_original": nouns,
        "sessions": len(sessions),
        "steps": sum(turn["steps"] for turn in ours),
        "pages": sum(len(turn["pages"]) for turn in ours),
        "pages_that_differ": sum(there != here for there, here in pages),
        "original": summed(theirs, len(sessions)),
        "native": summed(ours, len(sessions)),
    }


def planned(shop: OpenShop, count: int) -> Sessions:
    """What a random customer does in as many sessions, each for another goal."""
    env, chance = WebShopEnv(shop=shop, split="test"), Random(2)
    sessions = []
    for task in env.tasks()[:count]:
        obs, info = env.reset(options={"task": task})
        words = words_of(obs)
        actions: list[str] = []
        over = False
        while not over and len(actions) < STEPS:
            actions.append(some_action(info, words, chance))
            _, _, over, _, info = env.step(actions[-1])
        sessions.append((int(task.rpartition("/")[2]), actions))
    return sessions


def ask(original: subprocess.Popen[str], asked: object) -> Any:
    assert original.stdin
    assert original.stdout
    original.stdin.write(json.dumps(asked) + "\n")
    original.stdin.flush()
    line = original.stdout.readline()
    if not line:
        raise SystemExit("The original has ended: what it said is above. Does EAPO_WEBSHOP_PYTHON have its packages?")
    return json.loads(line)


def replay(env: WebShopEnv, sessions: Sessions) -> dict[str, Any]:
    """What webshop_original.py does there."""
    resetting = stepping = 0.0
    steps = 0
    pages = []
    for goal, actions in sessions:
        began = time.perf_counter()
        obs, _ = env.reset(options={"task": f"{env.split}/{goal}"})
        resetting += time.perf_counter() - began
        pages.append(obs["state"])
        began = time.perf_counter()
        for action in actions:
            obs, _, _, _, _ = env.step(action)
            pages.append(obs["state"])
        stepping += time.perf_counter() - began
        steps += len(actions)
    digests = [blake2b(page.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest() for page in pages]
    return {"resets_s": resetting, "steps_s": stepping, "steps": steps, "pages": digests}


def summed(turns: Sequence[dict[str, Any]], sessions: int) -> dict[str, float]:
    return {
        "steps_per_s": sum(turn["steps"] for turn in turns) / sum(turn["steps_s"] for turn in turns),
        "resets_per_s": sessions / sum(turn["resets_s"] for turn in turns),
    }


# The full catalogue


@contextmanager
def full_folder(name: str, products: int, said: Console) -> Iterator[Path]:
    """The folder with the catalogue, which is built unless it is there; without a name, for this run alone."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(name or temporary)
        if (folder / BUILT).is_file():
            built = json.loads((folder / BUILT).read_text(encoding="utf-8"))["products"]
            if built != products:
                raise SystemExit(f"{folder} has {built:,} products: say --products {built}, or name another folder.")
        else:
            said.print(f"building {products:,} products in {folder}")
            in_a_process(build, folder, products)
        yield folder


def in_a_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """Done by a process of its own, so that its memory can be measured."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def build(folder: Path, products: int) -> None:
    began = time.perf_counter()
    store = build_store(
        folder / STORE,
        generated(products),
        f"synthetic, {products:,} products",
        progress=progress("products", products),
    )
    between = time.perf_counter()
    ShopSearch.build(folder / INDEX, store, progress("search index", products))
    ended = time.perf_counter()
    record = {
        "products": products,
        "goals": store.note["goals"],
        "store_s": between - began,
        "index_s": ended - between,
        "store_mb": size_mb(folder / STORE),
        "index_mb": size_mb(folder / INDEX),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "machine": machine(),
    }
    (folder / BUILT).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def progress(what: str, products: int) -> Callable[[int], None]:
    """Says every twentieth part."""
    said = 0

    def tell(done: int) -> None:
        nonlocal said
        if done * 20 // products > said:
            said = done * 20 // products
            print(f"  {what}: {done:,} of {products:,}", flush=True)

    return tell


def size_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def full(folder: Path, queries: int, processes: int, said: Console) -> dict[str, Any]:
    said.print(f"the full catalogue: {queries:,} queries in a process alone")
    alone = in_a_process(search_alone, folder, queries)
    said.print(f"the full catalogue: {processes} processes that share it")
    context = multiprocessing.get_context("spawn")
    pipes, workers = [], []
    for number in range(processes):
        here, there = context.Pipe()
        pipes.append(here)
        workers.append(context.Process(target=share, args=(folder, number, there)))
        workers[-1].start()
    for pipe in pipes:
        pipe.recv()  # it has played, and stays until all have been measured
    for pipe in pipes:
        pipe.send("measure")
    memories = [pipe.recv() for pipe in pipes]
    for pipe, worker in zip(pipes, workers, strict=True):
        pipe.send("end")
        worker.join()
    memory = {name: max(each[name] for each in memories) for name in memories[0]}
    return {
        "build": json.loads((folder / BUILT).read_text(encoding="utf-8")),
        **alone,
        "processes": processes,
        "memory_of_the_largest": memory,
    }


def search_alone(folder: Path, queries: int) -> dict[str, Any]:
    began = time.perf_counter()
    shop, search = open_full(folder)
    opened = time.perf_counter() - began
    env = WebShopEnv(shop=shop)
    env.reset(seed=0)
    ready = time.perf_counter() - began
    searches = cold_searches(search, queries_for(some_products(shop, 5 * queries), queries))
    return {"open_s": opened, "first_page_s": ready, **searches, **played(env, ANYWHERE)}


def open_full(folder: Path) -> tuple[OpenShop, ShopSearch]:
    store = open_store(folder / STORE)
    search = ShopSearch.open(folder / INDEX, store)
    return OpenShop(store, search), search


def some_products(shop: OpenShop, count: int, seed: int = 0) -> list[Product]:
    numbers = Random(seed).sample(range(len(shop.shop)), min(count, len(shop.shop)))
    return [shop.shop.product(number) for number in numbers]


def share(folder: Path, number: int, pipe: Connection) -> None:
    """One of several processes: it searches and plays, and says what memory it has when all have."""
    before = own_memory()
    shop, search = open_full(folder)
    for query in queries_for(some_products(shop, 500, number), 400):
        search.search(query, MOST)
    played(WebShopEnv(shop=shop), ANYWHERE)
    pipe.send("ready")
    pipe.recv()
    after = own_memory()
    pipe.send({**after, "private_mb_before": before["private_mb"]})
    pipe.recv()


def own_memory() -> dict[str, float]:
    """What this process alone has in memory, and with it its share of the files that several have mapped.

    Pages of a file that nobody else has looked at yet are no memory of its own: they are given back when it is needed.
    """
    rollup = Path("/proc/self/smaps_rollup")
    if not rollup.is_file():  # not Linux
        memory = psutil.Process().memory_full_info().uss / 2**20
        return {"private_mb": memory, "pss_mb": memory}
    lines = (line.split() for line in rollup.read_text(encoding="utf-8").splitlines()[1:])
    kilobytes = {words[0].rstrip(":"): int(words[1]) for words in lines}
    return {"private_mb": kilobytes["Private_Dirty"] / 1024, "pss_mb": kilobytes["Pss"] / 1024}


# What is shown


def tables(result: dict[str, Any]) -> Table:
    table = Table(title=f"WebShop, {machine()['cpu']}")
    places = {**result["small"], **({"full": result["full"]} if "full" in result else {})}
    if "beside" in result:
        places |= {f"in turns: {who}": result["beside"][who] for who in ("original", "native")}
    names = list(dict.fromkeys(name for place in places.values() for name in place if shown(place[name])))
    table.add_column("")
    for place in places:
        table.add_column(place, justify="right")
    for name in names:
        table.add_row(name, *(f"{place[name]:,.3g}" if name in place else "–" for place in places.values()))
    for name, value in result.get("full", {}).get("memory_of_the_largest", {}).items():
        table.add_row(f"full, {name}", *["–"] * (len(places) - 1), f"{value:,.0f}")
    return table


def shown(value: object) -> bool:
    return isinstance(value, float)


if __name__ == "__main__":
    main()
