"""Metrics of LibreOffice's settings, which are items of properties in one XML file of the user's profile."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping
from typing import Any

from eapo_gym.envs.osworld.judging.office.guard import FilePath, xml_root

REGISTRY = "{http://openoffice.org/2001/registry}"
FONTS = "/org.openoffice.Office.Writer/DefaultFont"
START = "/org.openoffice.Office.Impress/Misc/Start"
SAVING = "/org.openoffice.Office.Common/Save/Document"


def settings(path: FilePath, item: str, name: str) -> Iterator[str]:
    """The values of a property, in the order of the file; `item` may be the end of the item's path."""
    for each in xml_root(path).iter("item"):
        if each.get(f"{REGISTRY}path", "").endswith(item):
            for property_ in each.iterfind("prop"):
                if property_.get(f"{REGISTRY}name") == name:
                    yield property_.findtext("value") or ""


def find_default_font(result: FilePath | None, rules: Mapping[str, Any]) -> float:
    """1 if this is Writer's font for ordinary text."""
    return float(bool(result) and [*settings(result or "", FONTS, "Standard")][-1:] == [rules["font_name"]])


def check_presenter_console_disable(result: FilePath | None) -> float:
    """1 if Impress does not open the presenter's console."""
    return float(bool(result) and next(settings(result or "", START, "EnablePresenterScreen"), "").lower() == "false")


def check_auto_saving_time(result: FilePath | None, rules: Mapping[str, Any]) -> float:
    """1 if files are saved by themselves after so many minutes."""
    times = [*settings(result, SAVING, "AutoSaveTimeIntervall")] if result else []
    return float(bool(times) and times[-1].strip().lstrip("-").isdigit() and int(times[-1]) == rules["minutes"])


def check_libre_locale(result: FilePath | None, rules: Mapping[str, Any]) -> float:
    """1 if the locale, or else the language of the menus, is one of these patterns."""
    if not result:
        return 0.0
    locales = [*settings(result, "L10N", "ooSetupSystemLocale"), *settings(result, "L10N", "ooLocale")]
    return float(bool(locales) and any(fnmatch.fnmatchcase(locales[0], pattern) for pattern in rules["locale_set"]))


METRICS = {
    "find_default_font": find_default_font,
    "check_presenter_console_disable": check_presenter_console_disable,
    "check_auto_saving_time": check_auto_saving_time,
    "check_libre_locale": check_libre_locale,
}
