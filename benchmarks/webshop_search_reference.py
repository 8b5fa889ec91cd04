"""What the original's search engine finds: pyserini's, run by `webshop_search.py` in a Python that has it.

    python benchmarks/webshop_search_reference.py FOLDER MOST

The folder holds documents/*.jsonl and queries.json; hits.json is written there, the ids of the first so many per query.
"""

import json
import subprocess
import sys
from pathlib import Path


def main() -> None:
    folder, most = Path(sys.argv[1]), int(sys.argv[2])
    subprocess.run(
        [
            *(sys.executable, "-m", "pyserini.index.lucene", "--collection", "JsonCollection"),
            *("--input", str(folder / "documents"), "--index", str(folder / "reference")),
            *("--generator", "DefaultLuceneDocumentGenerator", "--threads", "1"),
            *("--storePositions", "--storeDocvectors", "--storeRaw"),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    from pyserini.search.lucene import LuceneSearcher

    searcher = LuceneSearcher(str(folder / "reference"))
    queries = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    hits = [[hit.docid for hit in searcher.search(query, k=most)] for query in queries]
    (folder / "hits.json").write_text(json.dumps(hits), encoding="utf-8")


if __name__ == "__main__":
    main()
