"""What is done with texts: notes are made and changed, messages read and sent."""

from __future__ import annotations

import re

from eapo_gym.envs.androidworld.experts.forms import add_button
from eapo_gym.envs.androidworld.experts.goal import matching_rows
from eapo_gym.envs.androidworld.experts.screen import Item
from eapo_gym.envs.androidworld.experts.things import look_for
from eapo_gym.envs.androidworld.experts.visit import Decision, Visit
from eapo_gym.envs.androidworld.experts.words import SEND, YES, brief, fit, plain

_KINDS = {"md": ("markdown",), "txt": ("plain text", "text"), "csv": ("csv",)}
_SAVE = ("save", "write to disk", "store", "done")
_SEARCH = ("search", "find")


def new_file(visit: Visit) -> Decision | None:
    """A note or a folder with a name."""
    part, screen = visit.part, visit.screen
    if visit.knows("created"):
        return None
    if (way := visit.enter()) is not None:
        return way
    if not (screen.is_dialog and screen.fields):
        return add_button(visit, "folder" if part.value == "folder" else "")
    stem, ending = part.what, ""
    if part.value != "folder" and "." in part.what:
        stem, _, ending = part.what.rpartition(".")
    name, *others = screen.fields
    if name.text.strip() != stem:
        return visit.write(stem, name, "This is where the name goes.")
    if part.value == "folder":
        button = screen.best(("folder",), kind="Button")
    else:
        if not ending and others and others[0].text.startswith("."):
            if "focused" not in others[0].states:
                return visit.tap(others[0], "The name has no ending: I go there, to erase it.")
            return visit.erase(f"The name has no ending: I erase {others[0].text}.")
        if ending and others and others[0].text.strip() != f".{ending}":
            kind = screen.find(_KINDS.get(ending, ()), kind="Button")
            if kind is not None and not visit.tried(f"tap {brief(kind.said)}"):
                return visit.tap(kind, f"The name ends with .{ending}: it is {kind.said}.")
            return visit.write(f".{ending}", others[0], f"The name should end with .{ending}.")
        button = screen.find((*YES, "create", "add", "save"), kind="Button")
    if button is None:
        return visit.back("There is no button to go on with.")
    visit.gets_on("created")
    return visit.tap(button, "The name is right: I go on.")


def _editor(visit: Visit) -> Item | None:
    """The field that is the note, if it is open."""
    fields = visit.screen.fields
    title = plain(visit.screen.title)
    name = plain(visit.part.what)
    is_it = bool(title) and (title.startswith(name) or name.startswith(title))
    return fields[0] if fields and is_it and not visit.screen.is_dialog else None


def write(visit: Visit) -> Decision | None:
    part = visit.part
    if visit.knows("saved note"):
        return None
    if (way := visit.enter()) is not None:
        return way
    field = _editor(visit)
    if field is None:
        return _open_note(visit)
    if not visit.knows("wrote note"):
        visit.note("wrote note")
        old = field.text.rstrip("\n")
        text = {
            "top": f"{part.value.rstrip(chr(10))}{chr(10) * (1 + part.value.endswith(chr(10)))}{old}",
            "bottom": f"{old}\n{part.value}",
        }
        value = visit.notes.read if part.value == "read" else text.get(part.time, part.value)
        return visit.write(value, field, "I write what should stand here.")
    return _save_note(visit)


def read_note(visit: Visit) -> Decision | None:
    """Take down what stands in a note, below what was read before."""
    if visit.knows("read note"):
        return None if not _editor(visit) else visit.back("I have read it: I go back.")
    if (way := visit.enter()) is not None:
        return way
    field = _editor(visit)
    if field is None:
        return _open_note(visit)
    visit.note("read note")
    text = field.text.rstrip("\n")
    if visit.part.value:
        text = matching_rows(text, visit.part.value)
    visit.notes.read = "\n\n".join(filter(None, (visit.notes.read, text)))
    return visit.back("I have read it: I go back.")


def paste(visit: Visit) -> Decision | None:
    if visit.knows("saved note"):
        return None
    if (way := visit.enter()) is not None:
        return way
    field = _editor(visit)
    if field is None:
        return _open_note(visit)
    return _paste_into(visit, field) or _save_note(visit)


def _paste_into(visit: Visit, field: Item) -> Decision | None:
    """Nothing is left to do once something stands there."""
    if visit.knows("pasted"):
        return None
    button = visit.screen.find(("paste",))
    if button is not None:
        visit.note("pasted")
        return visit.tap(button, "Here I can paste.")
    return visit.hold(field, "I hold the field, to paste.", "Does a menu with Paste appear?")


