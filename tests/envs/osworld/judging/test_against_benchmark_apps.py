"""Our verdicts on the state of programs beside the benchmark's own."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from tests.envs.osworld.judging.benchmark import Case, assert_same_verdicts

PAGES = (
    *("https://www.drugs.com/npc/", "http://drugs.com/npc", "drugs.com/npc/", "https://drugs.co.uk/npc/"),
    *("https://drugs.com.sg/npc/", "https://shop.drugs.com/npc/", "https://drugs.com/", "https://drugs.com"),
    *("https://drugs.com/?a=1#b", "HTTPS://WWW.Drugs.com/npc/", "chrome://password-manager/passwords"),
    *(
        "chrome://settings/",
        "chrome://settings",
        "http://localhost:8000/x",
        "http://127.0.0.1/x",
        "http://127.0.0.1:81/x",
    ),
    *("", "about:blank", "file:///home/user/a.html", "https://a.github.io/", "https://u:p@drugs.com/npc/", None),
)


def folder(name: str, *children: dict[str, Any]) -> dict[str, Any]:
    return {"type": "folder", "name": name, "children": list(children)}


def page(url: str) -> dict[str, Any]:
    return {"type": "url", "name": url, "url": url}


def test_the_browser_is_judged_as_by_the_benchmark() -> None:
    tabs = [{"title": "", "url": url} for url in PAGES[:2]]
    bars = [
        {"bookmark_bar": {"children": children}}
        for children in (
            [folder("Favorites")],
            [folder("Favorites"), folder("More")],
            [page("https://a"), page("https://b")],
            [folder("Liked Authors", page("https://a"), page("https://c"))],
            [folder("Liked Authors", page("https://b"), page("https://c"))],
            [folder("Liked Authors")],
            [],
        )
    ]
    rules: list[dict[str, Any]] = [
        {"type": "bookmark_bar_folders_names", "names": ["Favorites"]},
        {"type": "bookmark_bar_websites_urls", "urls": ["https://a", "https://b"]},
        {"type": "liked_authors_websites_urls", "urls": [["https://a", "https://b"], "https://c"]},
    ]
    starters = {"a.desktop": "[Desktop Entry]\nName=Maps\nExec=chrome --app=x\n"}
    cookies = [[1, ".amazon.com", "x"], [2, "www.bing.com", "y"]]
    visits = [["https://www.youtube.com/x", "", 1]]
    cases = [
        *(
            Case("is_expected_active_tab", tab, {"type": "url", "url": url})
            for url in PAGES
            for other in PAGES
            for tab in (other, {"url": other})
        ),
        Case("is_expected_active_tab", "https://a.b", {"type": "title", "url": "https://a.b"}),
        *(
            Case("is_expected_active_tab_approximate", other, {"type": "url", "url": url})
            for url in ("https://drugs.com/", "https://drugs.com/?q=1")
            for other in PAGES[:11]
        ),
        *(
            Case("is_expected_url_pattern_match", tab, {"expected": [r"drugs\.com", "npc"]})
            for tab in (*PAGES, {"url": PAGES[0]}, {"title": "x"}, 5)
        ),
        *(
            Case("is_expected_search_query", tab, {"expect": {"pattern": r"\bq=1"}})
            for tab in ({"url": "https://x?q=1"}, {"url": "https://x"}, None)
        ),
        *(
            Case("is_expected_tabs", found, {"type": "url", "urls": urls})
            for found in (tabs, tabs[:1], [], None, [*tabs, *tabs])
            for urls in ([PAGES[0]], [PAGES[0], PAGES[2]], [PAGES[0], PAGES[10]])
        ),
        *(
            Case("is_expected_installed_extensions", found, {"expected": ["A"]})
            for found in (["A", "B"], ["B"], [], None, "A")
        ),
        *(Case("is_expected_bookmarks", bar, rule) for bar in (*bars, [], None) for rule in rules),
        *(
            Case("is_cookie_deleted", found, {"type": "domains", "domains": domains})
            for found in (cookies, cookies[1:], [], None)
            for domains in (["amazon.com"], [".amazon.com", "x.org"], ["www.amazon.com"])
        ),
        *(
            Case("check_history_deleted", found, {"type": "keywords", "keywords": ["youtube"]})
            for found in (visits, [], None)
        ),
        *(
            Case("is_shortcut_on_desktop", found, rule)
            for found in (starters, {})
            for rule in (
                {"type": "name", "name": "Maps"},
                {"type": "exec", "exec": "chrome"},
                {"type": "name", "name": "M"},
            )
        ),
        *(
            Case("check_enabled_experiments", found, {"type": "names", "names": ["a", "b"]})
            for found in (["a@2", "b@1"], ["b@1", "a@2"], ["a@2"], [])
        ),
        *(
            Case("check_font_size", {"default_font_size": size}, rule)
            for size in (16, 17, 20)
            for rule in ({"type": "range", "min": 16, "max": 99}, {"type": "value", "value": 20})
        ),
        Case("check_font_size", {}, {"type": "value", "value": 20}),
        *(Case("is_added_to_steam_cart", {"content": text}, {"items": ["A", "B"]}) for text in ("xAyB", "A")),
    ]
    assert_same_verdicts("the browser", cases)


def test_settings_are_judged_as_by_the_benchmark(tmp_path: Path) -> None:
    written = {
        "as it comes": "[qt]\n# Bg cone (boolean)\n#qt-bgcone=1\n\n"
        "#qt-slider-colours=153;210;153;20;210;20;255;199;15;245;39;29\n",
        "changed": "qt-bgcone=0\nqt-max-volume=200\nqt-minimal-view=1\nqt-slider-colours=1;2;3;20;30;40\n"
        "input-record-path=/home/user/Desktop\nglobal-key-play-pause=Space\none-instance-when-started-from-file=0\n",
        "bright": "qt-slider-colours=1;2;3;20;130;40;7\n#input-record-path=/home/user/Desktop\n"
        "global-key-play-pause=\n",
        "twice": "qt-bgcone=0\nqt-bgcone=1\ninput-record-path=\ninput-record-path=/home/user/Desktop\n",
        "no numbers": "qt-slider-colours=black\n",
        "empty": "",
        "gimp": '# a comment (theme "Light")\n\n(theme "Light")\n(hide-docks yes)\n    (undo-levels 5)\n'
        '(tool-options "x" (size 3))\n',
        "gimp dark": '(theme "Dark")\n(hide-docks no)\n \n',
    }
    place = {name: tmp_path / f"{number}" for number, name in enumerate(written)}
    for name, text in written.items():
        place[name].write_text(text)
    anything: list[Any] = [*place.values(), tmp_path / "gone", None]
    keys: list[dict[str, Any]] = [
        {"key": "theme", "value": '"Light"'},
        {"key": "hide-docks", "value": "yes"},
        {"key": ["tool-options", '"x"'], "value": "3"},
        {"key": "undo-levels", "value": "5"},
    ]
    cases = [
        *(Case("check_qt_bgcone", one, {"expected_qt_bgcone": want}) for one in anything for want in (0, 1, "0")),
        *(
            Case("check_qt_max_volume", one, {"expected_qt_max_volume": want})
            for one in anything
            for want in (200, "125")
        ),
        *(
            Case("check_qt_minimal_view", one, {"expected_qt_minimal_view": want})
            for one in anything
            for want in (0, 1)
        ),
        *(
            Case(
                "check_one_instance_when_started_from_file", one, {"expected_one_instance_when_started_from_file": want}
            )
            for one in anything
            for want in (0, 1)
        ),
        *(
            Case("check_global_key_play_pause", one, {"expected_global_key_play_pause": want})
            for one in anything
            for want in (0, 1)
        ),
        *(Case("check_qt_slider_colours", one, {"type": "blackish"}) for one in anything),
        *(
            Case("check_qt_slider_colours", one, {"type": "match", "expected_qt_slider_colours": "1;2;3;20;30;40"})
            for one in anything
        ),
        *(Case("is_vlc_recordings_folder", one, {"recording_file_path": "/home/user/Desktop"}) for one in anything),
        *(Case("check_config_status", one, key) for one in anything for key in keys),
        *(
            Case("is_vlc_fullscreen", one, {"width": 1920, "height": 1080})
            for one in ({"width": 1920, "height": 1080}, {"width": 1920, "height": 1000}, None)
        ),
    ]
    assert_same_verdicts("settings", cases)


def test_what_vlc_plays_is_judged_as_by_the_benchmark(tmp_path: Path) -> None:
    def status(state: str, **meta: str) -> str:
        said = "".join(f'<info name="{name}">{value}</info>' for name, value in meta.items())
        return (
            f'<root><state>{state}</state><information><category name="meta">{said}</category>'
            '<category name="Stream 0"><info name="Codec">h264</info></category></information></root>'
        )

    written = [
        status("playing", filename="Rick.mp4"),
        status("playing", filename="Not Rick.mp4"),
        status("playing", title="Rick.mp4", filename=""),
        status("playing", uri="file:///home/user/Rick.mp4"),
        status("playing", filename="Rick.mp4.part"),
        status("paused", filename="Rick.mp4"),
        status("playing"),
        status("playing", url="https://a.b/c/playlist.m3u8?x=1"),
        status("playing", filename="playlist.m3u8"),
        status("playing", title="https://a.b/c/playlist.m3u8/more"),
        status("playing", title="https://other/c/playlist.m3u8"),
        "no XML",
    ]
    for number, text in enumerate(written):
        (tmp_path / str(number)).write_text(text)
    anything: list[Any] = [*(tmp_path / str(number) for number in range(len(written))), tmp_path / "gone", None]
    rules: list[dict[str, Any]] = [
        {"type": "file_name", "file_name": "Rick.mp4"},
        {"type": "url", "url": "https://a.b/c/playlist.m3u8"},
        {"type": "other"},
    ]
    assert_same_verdicts("what vlc plays", [Case("is_vlc_playing", one, rule) for one in anything for rule in rules])


def test_the_desktop_is_judged_as_by_the_benchmark() -> None:
    clock = "Local time: x\n Universal time: x\n RTC time: x\n Time zone: {}\nSystem clock synchronized: yes\n"
    tree = {"type": "directory", "name": "d", "children": [{"name": "a.jpg"}, {"name": "b.jpg"}]}
    cases = [
        *(
            Case("check_gnome_favorite_apps", found, {"expected": ["a.desktop", "b.desktop"]})
            for found in (
                "['b.desktop', 'a.desktop']\n",
                "['a.desktop']",
                "['a.desktop', 'a.desktop']",
                "@as []",
                "",
                "[",
            )
        ),
        *(
            Case("is_utc_0", clock.format(zone))
            for zone in ("Etc/UTC (UTC, +0000)", "Europe/Berlin (CET, +0100)", "n/a")
        ),
        Case("is_utc_0", "System has not been booted with systemd"),
        *(Case("check_text_enlarged", found) for found in ("1.25\n", "1.0\n", "0.5", "")),
        *(
            Case("check_moved_jpgs", tree, {"expected": expected})
            for expected in (["a.jpg", "b.jpg"], ["b.jpg", "a.jpg"], ["a.jpg"], ["a.jpg", "c.jpg"])
        ),
        Case("check_moved_jpgs", None, {"expected": []}),
        *(
            Case("is_in_vm_clickboard", {"expected": expected}, pasted)
            for expected in ("one", ["one", "two"])
            for pasted in ("one two", "one", "")
        ),
    ]
    assert_same_verdicts("the desktop", cases)


def test_mail_is_judged_as_by_the_benchmark(tmp_path: Path) -> None:
    prefs = (
        '// Mozilla\nuser_pref("mail.a", true);\nuser_pref("mail.n", 3);\nuser_pref("mail.s", "an \\"x\\"");\n'
        'user_pref("mail.a", false);\nuser_pref("mail.twice", "x");\n'
    )
    filters = (
        'version="9"\nlogging="no"\nname="Promo \\"A\\""\nenabled="yes"\ntype="17"\naction="Move to folder"\n'
        'actionValue="mailbox://nobody@Local%20Folders/Promotions"\n'
        'condition="AND (subject,contains,discount) OR (from,is,\\"x, y\\")"\n'
        'name="All"\nenabled="no"\ntype="17"\naction="Delete"\ncondition="ALL"\n'
    )
    mails = {
        "mbox": "From - Mon\nX-Mozilla-Status: 0001\nSubject: a\n\nb\n",
        "other mbox": "From - Mon\nSubject: c\n",
        "marked": "FROM - Mon\nSubject: a\n",
        "empty": "",
        "twice": "FROM - FROM - x",
    }
    written = {"prefs": prefs, "filters": filters, "broken": 'user_pref("mail.a", maybe);\n', **mails}
    place = {name: tmp_path / f"{number}" for number, name in enumerate(written)}
    for name, text in written.items():
        place[name].write_text(text)
    anything: list[Any] = [*place.values(), tmp_path / "gone", None]
    eq = {"method": "eq", "ref": False}
    wanted: list[dict[str, Any]] = [
        {"expect": {"mail.a": eq}},
        {"expect": {"mail.a": {"method": "eq", "ref": True}}},
        {"expect": {"mail.n": {"method": "ge", "ref": 3}, "mail.s": {"method": "re", "ref": 'x"$'}}},
        {"unexpect": {"mail.twice": {"method": "eq", "ref": "x"}}},
        {"expect": {"mail.gone": eq}},
        {},
    ]
    condition = ["AND (subject,contains,discount)", 'OR (from,is,"x, y")']
    filter_rules: list[dict[str, Any]] = [
        {"expect": [{"name": 'Promo "A"', "enabled": "yes", "condition": condition}]},
        {"expect": [{"name": "All", "condition": ["ALL"]}]},
        {"expect": [{"name": "All", "actionValue": "mailbox://nobody@Local%20Folders/Promotions"}]},
        {"unexpect": [{"action": "Delete"}]},
    ]
    cases = [
        *(Case("check_thunderbird_prefs", one, rule) for one in anything for rule in wanted),
        *(Case("check_thunderbird_filter", one, rule) for one in anything for rule in filter_rules),
        *(
            Case("check_thunderbird_folder", place[one], place[other], {"remove_duplicate": remove})
            for one in mails
            for other in mails
            for remove in (True, False)
        ),
        Case("check_thunderbird_folder", None, place["mbox"]),
        Case("check_thunderbird_folder", [place["mbox"], None], [place["mbox"], place["mbox"]]),
    ]
    assert_same_verdicts("mail", cases)


def test_databases_are_asked_as_by_the_benchmark(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE moz_places (url TEXT)")
    connection.execute("INSERT INTO moz_places VALUES ('https://a')")
    connection.commit()
    connection.close()
    (tmp_path / "text").write_text("no database at all, and long enough to be looked at")
    asked = (
        "SELECT count(*) FROM moz_places",
        "SELECT count(*) > 1 FROM moz_places",
        "SELECT NULL",
        "SELECT url FROM moz_places",
        "SELECT 1 FROM gone",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT max(x) > 4 FROM n",
    )
    assert_same_verdicts(
        "databases", [Case("run_sqlite3", one, {"sql": sql}) for one in (path, tmp_path / "text") for sql in asked]
    )
