"""The browser: its tabs, bookmarks, history, settings, and a page that it saved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import ParseResult, urlparse, urlunparse

from eapo_gym.envs.osworld.judging.safe_files import text
from eapo_gym.envs.osworld.tasks import TaskFileError
from eapo_gym.errors import MissingExtra

SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+\-.]*://")
ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){3}")
SECOND_LEVEL = frozenset(("ac", "co", "com", "edu", "go", "gob", "gov", "gv", "mil", "ne", "net", "nom", "or", "org"))
"""What countries have below their own domain: "com.sg" is as much an ending as "com"."""


def same_address(one: str | None, other: str | None) -> bool:
    """Whether two addresses are the same but for "www", the ending of the domain (.com, .co.uk, …) and a last slash."""
    return one == other if one is None or other is None else _plain(one) == _plain(other)


def _plain(address: str) -> str:
    parsed = urlparse(address if SCHEME.match(address) else f"http://{address}")
    return urlunparse(
        ParseResult(
            parsed.scheme.lower(),
            _site(parsed.netloc.lower()),
            parsed.path if parsed.path != "/" else "",
            parsed.params,
            parsed.query,
            parsed.fragment,
        )
    )


def _site(host: str) -> str:
    """A host without its ending: the benchmark has a list of all, here the usual ones are known by their form."""
    host = host.rpartition("@")[2].partition(":")[0].strip(".")
    if ADDRESS.fullmatch(host):
        return host
    labels = host.split(".")
    ending = 0
    if len(labels) > 1:
        country = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in SECOND_LEVEL
        ending = 2 if country else 1
    kept = labels[: len(labels) - ending]
    return ".".join(kept[1:] if len(kept) == 2 and kept[0] == "www" else kept)


def is_expected_active_tab(tab: Any, rule: Mapping[str, Any]) -> float:
    if not tab or rule["type"] != "url":
        return 0.0
    return float(same_address(rule["url"], _address(tab)))


def is_expected_active_tab_approximate(tab: Any, rule: Mapping[str, Any]) -> float:
    """Whether the address is this, whatever is asked for behind "?"."""
    if not tab or rule["type"] != "url":
        return 0.0
    bare = [urlunparse(urlparse(address)._replace(query="")) for address in (rule["url"], _address(tab))]
    return float(bare[0] == bare[1])


def is_expected_url_pattern_match(tab: Any, rules: Mapping[str, Any]) -> float:
    """Whether the address has all patterns."""
    address = _address(tab) if tab else None
    return float(address is not None and all(re.search(pattern, address) for pattern in rules["expected"]))


def is_expected_search_query(tab: Any, rules: Mapping[str, Any]) -> float:
    return float(bool(tab) and re.search(rules["expect"]["pattern"], tab["url"]) is not None)


def is_expected_tabs(tabs: Sequence[Mapping[str, str]], rule: Mapping[str, Any]) -> float:
    """Whether as many tabs are open as are expected, and each of those is among them."""
    if not tabs or rule["type"] != "url":
        return 0.0
    wanted, found = rule["urls"], [tab["url"] for tab in tabs]
    return float(len(wanted) == len(found) and all(any(same_address(a, b) for b in found) for a in wanted))


def is_expected_installed_extensions(installed: Sequence[str], rules: Mapping[str, Any]) -> float:
    return float(bool(installed) and set(rules["expected"]) <= set(installed))


def is_expected_bookmarks(roots: Mapping[str, Any], rule: Mapping[str, Any]) -> float:
    """Whether the bar of bookmarks has exactly these folders or pages, or "Liked Authors" in it one page of each."""
    if not roots:
        return 0.0
    bar = roots["bookmark_bar"]["children"]
    if rule["type"] == "bookmark_bar_folders_names":
        return float({one["name"] for one in bar if one["type"] == "folder"} == set(rule["names"]))
    if rule["type"] == "bookmark_bar_websites_urls":
        return float(_pages(bar) == set(rule["urls"]))
    if rule["type"] == "liked_authors_websites_urls":
        folders = (one for one in bar if one["type"] == "folder" and one["name"] == "Liked Authors")
        folder = next(folders, None)
        choices = ([urls] if isinstance(urls, str) else urls for urls in rule["urls"])
        return float(folder is not None and any(set(one) == _pages(folder["children"]) for one in product(*choices)))
    raise _unknown("is_expected_bookmarks", rule)


def is_cookie_deleted(cookies: Sequence[Sequence[Any]], rule: Mapping[str, Any]) -> float:
    """Whether no cookie of these sites is left."""
    if rule["type"] != "domains":
        raise _unknown("is_cookie_deleted", rule)
    hosts = [cookie[1] for cookie in cookies]
    return float(not any(same_address(domain, host) for domain in rule["domains"] for host in hosts))


def check_history_deleted(visits: Sequence[Sequence[Any]], rule: Mapping[str, Any]) -> float:
    """Whether no address that was visited has one of the words."""
    if rule["type"] != "keywords":
        raise _unknown("check_history_deleted", rule)
    return float(not any(word in visit[0] for word in rule["keywords"] for visit in visits))


def is_shortcut_on_desktop(starters: Mapping[str, str], rule: Mapping[str, Any]) -> float:
    """Whether a starter on the desktop has this name, or starts this."""
    keys = {"name": "Name", "exec": "Exec"}
    if rule["type"] not in keys:
        raise _unknown("is_shortcut_on_desktop", rule)
    line = f"{keys[rule['type']]}={rule[rule['type']]}\n"
    return float(any(line in written for written in starters.values()))


def check_enabled_experiments(experiments: Sequence[str], rule: Mapping[str, Any]) -> float:
    if rule["type"] != "names":
        raise _unknown("check_enabled_experiments", rule)
    return float([one.split("@")[0] for one in experiments] == rule["names"])


def check_font_size(sizes: Mapping[str, Any], rule: Mapping[str, Any]) -> float:
    size = sizes["default_font_size"]
    if rule["type"] == "value":
        return float(size == rule["value"])
    if rule["type"] == "range":
        return float(rule["min"] < size < rule["max"])
    raise _unknown("check_font_size", rule)


def is_added_to_steam_cart(page: Mapping[str, str], rule: Mapping[str, Any]) -> float:
    return float(all(item in page["content"] for item in rule["items"]))


def compare_htmls(result: Path | None, expected: Path, *, ignore_sdnum: bool | None = None) -> float:
    """Whether two pages have the same elements and texts, one after the other, as far as the shorter goes."""
    pieces = [list(_pieces(text(path))) for path in (result, expected)]
    for one, other in zip(*pieces, strict=False):
        if isinstance(one, str) or isinstance(other, str):
            if one != other:
                return 0.0
            continue
        if one[:2] != other[:2]:
            return 0.0
        if one[2] != other[2]:
            if ignore_sdnum:  # the benchmark stops here, whatever comes behind
                return float(_without_sdnum(one[2]) == _without_sdnum(other[2]))
            return 0.0
    return 1.0


def _pieces(page: str) -> Iterator[str | tuple[str, str, dict[str, str]]]:
    """Elements (name, text within, attributes) and texts in the order of the page."""
    try:
        from lxml import html
    except ImportError:
        raise MissingExtra.of("Comparing HTML pages", "osworld") from None

    def below(element: Any) -> Iterator[str | tuple[str, str, dict[str, str]]]:
        if not isinstance(element.tag, str):  # a comment
            yield element.text or ""
        else:
            yield element.tag, "".join(element.xpath(".//text()")).strip(), dict(element.attrib)
            if element.text:
                yield element.text
            for child in element:
                yield from below(child)
                if child.tail:
                    yield child.tail

    yield from below(html.document_fromstring(page))


def _without_sdnum(attributes: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in attributes.items() if key != "sdnum"}


def _address(tab: Any) -> Any:
    return tab.get("url") if isinstance(tab, Mapping) else tab


def _pages(bookmarks: Sequence[Mapping[str, Any]]) -> set[str]:
    return {one["url"] for one in bookmarks if one["type"] == "url"}


def _unknown(metric: str, rule: Mapping[str, Any]) -> TaskFileError:
    return TaskFileError(f"{metric} knows no rule of the type {rule['type']!r}.")


METRICS = {
    one.__name__: one
    for one in (
        is_expected_active_tab,
        is_expected_active_tab_approximate,
        is_expected_url_pattern_match,
        is_expected_search_query,
        is_expected_tabs,
        is_expected_installed_extensions,
        is_expected_bookmarks,
        is_cookie_deleted,
        check_history_deleted,
        is_shortcut_on_desktop,
        check_enabled_experiments,
        check_font_size,
        is_added_to_steam_cart,
        compare_htmls,
    )
}
