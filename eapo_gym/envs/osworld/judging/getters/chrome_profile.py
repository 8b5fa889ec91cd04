"""What the browser's profile says: its files are read, the browser itself is not asked.

What is answered where a file or a value is missing is the browser's own default, as the benchmark has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from eapo_gym.envs.osworld.judging.getters.files import folder_tree, one_from_machine
from eapo_gym.envs.osworld.judging.registry import Scene, Unreadable
from eapo_gym.envs.osworld.judging.safe_files import database_rows, json_of

PROFILES = (".config/google-chrome", ".config/chromium")
"""Where a profile may be, below the home directory: the benchmark's browser has the first."""

FONT_SIZES = {"default_fixed_font_size": 13, "default_font_size": 16, "minimum_font_size": 13}


def profile_file(scene: Scene, name: str) -> str:
    """The path of a file of the profile on the machine, of the first profile that has it."""
    paths = [str(scene.computer.home / profile / name) for profile in PROFILES]
    for path in paths:
        if scene.computer.read_file(path) is not None:
            return path
    return paths[0]


def settings(scene: Scene, name: str = "Default/Preferences") -> Mapping[str, Any] | None:
    """A file of settings; None where there is none that can be read."""
    written = scene.computer.read_file(profile_file(scene, name))
    if written is None:
        return None
    try:
        said = json_of(written, name)
    except Unreadable:
        return None
    return said if isinstance(said, Mapping) else None


def default_search_engine(scene: Scene, config: Mapping[str, Any]) -> Any:
    return _at(settings(scene), "default_search_provider_data", "template_url_data", "short_name", otherwise="Google")


def profile_name(scene: Scene, config: Mapping[str, Any]) -> Any:
    return _at(settings(scene), "profile", "name", otherwise=None)


def enabled_experiments(scene: Scene, config: Mapping[str, Any]) -> Any:
    return _at(settings(scene, "Local State"), "browser", "enabled_labs_experiments", otherwise=[])


def chrome_language(scene: Scene, config: Mapping[str, Any]) -> Any:
    return _at(settings(scene, "Local State"), "intl", "app_locale", otherwise="en-US")


def chrome_font_size(scene: Scene, config: Mapping[str, Any]) -> Any:
    return _at(settings(scene), "webkit", "webprefs", otherwise=FONT_SIZES)


def enable_do_not_track(scene: Scene, config: Mapping[str, Any]) -> str:
    return _yes(_at(settings(scene), "enable_do_not_track", otherwise=False))


def enable_enhanced_safety_browsing(scene: Scene, config: Mapping[str, Any]) -> str:
    return _yes(_at(settings(scene), "safebrowsing", "enhanced", otherwise=False))


def enable_safe_browsing(scene: Scene, config: Mapping[str, Any]) -> str:
    kept = settings(scene)
    return _yes(any(_at(kept, "safebrowsing", which, otherwise=False) for which in ("enhanced", "enabled")))


def new_startup_page(scene: Scene, config: Mapping[str, Any]) -> str:
    """Whether the browser starts with a new tab: a profile that says nothing of it does."""
    kept = settings(scene)
    if kept is None:
        return "false"
    return _yes("session" not in kept or _at(kept, "session", "restore_on_startup", otherwise=None) == 5)


def data_delete_automacally(scene: Scene, config: Mapping[str, Any]) -> str:  # the benchmark's spelling
    """Whether any kind of site data has a setting other than the default."""
    return _yes(_at(settings(scene), "profile", "default_content_setting_values", otherwise=None) is not None)


def find_unpacked_extension_path(scene: Scene, config: Mapping[str, Any]) -> list[Any]:
    """The folders of all extensions."""
    return [extension.get("path") for extension in _extensions(scene)]


def find_installed_extension_name(scene: Scene, config: Mapping[str, Any]) -> list[Any]:
    """The names of all extensions."""
    return [_at(extension, "manifest", "name", otherwise=None) for extension in _extensions(scene)]


def bookmarks(scene: Scene, config: Mapping[str, Any]) -> Any:
    """The bookmarks' roots; an empty list where there are no bookmarks."""
    return _at(settings(scene, "Default/Bookmarks"), "roots", otherwise=[])


def cookie_data(scene: Scene, config: Mapping[str, Any]) -> list[tuple[Any, ...]] | None:
    return _rows(scene, "Default/Cookies", config, "SELECT * FROM cookies")


def history(scene: Scene, config: Mapping[str, Any]) -> list[tuple[Any, ...]] | None:
    return _rows(scene, "Default/History", config, "SELECT url, title, last_visit_time FROM urls")


def shortcuts_on_desktop(scene: Scene, config: Mapping[str, Any]) -> dict[str, str]:
    """The starters on the desktop, by their file's name."""
    desktop = scene.computer.home / "Desktop"
    try:
        names = [str(node["name"]) for node in folder_tree(scene, str(desktop))["children"]]
    except FileNotFoundError:
        return {}
    starters = {name: scene.computer.read_file(str(desktop / name)) for name in names if name.endswith(".desktop")}
    return {name: written.decode(errors="replace") for name, written in starters.items() if written is not None}


def _extensions(scene: Scene) -> list[Mapping[str, Any]]:
    known = _at(settings(scene), "extensions", "settings", otherwise={})
    return [one for one in known.values() if isinstance(one, Mapping)] if isinstance(known, Mapping) else []


def _rows(scene: Scene, name: str, config: Mapping[str, Any], query: str) -> list[tuple[Any, ...]] | None:
    """What a query of ours finds in one of the profile's databases; None where it is not there."""
    dest = str(config.get("dest", PurePosixPath(name).name))
    try:
        return database_rows(one_from_machine(scene, profile_file(scene, name), dest), query)
    except Unreadable:
        return None


def _at(value: object, *keys: str, otherwise: Any) -> Any:
    """What stands at the end of a path of keys."""
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            return otherwise
        value = value[key]
    return value


def _yes(value: object) -> str:
    return "true" if value else "false"


GETTERS: dict[str, Callable[[Scene, Mapping[str, Any]], Any]] = {
    one.__name__: one
    for one in (
        default_search_engine,
        profile_name,
        enabled_experiments,
        chrome_language,
        chrome_font_size,
        enable_do_not_track,
        enable_enhanced_safety_browsing,
        enable_safe_browsing,
        new_startup_page,
        data_delete_automacally,
        find_unpacked_extension_path,
        find_installed_extension_name,
        bookmarks,
        cookie_data,
        history,
        shortcuts_on_desktop,
    )
}
