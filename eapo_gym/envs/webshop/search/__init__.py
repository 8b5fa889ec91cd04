"""The search of WebShop: BM25 as Lucene computes it, in NumPy, with the same results in the same order."""

from eapo_gym.envs.webshop.search.engine import ShopSearch
from eapo_gym.envs.webshop.search.index import SearchIndexError

__all__ = ["SearchIndexError", "ShopSearch"]
