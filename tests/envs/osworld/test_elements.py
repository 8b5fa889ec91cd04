"""What is listed of a screen: recorded ones, and small trees that show one thing each."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from eapo_gym.envs.osworld import elements as listing
from eapo_gym.envs.osworld.elements import elements_of
from eapo_gym.envs.osworld.tree import Node
from eapo_gym.wrappers.set_of_marks import MarkPainter
from tests.envs.osworld.recorded import recorded_screen, recorded_tree
from tests.envs.osworld.trees import nodes

SIZE = (1920, 1080)
SHOWN = frozenset(("showing", "visible", "enabled"))


def node(role, box=None, *children, name="", text="", states=(), **attributes):
    names = {key.replace("_", "-"): value for key, value in attributes.items()}
    return Node(role, name, text, box=box, states=SHOWN | set(states), attributes=names, children=children)


def desktop(*windows, name="app"):
    return Node("desktop-frame", children=(Node("application", name, children=windows),))


def lines(tree, size=SIZE):
    return elements_of(tree, size).as_text().splitlines()


def frame(*children, box=(0, 0, 1000, 1000), name="Window", states=("active",)):
    return node("frame", box, *children, name=name, states=states)


# Recorded with LibreOffice


def test_a_spreadsheet():
    said = lines(recorded_tree("cells"))
    assert said[0] == "In front: Untitled 1 - LibreOffice Calc"
    assert said[1] == '0: menu "File"'
    assert '12: push-button "New"' in said, "the tool bar, from left to right"
    assert '44: entry "DejaVu Sans" (Font Name)' in said, "the entry has the name of the panel around it"
    cells = [line.partition(": ")[2] for line in said if ": table-cell" in line]
    assert cells == ['table-cell "Item" (A1)', 'table-cell "Price" (B1)', "table-cell (D7) [focused]"]
    assert said[-1] == "1147 empty cells between A1 and W50 are not listed."
    assert said.index('88: table-cell "Item" (A1)') < said.index('96: page-tab "Sheet1" [selected]')
    assert len(said) < 110


def test_places_are_where_the_pixels_are():
    """LibreOffice says them without the height of the menu bar at first; the picture knows better."""
    for name in ("new", "cells"):
        bold = next(each for each in elements_of(recorded_tree(name), SIZE).elements if each.name == "Bold")
        left, top, right, bottom = bold.bounds
        assert (top, bottom) == (85, 120)
        inside = recorded_screen(name)[top:bottom, left:right]
        assert inside.min() < 80, "a black B"
    cell = next(each for each in elements_of(recorded_tree("new"), SIZE).elements if each.name == "A1")
    assert cell.center == (82, 190)


def test_a_wrapper_that_fills_another_is_where_that_one_is():
    """Down the nesting of toolkits, whichever of them is wrong."""
    inner = node("panel", (0, 60, 100, 80), node("push-button", (10, 60, 30, 80), name="inner"))
    middle = node("panel", (0, 35, 100, 55), inner, node("push-button", (50, 35, 70, 55), name="middle"))
    pane = node("root-pane", (0, 0, 500, 500), middle)
    listed = elements_of(desktop(frame(node("panel", (0, 25, 500, 525), pane))), SIZE)
    assert {each.name: each.bounds[1] for each in listed.elements} == {"inner": 60, "middle": 60}


def test_an_open_menu_covers_what_is_under_it():
    said = lines(recorded_tree("menu"))
    assert said[2:5] == ['1: menu "Edit" [selected]', '2: menu-item "Undo: Input"', '3: menu-item "Redo" [disabled]']
    assert any('check-menu-item "Cell Protection" [on]' in line for line in said)
    assert not any('"Save"' in line or '"Price"' in line for line in said)
    assert any('"Pivot Table"' in line for line in said)


def test_a_context_menu_is_a_window_in_front():
    said = lines(recorded_tree("context"))
    assert said[:2] == ["In front: a menu of Untitled 1 - LibreOffice Calc", '0: menu-item "Cut"']
    assert "Behind: Untitled 1 - LibreOffice Calc" in said
    assert '11: menu-item "Format Cells..."' in said


def test_a_dialog_blocks_its_window():
    listed = elements_of(recorded_tree("dialog"), SIZE)
    assert listed.front == "Format Cells"
    assert {each.window for each in listed.elements} == {"Format Cells"}
    assert listed.notes == ("Behind, and waiting for the dialog: Untitled 1 - LibreOffice Calc",)
    said = [each.line().partition(": ")[2] for each in listed.elements]
    assert said[4:8] == [
        'page-tab "Numbers" [selected]',
        'page-tab "Font"',
        'page-tab "Font Effects"',
        'label "Category"',
    ]
    assert said[-4:] == ['push-button "Help"', 'push-button "Reset"', 'push-button "Cancel"', 'push-button "OK"']
    assert 'table-cell "Text"' not in said, "scrolled out of the list"


@pytest.mark.parametrize("name", ["new", "cells", "menu", "context", "dialog"])
def test_numbers_places_and_marks(name):
    listed = elements_of(recorded_tree(name), SIZE)
    assert [each.index for each in listed.elements] == list(range(len(listed.elements)))
    for each in listed.elements:
        left, top, right, bottom = each.bounds
        assert 0 <= left < right <= SIZE[0]
        assert 0 <= top < bottom <= SIZE[1]
        assert left <= each.center[0] < right
        assert each.info() == {
            "index": each.index,
            "bounds": each.bounds,
            "text": each.text or each.name,
            "kind": each.kind,
            "editable": each.editable,
            "focused": each.focused,
        }
    screen = recorded_screen(name)
    marked = MarkPainter(SIZE[1])(screen, [each.info() for each in listed.elements])
    assert (marked != screen).any(axis=2).sum() > 10 * len(listed.elements)


# One thing each


def test_a_label_inside_of_a_button_is_the_buttons():
    button = node("push-button", (10, 10, 90, 40), node("label", (20, 15, 80, 35), text="OK"), name="OK")
    nameless = node("list-item", (10, 50, 90, 80), node("label", (20, 55, 80, 75), name="Home"))
    assert lines(desktop(frame(button, nameless)))[1:] == ['0: push-button "OK"', '1: list-item "Home"']


def test_a_label_beside_a_button_stays():
    said = lines(
        desktop(
            frame(node("label", (0, 0, 50, 20), name="Name:"), node("text", (60, 0, 200, 20), states=("editable",)))
        )
    )
    assert said[1:] == ['0: label "Name:"', "1: entry"]


def test_a_heading_that_is_a_link_is_one():
    said = lines(
        desktop(frame(node("heading", (0, 0, 99, 20), node("link", (0, 0, 99, 20), name="News"), name="News")))
    )
    assert said[1:] == ['0: link "News"']


def test_what_does_not_show_is_not_there():
    hidden = Node("push-button", "hidden", box=(0, 0, 10, 10), states=frozenset(("visible",)))
    nowhere = node("push-button", None, name="nowhere")
    outside = node("push-button", (5000, 0, 5010, 10), name="outside")
    no_area = node("push-button", (5, 5, 5, 50), name="flat")
    scrolled = node("viewport", (0, 0, 100, 100), node("label", (0, 150, 50, 170), text="below"))
    cut = node("viewport", (0, 0, 100, 100), node("label", (10, 90, 50, 170), text="cut"))
    listed = elements_of(desktop(frame(hidden, nowhere, outside, no_area, scrolled, cut)), SIZE)
    assert [(each.text, each.bounds) for each in listed.elements] == [("cut", (10, 90, 50, 100))]


def test_reading_order_is_by_rows_and_keeps_parts_together():
    def part(x, *names):
        return node(
            "panel", (x, 100, x + 100, 300), *(node("label", (x, y, x + 90, y + 20), text=name) for y, name in names)
        )

    right, left = part(200, (150, "c"), (110, "b")), part(0, (112, "a"), (250, "z"))
    top = node("label", (300, 0, 400, 20), text="top")
    assert [line.split('"')[1] for line in lines(desktop(frame(right, left, top)))[1:]] == ["top", "a", "z", "b", "c"]


def test_windows_behind_are_listed_as_far_as_they_can_be_clicked():
    behind = frame(
        node("push-button", (10, 10, 60, 30), name="covered"),
        node("push-button", (710, 10, 760, 30), name="free"),
        name="Behind",
        states=(),
    )
    front = frame(node("push-button", (10, 10, 60, 30), name="here"), box=(0, 0, 500, 500), name="Front")
    said = lines(Node("desktop-frame", children=desktop(behind).children + desktop(front).children))
    assert said == ["In front: Front", '0: push-button "here"', "Behind: Behind", '1: push-button "free"']


def test_a_dialog_blocks_the_windows_of_its_own_program_alone():
    dialog = node("dialog", (0, 0, 50, 50), name="Really?", states=("active", "modal"))
    own = frame(node("push-button", (100, 0, 150, 50), name="own"), name="Own", states=())
    other = frame(node("push-button", (200, 0, 250, 50), name="other"), name="Other", states=())
    said = lines(Node("desktop-frame", children=(*desktop(own, dialog).children, *desktop(other).children)))
    assert said == [
        "In front: Really?",
        "Behind: Other",
        '0: push-button "other"',
        "Behind, and waiting for the dialog: Own",
    ]


def test_nothing_in_front():
    assert lines(Node("desktop-frame")) == ["In front: nothing"]
    said = lines(desktop(frame(node("label", (0, 0, 9, 9), text="a"), states=())))
    assert said == ["In front: nothing", "Behind: Window", '0: label "a"']


def test_states_are_said():
    box = (0, 0, 9, 9)
    checked = node("check-box", box, name="a", states=("checked", "focused"))
    tree_item = node("tree-item", (0, 20, 9, 29), name="b", states=("expandable",))
    paragraph = node("paragraph", (0, 40, 9, 49), text='say "hi"\nand \\', states=("editable",))
    disabled = Node("push-button", "c", box=(0, 60, 9, 69), states=frozenset(("showing", "visible")))
    assert lines(desktop(frame(checked, tree_item, paragraph, disabled)))[1:] == [
        '0: check-box "a" [focused, on]',
        '1: tree-item "b" [collapsed]',
        '2: paragraph "say \\"hi\\"\\nand \\\\" [editable]',
        '3: push-button "c" [disabled]',
    ]


def sheet(*cells):
    table = node("table", (0, 0, 1000, 1000), *cells)
    return desktop(frame(node("document-spreadsheet", (0, 0, 1000, 1000), table)))


def test_empty_cells_are_counted_unless_they_are_selected():
    cells = [node("table-cell", (0, 20 * n, 50, 20 * n + 20), name=f"A{n + 1}") for n in range(9)]
    cells[3] = node("table-cell", (0, 60, 50, 80), name="A4", states=("selected",))
    assert lines(sheet(*cells))[1:] == [
        "0: table-cell (A4) [selected]",
        "8 empty cells between A1 and A9 are not listed.",
    ]


def test_there_is_an_end_to_what_is_listed(monkeypatch):
    monkeypatch.setattr(listing, "MOST_CELLS", 3)
    cells = [node("table-cell", (0, 20 * n, 50, 20 * n + 20), name=f"A{n + 1}", text="x") for n in range(5)]
    assert lines(sheet(*cells))[-2:] == ['2: table-cell "x" (A3)', "2 more cells are on the screen but not listed."]
    monkeypatch.setattr(listing, "MOST_ELEMENTS", 2)
    labels = [node("label", (0, 20 * n, 50, 20 * n + 20), text=f"{n}") for n in range(5)]
    assert lines(desktop(frame(*labels)))[-2:] == ['1: label "1"', "3 more elements are on the screen but not listed."]


def test_long_texts_are_cut_on_the_line_alone():
    (element,) = elements_of(desktop(frame(node("paragraph", (0, 0, 9, 9), text="x" * 1000))), SIZE).elements
    assert len(element.text) == 1000
    assert element.line().endswith('… (700 more characters)"')


@settings(max_examples=50)
@given(nodes)
def test_any_tree_is_listed_the_same_way_twice(tree):
    listed = elements_of(Node("desktop-frame", children=(Node("application", children=(tree,)),)), SIZE)
    assert listed == elements_of(Node("desktop-frame", children=(Node("application", children=(tree,)),)), SIZE)
    for number, each in enumerate(listed.elements):
        assert each.index == number
        assert 0 <= each.bounds[0] < each.bounds[2] <= SIZE[0]
        assert 0 <= each.bounds[1] < each.bounds[3] <= SIZE[1]
        assert "\n" not in each.line()
