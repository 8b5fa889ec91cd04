"""What getters find on a machine."""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.envs.osworld.computer import Ran
from eapo_gym.envs.osworld.judging import CannotJudge, registry
from eapo_gym.envs.osworld.judging.registry import Unreadable
from eapo_gym.envs.osworld.tasks import TaskFileError
from eapo_gym.envs.osworld.tree import Node
from tests.envs.osworld.judging.machine import Machine, scene

CHROME = "/home/user/.config/google-chrome"


def get(
    name: str, cache: Path, machine: Machine | None = None, *, of: Mapping[str, Any] | None = None, **config: Any
) -> Any:
    return registry.getter(name)(scene(cache, machine, **(of or {})), {"type": name, **config})


def test_a_file_of_the_machine_is_copied(tmp_path: Path) -> None:
    machine = Machine({"/home/user/Desktop/a.txt": b"A"})
    path = get("vm_file", tmp_path, machine, path="/home/user/Desktop/a.txt", dest="a.txt")
    assert path.read_bytes() == b"A"
    del machine.files["/home/user/Desktop/a.txt"]
    assert get("vm_file", tmp_path, machine, path="/home/user/Desktop/a.txt", dest="a.txt") is None
    assert not path.exists(), "a copy of what is gone would be found by cache_file"


def test_of_several_files_the_first_is_given_unless_told(tmp_path: Path) -> None:
    machine = Machine({"/home/user/a": b"A", "/home/user/c": b"C"})
    config: dict[str, Any] = {"multi": True, "path": ["/home/user/a", "b", "c"], "dest": ["1", "2", "3"]}
    assert get("vm_file", tmp_path, machine, **config).read_bytes() == b"A"
    first, second, third = get("vm_file", tmp_path, machine, **config, gives=[0, 1, 2])
    assert (first.read_bytes(), second, third.read_bytes()) == (b"A", None, b"C")
    assert get("cache_file", tmp_path, machine, path="3").read_bytes() == b"C"


def test_the_time_may_stand_in_the_name(tmp_path: Path) -> None:
    clock = {"now": lambda: datetime(2024, 3, 5, 6, 7, 8, tzinfo=timezone.utc)}
    machine = Machine({"/home/user/a.txt": b"A"})
    path = get("vm_file", tmp_path, machine, of=clock, path="a.txt", dest="a.txt", time_suffix=True)
    assert path.name == "a_20240305_060708.txt"


@pytest.mark.parametrize("name", ["../out", "/etc/passwd", "a/../../out"])
def test_a_name_that_leads_out_of_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    machine = Machine({"/home/user/a": b"A"})
    with pytest.raises(TaskFileError, match="inside"):
        get("vm_file", tmp_path / "cache", machine, path="a", dest=name)
    with pytest.raises(TaskFileError, match="inside"):
        get("cache_file", tmp_path / "cache", path=name)
    with pytest.raises(TaskFileError, match="inside"):
        get("cloud_file", tmp_path / "cache", of={"beside": tmp_path}, path=name, dest="a")


