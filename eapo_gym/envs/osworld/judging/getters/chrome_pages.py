"""What the browser shows: its tabs, and what stands in its address bar.

Checks that load pages of websites anew, or read what stands on them, say that they need a network.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, unquote, urlparse

from eapo_gym.envs.osworld.judging.registry import CannotJudge, Getter, Scene
from eapo_gym.envs.osworld.tasks import TaskFileError

TABS = """
import json, urllib.request
nothing_between = urllib.request.build_opener(urllib.request.ProxyHandler({}))
for port in (1337, 9222):
    try:
        tabs = json.load(nothing_between.open("http://localhost:%d/json/list" % port, timeout=10))
    except OSError:
        continue
    print(json.dumps([{"title": tab["title"], "url": tab["url"]} for tab in tabs if tab["type"] == "page"]))
    break
"""
"""Runs on the machine: the tasks start the browser with the first port and pass the second on to it."""

BROWSERS = ("Google Chrome", "Chromium")
ADDRESS_BAR = "Address and search bar"


def open_tabs_info(scene: Scene, config: Mapping[str, Any]) -> list[dict[str, str]]:
    """Title and address of all tabs; none where the browser does not answer."""
    said = scene.computer.execute(["python3", "-c", TABS]).output.strip()
    tabs: list[dict[str, str]] = json.loads(said) if said else []
    return tabs


def active_url(scene: Scene, config: Mapping[str, Any]) -> str | None:
    """What stands in the address bar, behind a prefix (the bar leaves "https://" out); None where there is none."""
    written = [
        entry.text
        for application in scene.computer.tree().walk()
        if application.role == "application" and application.name in BROWSERS
        for entry in application.walk()
        if entry.role == "entry" and entry.name == ADDRESS_BAR
    ]
    if not written or not written[-1]:
        return None
    return f"{config.get('goto_prefix', 'https://')}{written[0]}"


def active_tab_info(scene: Scene, config: Mapping[str, Any]) -> dict[str, str] | None:
    """Title and address of the tab in front: the benchmark loads its page a second time, here the tab is asked."""
    address = active_url(scene, config)
    if address is None:
        return None
    tabs = open_tabs_info(scene, config)
    return next((tab for tab in tabs if _plain(tab["url"]) == _plain(address)), {"title": "", "url": address})


def active_tab_url_parse(scene: Scene, config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Fields of the query in the address, some under other names."""
    address = active_url(scene, config)
    if address is None:
        return None
    asked = parse_qs(urlparse(address).query)
    names = config.get("replace", {})
    found = {names.get(key, key): asked.get(key, [""])[0] for key in config["parse_keys"]}
    return {key: value.split(",") for key, value in found.items()} if config.get("split_list", False) else found


def url_dash_part(scene: Scene, config: Mapping[str, Any]) -> str | dict[str, str] | None:
    """One part of the address, between two slashes."""
    address = active_url(scene, config)
    parts = [] if address is None else address.split("/")
    if int(config["partIndex"]) >= len(parts):
        return None
    part = parts[int(config["partIndex"])]
    if config.get("needDeleteId", False):
        part = part.split("?")[0]
    if config["returnType"] == "string":
        return part
    if config["returnType"] == "json":
        return {str(config["key"]): part}
    raise TaskFileError(f"A part of an address is to be {config['returnType']!r}: expected 'string' or 'json'.")


def macys_product_url_parse(scene: Scene, config: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a shop's address says of the shirts that it shows; None for what it does not say."""
    address = active_url(scene, config)
    if address is None:
        return None
    path = unquote(urlparse(address).path)
    parts = path.strip("/").split("/")
    said: dict[str, str] = {}
    for names, values in pairwise(parts):
        if "," in names and "," in values:
            pairs = zip(names.split(","), values.split(","), strict=False)
            said = {name.strip(): value.strip() for name, value in pairs}
            break
    shirts = "shirts" in path or said.get("Product_department") in ("shirts", "Shirts", "Shirt")
    short = "short-sleeve" in path or said.get("Sleeve_length") in ("short-sleeve", "Short Sleeve")
    found: dict[str, Any] = {
        "mens_clothing": "mens-clothing" in path or None,
        "shirts": shirts or None,
        "short_sleeve": short or None,
    }
    for key in config["parse_keys"]:
        if key == "Price_discount_range":
            discounts = {one.strip() for one in said.get(key, "").split("|")}
            half = "50_PERCENT_ off & more"
            less = {"30_PERCENT_ off & more", "20_PERCENT_ off & more"}
            found[key] = half if half in discounts and not discounts & less else f"not_{half}"
        elif key in said or key == "Men_regular_size_t":
            found[key] = said.get(key) or None
    return found


def _plain(address: str) -> str:
    return unquote(address).rstrip("/")


def _refusing(what: str, needs: str) -> Getter:
    def refuse(scene: Scene, config: Mapping[str, Any]) -> Any:
        raise CannotJudge(
            f"{what} needs {needs}: judge this task on the benchmark's machine with the benchmark's code."
        )

    return refuse


WEBSITE = "a network and a driven browser"

GETTERS: dict[str, Callable[[Scene, Mapping[str, Any]], Any]] = {
    "open_tabs_info": open_tabs_info,
    "active_url_from_accessTree": active_url,
    "active_tab_info": active_tab_info,
    "active_tab_url_parse": active_tab_url_parse,
    "url_dashPart": url_dash_part,
    "macys_product_url_parse": macys_product_url_parse,
    "url_path_parse": macys_product_url_parse,
    "info_from_website": _refusing("Reading a website for what is wanted (info_from_website)", WEBSITE),
    "page_info": _refusing("Loading a page to look at it (page_info)", WEBSITE),
    "pdf_from_url": _refusing("Printing a page of a website (pdf_from_url)", WEBSITE),
    "active_tab_html_parse": _refusing("Reading the page in front (active_tab_html_parse)", WEBSITE),
    "number_of_search_results": _refusing("Asking a search engine (number_of_search_results)", WEBSITE),
    "gotoRecreationPage_and_get_html_content": _refusing("Asking recreation.gov for its next free day", WEBSITE),
    "googledrive_file": _refusing("Looking into Google Drive (googledrive_file)", "a network and a Google account"),
}
