"""What WebShop needs, and what of it is on this machine."""

from __future__ import annotations

import os
from importlib.util import find_spec

from eapo_gym.envs.needs import Need
from eapo_gym.envs.webshop.generator import VERSION
from eapo_gym.envs.webshop.nouns import FROM_INDEX, OFFICIAL
from eapo_gym.envs.webshop.opening import DATA_VARIABLE, DOWNLOAD, EMBEDDED, STORE, data_folder
from eapo_gym.envs.webshop.store import open_store
from eapo_gym.errors import EapoError


def needs() -> list[Need]:
    return [
        Need("native shop", True, "built in"),
        Need("embedded catalogue", True, f"{EMBEDDED:,} products (generator version {VERSION})"),
        _official_catalogue(),
        _nouns(),
    ]


def _official_catalogue() -> Need:
    said = f"${DATA_VARIABLE}" if os.environ.get(DATA_VARIABLE) else f"${DATA_VARIABLE} is not set"
    folder = data_folder() / STORE
    try:
        catalogue = open_store(folder)
    except (EapoError, OSError) as error:
        detail = f"not at {folder} ({said})" if isinstance(error, FileNotFoundError) else str(error)
        return Need("official catalogue", False, detail, DOWNLOAD, optional=True)
    return Need("official catalogue", True, f"{folder} ({said}): {catalogue.label}", optional=True)


def _nouns() -> Need:
    here = find_spec("spacy") is not None and any(map(find_spec, (OFFICIAL, FROM_INDEX)))
    detail = "spaCy and its English model" if here else "by rules, which agree with spaCy's model for most titles"
    return Need("the reward's nouns", here, detail, "" if here else "pip install 'eapo-gym[webshop]'", optional=True)