def test_a_file_of_the_network_is_fetched_or_the_need_is_named(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("gold")
    asked: list[str] = []

    def download(address: str) -> Path:
        asked.append(address)
        return tmp_path / "kept"

    path = get("cloud_file", tmp_path, of={"download": download}, path="https://a/b", dest="gold.txt")
    assert (path.name, path.read_text(), asked) == ("gold.txt", "gold", ["https://a/b"])
    with pytest.raises(CannotJudge, match="network"):
        get("cloud_file", tmp_path, path="https://a/b", dest="gold.txt")


def test_a_folder_is_told_as_a_tree(tmp_path: Path) -> None:
    listed = "d\tin\0f\tin/b.jpg\0f\ta\nb.jpg\0l\tlink\0"
    machine = Machine(
        answer=lambda command: Ran(listed, "", 0) if command.startswith("find /home/user/d ") else Ran("", "", 1)
    )
    tree = get("list_directory", tmp_path, machine, path="~/d")
    assert tree == {
        "type": "directory",
        "name": "d",
        "children": [
            {"type": "directory", "name": "in", "children": [{"type": "file", "name": "b.jpg"}]},
            {"type": "file", "name": "a\nb.jpg"},
            {"type": "file", "name": "link"},
        ],
    }
    with pytest.raises(FileNotFoundError):
        get("list_directory", tmp_path, machine, path="/home/user/gone")


def test_the_last_row_of_a_workbook_is_read(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl writes workbooks, and is not installed")
    book = openpyxl.Workbook()
    for row in (["name", "n", "w"], ["a", 1, None], ["b", 2, 2.5], ["c", 3, None]):
        book.active.append(row)
    held = io.BytesIO()
    book.save(held)
    machine = Machine({"/home/user/t.xlsx": held.getvalue()})
    config = {"path": "/home/user/t.xlsx", "file_type": "xlsx", "file_content": "last_row"}
    assert get("content_from_vm_file", tmp_path, machine, **config) == ["c", "3", "nan"]
    with pytest.raises(TaskFileError, match="'csv'"):
        get("content_from_vm_file", tmp_path, machine, **(config | {"file_type": "csv"}))


def test_commands_say_what_they_write_and_what_they_complain_of(tmp_path: Path) -> None:
    machine = Machine(answer=lambda command: Ran("said\n", "complained\n", 1))
    assert get("vm_command_line", tmp_path, machine, command="x", shell="true") == "said\n"
    assert get("vm_command_error", tmp_path, machine, command=["x", "y"]) == "complained\n"
    assert machine.calls == [("execute", "x", True), ("execute", ["x", "y"], False)]


def terminal(text: str, active: bool, focused: bool) -> Node:
    part = Node("terminal", "Terminal", text, states=frozenset({"focused"} if focused else ()))
    frame = Node(
        "frame", "bash", states=frozenset({"active"} if active else ()), children=(Node("panel", children=(part,)),)
    )
    return Node("application", "gnome-terminal-server", children=(frame,))


def test_the_terminal_with_the_focus_is_read(tmp_path: Path) -> None:
    used, other = terminal("$ ls\na b\n$ \n", True, True), terminal("$ top", False, True)
    read = [
        get("vm_terminal_output", tmp_path, Machine(tree=Node("desktop-frame", children=children)))
        for children in ((other, used), (other,), ())
    ]
    assert read == ["$ ls\na b\n$", None, None]


def test_sizes_are_those_of_the_screen_and_of_a_window(tmp_path: Path) -> None:
    assert get("vm_screen_size", tmp_path) == {"width": 1920, "height": 1080}
    there = Machine(answer=lambda command: Ran('{"width": 800, "height": 600}\n', "", 0))
    assert get("vm_window_size", tmp_path, there, app_class_name="vlc") == {"width": 800, "height": 600}
    assert get("vm_window_size", tmp_path, Machine(), app_class_name="vlc") is None


def test_the_wallpaper_is_the_picture_that_the_settings_name(tmp_path: Path) -> None:
    machine = Machine(
        {"/home/user/my picture.png": b"P"}, answer=lambda _: Ran("'file:///home/user/my%20picture.png'\n", "", 0)
    )
    assert get("vm_wallpaper", tmp_path, machine, dest="w.png").read_bytes() == b"P"
    assert get("vm_wallpaper", tmp_path, Machine(), dest="w.png").read_bytes() == b""


def test_the_video_player_is_the_one_of_most_kinds(tmp_path: Path) -> None:
    machine = Machine(answer=lambda _: Ran("totem.desktop\nvlc.desktop\nvlc.desktop\n", "", 0))
    assert get("default_video_player", tmp_path, machine) == "vlc.desktop\n"
    assert get("default_video_player", tmp_path) == "unknown"


def test_settings_of_programs_are_copied(tmp_path: Path) -> None:
    home = "/home/user/.config"
    machine = Machine(
        {f"{home}/vlc/vlcrc": b"qt-bgcone=0", f"{home}/GIMP/2.10/gimprc": b"", f"{home}/Code/a.json": b"{}"}
    )
    assert get("vlc_config", tmp_path, machine, dest="vlcrc").read_bytes() == b"qt-bgcone=0"
    assert get("gimp_config_file", tmp_path, machine, file_name="gimprc", dest="gimprc") is None
    machine.files[f"{home}/GIMP/3.0/sessionrc"] = b"(hide-docks yes)"
    assert (
        get("gimp_config_file", tmp_path, machine, file_name="sessionrc", dest="s").read_bytes() == b"(hide-docks yes)"
    )


def test_a_command_of_vs_codes_palette_is_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eapo_gym.envs.osworld.judging.getters.apps.PALETTE_SECONDS", 0.0)
    machine = Machine({"/home/user/open.txt": b"project"})
    path = get(
        "vscode_config", tmp_path, machine, vscode_extension_command="Write It", path="/home/user/open.txt", dest="o"
    )
    assert path.read_bytes() == b"project"
    assert "Write It" in str(machine.calls[0])


def test_what_vlc_plays_is_what_its_web_interface_says(tmp_path: Path) -> None:
    there = Machine(answer=lambda _: Ran("<root/>", "", 0))
    assert get("vlc_playing_info", tmp_path, there, dest="status.xml").read_text() == "<root/>"
    gone = Machine(answer=lambda _: Ran("", "URLError", 1))
    assert get("vlc_playing_info", tmp_path, gone, dest="status.xml") is None


PREFERENCES = {
    "default_search_provider_data": {"template_url_data": {"short_name": "Bing"}},
    "profile": {"name": "Thomas", "default_content_setting_values": {"cookies": 4}},
    "webkit": {"webprefs": {"default_font_size": 20}},
    "enable_do_not_track": True,
    "safebrowsing": {"enhanced": True},
    "session": {"restore_on_startup": 1},
    "extensions": {"settings": {"a": {"path": "/home/user/x", "manifest": {"name": "X"}}, "b": {"path": "/y"}}},
}
STATE = {"browser": {"enabled_labs_experiments": ["a@1"]}, "intl": {"app_locale": "de"}}


@pytest.mark.parametrize(
    ("name", "told", "otherwise"),
    [
        ("default_search_engine", "Bing", "Google"),
        ("profile_name", "Thomas", None),
        ("data_delete_automacally", "true", "false"),
        (
            "chrome_font_size",
            {"default_font_size": 20},
            {"default_fixed_font_size": 13, "default_font_size": 16, "minimum_font_size": 13},
        ),
        ("enable_do_not_track", "true", "false"),
        ("enable_enhanced_safety_browsing", "true", "false"),
        ("enable_safe_browsing", "true", "false"),
        ("new_startup_page", "false", "false"),
        ("find_unpacked_extension_path", ["/home/user/x", "/y"], []),
        ("find_installed_extension_name", ["X", None], []),
        ("enabled_experiments", ["a@1"], []),
        ("chrome_language", "de", "en-US"),
    ],
)
@pytest.mark.parametrize("profile", ["google-chrome", "chromium"])
def test_the_browsers_settings_are_read(name: str, told: Any, otherwise: Any, profile: str, tmp_path: Path) -> None:
    folder = f"/home/user/.config/{profile}"
    files = {
        f"{folder}/Default/Preferences": json.dumps(PREFERENCES).encode(),
        f"{folder}/Local State": json.dumps(STATE).encode(),
    }
    assert get(name, tmp_path, Machine(files)) == told
    for broken in ({}, dict.fromkeys(files, b"{"), dict.fromkeys(files, b"[]")):
        assert get(name, tmp_path, Machine(broken)) == otherwise


def test_a_profile_that_says_nothing_of_it_starts_with_a_new_tab(tmp_path: Path) -> None:
    for said, found in (({}, "true"), ({"session": {"restore_on_startup": 5}}, "true"), ({"session": {}}, "false")):
        machine = Machine({f"{CHROME}/Default/Preferences": json.dumps(said).encode()})
        assert get("new_startup_page", tmp_path, machine) == found


def test_bookmarks_history_and_cookies_are_read(tmp_path: Path) -> None:
    database = tmp_path / "made"
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE urls (id INTEGER, url TEXT, title TEXT, last_visit_time INTEGER)")
    connection.execute("CREATE TABLE cookies (creation_utc INTEGER, host_key TEXT)")
    connection.execute("INSERT INTO urls VALUES (1, 'https://a', 'A', 7)")
    connection.execute("INSERT INTO cookies VALUES (1, '.a.com')")
    connection.commit()
    connection.close()
    held = database.read_bytes()
    files = {f"{CHROME}/Default/{name}": held for name in ("History", "Cookies")}
    machine = Machine(files | {f"{CHROME}/Default/Bookmarks": b'{"roots": {"bookmark_bar": {}}}'})
    assert get("history", tmp_path, machine, dest="h") == [("https://a", "A", 7)]
    assert get("cookie_data", tmp_path, machine, dest="c") == [(1, ".a.com")]
    assert get("bookmarks", tmp_path, machine) == {"bookmark_bar": {}}
    assert get("history", tmp_path, dest="h") is None
    assert get("bookmarks", tmp_path) == []


def test_starters_on_the_desktop_are_read(tmp_path: Path) -> None:
    machine = Machine(
        {"/home/user/Desktop/a.desktop": b"Name=A\n"}, answer=lambda _: Ran("f\ta.desktop\0f\tb.txt\0", "", 0)
    )
    assert get("shortcuts_on_desktop", tmp_path, machine) == {"a.desktop": "Name=A\n"}


def browser(address: str, name: str = "Google Chrome") -> Node:
    return Node(
        "desktop-frame",
        children=(Node("application", name, children=(Node("entry", "Address and search bar", address),)),),
    )


def test_the_address_is_read_from_the_address_bar(tmp_path: Path) -> None:
    for name in ("Google Chrome", "Chromium"):
        machine = Machine(tree=browser("chrome://settings", name))
        assert get("active_url_from_accessTree", tmp_path, machine, goto_prefix="") == "chrome://settings"
    assert get("active_url_from_accessTree", tmp_path, Machine(tree=browser("a.com/b"))) == "https://a.com/b"
    assert get("active_url_from_accessTree", tmp_path, Machine(tree=browser(""))) is None
    assert get("active_url_from_accessTree", tmp_path, Machine(tree=browser("a.com", "Firefox"))) is None


def test_parts_of_the_address_are_told_apart(tmp_path: Path) -> None:
    machine = Machine(tree=browser("a.com/one/two?id=3&from=A%20B&n=1,2"))
    assert get("active_tab_url_parse", tmp_path, machine, parse_keys=["from", "gone"]) == {"from": "A B", "gone": ""}
    replaced = get("active_tab_url_parse", tmp_path, machine, parse_keys=["n"], replace={"n": "m"}, split_list=True)
    assert replaced == {"m": ["1", "2"]}
    part = {"partIndex": -1, "needDeleteId": True}
    assert get("url_dashPart", tmp_path, machine, **part, returnType="string") == "two"
    assert get("url_dashPart", tmp_path, machine, **part, returnType="json", key="k") == {"k": "two"}
    assert get("url_dashPart", tmp_path, machine, partIndex=9, returnType="string") is None


def test_a_shops_address_says_what_it_shows(tmp_path: Path) -> None:
    filters = "Men_regular_size_t,Price_discount_range/L,50_PERCENT_%20off%20%26%20more"
    machine = Machine(tree=browser(f"www.macys.com/shop/mens-clothing/shirts/{filters}?id=1"))
    keys = ["Men_regular_size_t", "Price_discount_range"]
    assert get("url_path_parse", tmp_path, machine, parse_keys=keys) == {
        "mens_clothing": True,
        "shirts": True,
        "short_sleeve": None,
        "Men_regular_size_t": "L",
        "Price_discount_range": "50_PERCENT_ off & more",
    }


def test_the_tab_in_front_is_found_among_all(tmp_path: Path) -> None:
    tabs = [{"title": "B", "url": "https://b/"}, {"title": "A", "url": "https://a.com/x%20y/"}]
    machine = Machine(tree=browser("a.com/x y"), answer=lambda _: Ran(json.dumps(tabs), "", 0))
    assert get("open_tabs_info", tmp_path, machine) == tabs
    assert get("active_tab_info", tmp_path, machine) == tabs[1]
    assert get("open_tabs_info", tmp_path) == []


REFUSED = (
    *("info_from_website", "page_info", "pdf_from_url", "active_tab_html_parse", "number_of_search_results"),
    *("gotoRecreationPage_and_get_html_content", "googledrive_file"),
)


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_a_network_says_so(name: str, tmp_path: Path) -> None:
    with pytest.raises(CannotJudge, match="needs a network and a"):
        get(name, tmp_path)


SLIDE = """<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"
xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"
xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">{}</p:sld>"""
BACKGROUND = '<p:bg><p:bgPr><a:blipFill><a:blip r:embed="rId2"/></a:blipFill></p:bgPr></p:bg>'
RELATIONS = """<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Type="http://x/audio" Target="{audio}"/>
<Relationship Id="rId2" Type="http://x/image" Target="{image}"/></Relationships>"""


def presentation(audio: str, image: str, slide: str = BACKGROUND) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as parts:
        parts.writestr("ppt/slides/slide2.xml", SLIDE.format(slide))
        parts.writestr("ppt/slides/_rels/slide2.xml.rels", RELATIONS.format(audio=audio, image=image))
        parts.writestr("ppt/media/a.mp3", b"sound")
        parts.writestr("ppt/media/b.png", b"picture")
    return held.getvalue()


def test_sound_and_background_of_a_slide_are_found(tmp_path: Path) -> None:
    config = {"ppt_file_path": "/home/user/p.pptx", "slide_index": 1, "dest": "got"}
    inside = Machine({"/home/user/p.pptx": presentation("../media/a.mp3", "../media/b.png")})
    assert get("audio_in_slide", tmp_path, inside, **config).read_bytes() == b"sound"
    assert get("background_image_in_slide", tmp_path, inside, **config).read_bytes() == b"picture"
    outside = Machine({"/home/user/p.pptx": presentation("file:///home/user/my%20a.mp3", "../../../../etc/passwd")})
    outside.files["/home/user/my a.mp3"] = b"outer sound"
    assert get("audio_in_slide", tmp_path, outside, **config).read_bytes() == b"outer sound"
    with pytest.raises(Unreadable, match="not in it"):
        get("background_image_in_slide", tmp_path, outside, **config)
    plain = Machine({"/home/user/p.pptx": presentation("../media/a.mp3", "../media/b.png", "")})
    assert get("background_image_in_slide", tmp_path, plain, **config) is None
    assert get("audio_in_slide", tmp_path, plain, **(config | {"slide_index": 0})) is None