def _open_note(visit: Visit) -> Decision:
    item = visit.screen.named(visit.part.what)
    if item is not None and not visit.tried(f"tap {brief(item.said)}"):
        return visit.tap(item, f"I open {visit.part.what}.", f"What stands in {visit.part.what}?")
    return look_for(visit, visit.part.what)


def _save_note(visit: Visit) -> Decision:
    button = visit.screen.best(_SAVE, kind="Button")
    if button is None:
        return visit.back("Leaving it saves the note.")
    visit.gets_on("saved note")
    return visit.tap(button, "I save the note.")


# Messages


def read_message(visit: Visit) -> Decision | None:
    """Take down what somebody wrote, or what was written to them."""
    if visit.notes.read:
        return None
    if (way := visit.enter() or _open_talk(visit)) is not None:
        return way
    said = _messages(visit)
    if not said:
        return visit.scroll("up", "messages") or visit.back("There is no message here.")
    if visit.part.value == "mine":
        asking = [text for text in said if re.search(r"again|once more|resend|repeat|get (it|that|your)", text, re.I)]
        visit.notes.read = next((text for text in reversed(said) if text not in asking), said[-1])
    else:
        visit.notes.read = said[-1]
    visit.notes.tried.clear()
    return None


def _messages(visit: Visit) -> list[str]:
    items = visit.screen.items
    start = next((n for n, item in enumerate(items) if "scrollable" in item.states), -1)
    texts = [item.text for item in items[start + 1 :] if item.kind == "TextView" and item.text]
    return [text for text in texts if not re.search(r"\d{1,2}:\d\d$", text)]


def _is_talk(visit: Visit) -> bool:
    """Whether this is a conversation: there is a field, and a button beside it to send."""
    return bool(visit.screen.fields) and any(
        fit(item.said, SEND) for item in visit.screen.items if item.kind == "Button"
    )


def _with(visit: Visit, to: str) -> bool:
    return any(_same(said, to) for item in visit.screen.items[:4] for said in (item.text, item.desc))


def _same(said: str, to: str) -> bool:
    digits = re.sub(r"\D", "", to)
    return plain(said) == plain(to) or (len(digits) > 5 and re.sub(r"\D", "", said) == digits)


def _open_talk(visit: Visit) -> Decision | None:
    """Go to the conversation with somebody, or to the latest one."""
    to, screen = visit.part.to, visit.screen
    if _is_talk(visit):
        if _with(visit, to) if to else visit.knows("latest"):
            return None
        return visit.back("This is another conversation: I go back.")
    listed = [item for item in screen.items if item.kind == "TextView" and len(item.text) > 1 and not item.editable]
    item = next((item for item in listed if _same(item.text, to)), None) if to else next(iter(listed), None)
    if item is None:
        return visit.scroll("down", to) or _begin_talk(visit)
    visit.note("latest")
    return visit.tap(item, f"I open the conversation with {item.text}.", f"What was written with {item.text}?")


def _begin_talk(visit: Visit) -> Decision:
    """Write to somebody for the first time."""
    to, screen = visit.part.to, visit.screen
    field = next(
        (item for item in screen.fields if fit(item.hint, ("number", "name", "recipient", "to")) or item.text), None
    )
    if field is None or (fit(field.hint, _SEARCH) and not field.text):
        return add_button(visit, "conversation")
    person = next((item for item in screen.touchable() if _same(item.text, to)), None)
    if person is not None and not visit.tried(f"tap {brief(person.said)}"):
        return visit.tap(person, f"{to} is known here.")
    if field.text.strip() != to:
        return visit.write(to, field, f"This goes to {to}.")
    return visit.press((*YES, "next", "add"), "The receiver is right.") or visit.seek("how to go on", YES)


def send(visit: Visit) -> Decision | None:
    if visit.knows("sent"):
        return None
    if (way := visit.enter()) is not None:
        return way
    if not _is_talk(visit):
        if visit.part.kind == "reply" or any(
            _same(item.text, visit.part.to) for item in visit.screen.items if not item.editable
        ):
            return _open_talk(visit) or _begin_talk(visit)
        return _begin_talk(visit)
    if visit.part.to and not _with(visit, visit.part.to):
        return visit.back("This is another conversation: I go back.")
    if not visit.part.to and not visit.knows("latest"):
        return visit.back("This may not be the latest conversation: I go back.")
    field = visit.screen.fields[-1]
    text = visit.notes.read if visit.part.value == "read" else visit.part.value
    if visit.part.value == "paste":
        if (way := _paste_into(visit, field)) is not None:
            return way
    elif field.text.strip() != text.strip():
        return visit.write(text, field, "I write the message.")
    button = next((item for item in visit.screen.items if item.kind == "Button" and fit(item.said, SEND)), None)
    if button is None or not button.enabled:
        return visit.wait("I cannot send it yet.")
    visit.note("sent")
    return visit.tap(button, "The message is right: I send it.")
