"""Record what the benchmark's own engine says about the small catalogue: python -m tests.envs.webshop.record_original.

Needs the engine, as the tests that ask it do (see original.py).
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from eapo_gym.envs.webshop.catalogue import read_products
from eapo_gym.envs.webshop.store import MemoryCatalogue
from tests.envs.webshop.original import ask_original, some_purchases
from tests.envs.webshop.small_catalogue import write_files

RECORD = Path(__file__).with_name("recorded_original.json")
PURCHASES = 150


def main() -> None:
    record = {}
    with TemporaryDirectory() as folder:
        files = write_files(Path(folder))
        shop = MemoryCatalogue(read_products(files), "small")
        for kind in ("synthetic", "human"):
            purchases = some_purchases(shop, kind == "human", PURCHASES, seed=5)
            answer = ask_original(files, kind == "human", purchases)
            record[kind] = {"purchases": purchases, "answer": answer}
    RECORD.write_text(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
