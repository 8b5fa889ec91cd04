"""Our verdicts on texts and values beside the benchmark's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.envs.osworld.judging.benchmark import Case, assert_same_verdicts


def test_values_are_compared_as_by_the_benchmark() -> None:
    expected = {"expected": {"a": "1", "b": ["x", "y"]}}
    within = {"expect_in_result": True, "expected": {"a": ["1", "2"], "b": "lon"}}
    cases = [
        *(Case("exact_match", result, {"expected": "Bing"}) for result in ("Bing", "bing", None, 1)),
        *(Case("exact_match", result, {"expected": 1}) for result in (1, True, "1")),
        *(Case("match_in_list", result, {"expected": ["a", "b"]}) for result in ("a", "c", None)),
        *(Case("is_in_list", result, {"expected": "a"}) for result in (["a"], "xax", [], None)),
        *(
            Case("fuzzy_match", result, {"expected": "the quick fox"})
            for result in ("the quick fox", "quick the fox", "", None, "völlig anders", "zzz")
        ),
        *(Case("literal_match", result, 12) for result in ("12", 12, "13", None)),
        *(
            Case("literal_match", result, ["A", 2], {"type": "list", "ignore_case": ignore})
            for result in (["a", "2"], ["A", 2], ["A"], "A2", None)
            for ignore in (True, False)
        ),
        Case("literal_match", "AB", "ab", {"ignore_case": True}),
        *(
            Case("check_include_exclude", result, {"include": ["vlc"], "exclude": ["totem"]})
            for result in ("vlc.desktop\n", "vlc totem", "", None, ["vlc"])
        ),
        Case("check_include_exclude", "anything", {}),
        *(
            Case("check_direct_json_object", result, expected)
            for result in (
                {"a": "1", "b": ["x", "y"]},
                {"a": "1", "b": ["y", "x"]},
                {"a": "1", "b": ["x", "y"], "c": 1},
                "{'a': '1', 'b': ['x', 'y']}",
                "{",
                None,
                {},
                [],
            )
        ),
        *(
            Case("check_direct_json_object", result, within)
            for result in (
                {"a": "1", "b": "London"},
                {"a": ["2", "3"], "b": "London"},
                {"a": "3", "b": "London"},
                {"a": "12", "b": "London"},
                {"a": "1", "b": None},
                {"a": "1"},
            )
        ),
        Case("check_direct_json_object", {"a": [1, 2]}, {"expected": {"a": [2, 1], "ignore_list_order": True}}),
        Case("check_direct_json_object", {"a": "x"}, {"expected": {"a": "__EVALUATION_FAILED__"}}),
        Case("check_direct_json_object", {"a": 5}, {"expect_in_result": True, "expected": {"a": 5}}),
        Case("check_direct_json_object", {"a": 5}, {"expected": {}}),
        *(Case("compare_answer", result, {"expected": "7"}) for result in ("7", "8", "", None)),
    ]
    assert_same_verdicts("values", cases)


def test_files_of_text_are_compared_as_by_the_benchmark(tmp_path: Path) -> None:
    written = {
        "one": "Some words.\nA second line\n",
        "dos": "Some words.\r\nA second line\r\n",
        "blanks": "  Some   words.\n\n\tA second line  ",
        "case": "SOME words.\nA second LINE\n",
        "other": "Nothing of it\nA second line\n",
        "empty": "",
        "number": "The answer is 42\n",
        "close": "41.99999\n",
        "far": "43",
        "42": "42\n",
        "separators": "a\x0bb\x0cc\u2028d 12:34:56\u0085 e 01:02:03\n",
        "sar": "12:00:01 CPU %user\n12:00:02 all 1\nAverage: all\n24:00:00\n23:59:60 x\n",
        "program": "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n\ndef f():\n\t\treturn 1   \n",
        "same program": "\ndef f():\n        return 1\n",
        "its program": "def f():\n        return 1\n\n\n",
        "another": "```python\ndef f():\n        return 1\n```\n",
        "page": "<html><style>body { background-image: url('https://a.b/c.png'); }</style></html>",
        "page without": "<html><style>p {}</style><p>background-image: url('https://a.b/c.png')</p></html>",
    }
    place = {name: tmp_path / f"{number}.txt" for number, name in enumerate(written)}
    for name, text in written.items():
        place[name].write_bytes(text.encode())
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00words")
    gone = tmp_path / "gone"
    anything: list[Any] = [*place.values(), binary, gone, None]
    options: list[dict[str, Any]] = [{}, {"ignore_blanks": True}, {"ignore_case": True}]
    cases = [
        *(Case("compare_text_file", one, place["one"], some) for one in anything for some in options),
        *(Case("compare_config", one, {"expected": written["one"]}) for one in anything),
        *(Case("diff_text_file", one, place["one"]) for one in anything),
        *(Case("compare_result_files", one, place[other]) for one in anything for other in ("42", "one")),
        *(Case("file_contains", one, {"expected": ["second", "words"]}) for one in anything),
        *(Case("check_line_number", one, {"expected": "3"}) for one in anything),
        *(Case("compare_terminal_and_txt", one, written["one"]) for one in anything),
        *(Case("check_list", one, {"expect": ["^Some", r"line$"], "unexpect": ["other"]}) for one in anything),
        *(Case("check_list", one, {"unexpect": ["second"]}) for one in anything),
        *(Case("check_list", one, {"expect": ["c.+d", "^ e"]}) for one in anything),
        *(
            Case("compare_python_pure_text", one, place[gold])
            for one in anything
            for gold in ("program", "its program", "another")
        ),
        *(Case("check_html_background_image", one, {"value": "https://a.b/c.png"}) for one in anything),
    ]
    assert_same_verdicts("files of text", cases)


def test_files_of_values_are_compared_as_by_the_benchmark(tmp_path: Path) -> None:
    written = {
        "settings": '{"tabs": true, "theme": {"name": "Dark"}, "sizes": [1, 2]}',
        "comment": '// keys\n[{"key": "ctrl+j", "command": "go", "when": "here"}]',
        "keys": '[{"key": "ctrl+j", "command": "go", "when": "here"}, {"key": "x"}]',
        "wrong keys": '[{"key": "ctrl+k", "command": "go", "when": "here"}]',
        "object": '{"key": "ctrl+j"}',
        "broken": '{"tabs": true',
        "empty": "",
        "yaml": "tabs: true\ntheme:\n  name: Dark\nsizes: [1, 2]\n",
        "table": 'url,user\nimap://a,"x, y"\nsmtp://b,z\n',
        "other table": "url,user\nimap://a,q\n",
        "speed": "id,date\n1,2024-01-01 99:99,x\n",
        "one line": "id,date\n",
    }
    place = {name: tmp_path / f"{number}.txt" for number, name in enumerate(written)}
    for name, text in written.items():
        place[name].write_text(text)
    anything: list[Any] = [*place.values(), tmp_path / "gone", None]
    rules: list[dict[str, Any]] = [
        {"expect": [{"key": ["theme", "name"], "method": "eq", "ref": "Dark"}]},
        {"expect": [{"key": ["theme", "name"], "method": "re.I", "ref": "^DARK$"}]},
        {"expect": [{"key": ["sizes", 1], "method": "eq", "ref": 2}]},
        {"expect": [{"key": ["sizes", 5], "method": "eq", "ref": 2}]},
        {"expect": [{"key": ["sizes", 0], "method": "approx:0.5", "ref": 1.4}]},
        {"expect": [{"key": ["sizes", 0], "method": "range.te", "ref": [0, 1]}]},
        {"unexpect": [{"key": ["theme", "name"], "method": "eq", "ref": "Dark"}]},
        {"unexpect": [{"key": ["theme", "colour"], "method": "eq", "ref": "Dark"}]},
    ]
    binding = {"key": "ctrl+j", "command": "go", "when": "here"}
    rows = [{"expect": [{"url": "imap://a", "user": "x, y"}]}, {"unexpect": [{"user": "z"}]}, {"expect": [{"u": "z"}]}]
    cases = [
        *(Case("check_json", one, rule) for one in anything for rule in rules),
        *(Case("check_json", one, rule, {"is_yaml": True}) for one in anything for rule in rules),
        *(Case("check_json_settings", one, {"expected": {"tabs": True, "sizes": [1, 2]}}) for one in anything),
        *(Case("check_json_settings", one, {"expected": {"tabs": 2}}) for one in anything),
        *(Case("check_json_keybindings", one, {"expected": binding}) for one in anything),
        *(Case("is_included_all_json_objects", place["object"], one) for one in anything),
        *(Case("check_csv", one, rule) for one in anything for rule in rows),
        *(Case("compare_time_in_speedtest_results", one, "2000") for one in anything),
        *(Case("is_extension_installed", one, {"type": "contain", "expected": "a.b"}) for one in ("x\na.b\n", "", "c")),
        *(Case("is_extension_installed", one, {"type": "not_contain", "expected": "a.b"}) for one in ("a.b", "", "c")),
    ]
    (tmp_path / "now").write_text("id,date\n1,2024-01-01 12:00,x\n")
    cases.append(Case("compare_time_in_speedtest_results", tmp_path / "now", "2000"))
    assert_same_verdicts("files of values", cases)


def test_words_of_a_document_are_compared_as_by_the_benchmark(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx", reason="python-docx writes documents, and is not installed")
    found: list[Any] = [None]
    for number, words in enumerate(("Park Cafe Tower", "Park  Caffee\nTowre", "Park Cafe", "Zzz Qqq 1", "")):
        document = docx.Document()
        for line in words.split("\n"):
            document.add_paragraph(line)
        found.append(tmp_path / f"{number}.docx")
        document.save(found[-1])
    assert_same_verdicts(
        "words of a document", [Case("fuzzy_place_math", one, {"expected": ["Cafe", "Park", "Tower"]}) for one in found]
    )
