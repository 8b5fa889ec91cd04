"""Contacts: everyone one knows, to look up, to call, to write to, to add, edit, star and throw away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from eapo_gym.envs.androidworld.phone.app import OVER, App, Intent, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps import contacts_storage as storage
from eapo_gym.envs.androidworld.phone.apps.contacts_storage import EMAIL_LABELS, PHONE_LABELS, Contact, Labelled
from eapo_gym.envs.androidworld.phone.files import SDCARD
from eapo_gym.envs.androidworld.phone.state import Activity
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    FRAME,
    IMAGE,
    app_bar,
    bottom_bar,
    button,
    column,
    dialog,
    divider,
    fab,
    field,
    floating,
    icon,
    icon_button,
    item,
    labelled,
    listing,
    menu,
    page,
    radio,
    row,
    space,
    text,
)

PACKAGE = "com.google.android.contacts"
PEOPLE = "com.android.contacts.activities.PeopleActivity"
CARD = "com.android.contacts.quickcontact.QuickContactActivity"
EDITOR = "com.android.contacts.activities.ContactEditorActivity"
TRASH = "com.google.android.apps.contacts.trash.TrashActivity"

EXPORT = f"{SDCARD}/Download/contacts.vcf"

CREATE_NAMES = ("Create contact", "New contact", "Add contact")
SAVE_NAMES = ("Save", "Done", "Keep")
"""What the buttons are called, from phone to phone."""

SORT_ORDER = "android.contacts.SORT_ORDER"
BY_FIRST, BY_LAST = "1", "2"
AVATARS = ("#5b6abf", "#8e5aa8", "#3c7d5a", "#b0603a", "#4a7fa5", "#a34b63")
FIRST_PHONE_LABEL, FIRST_EMAIL_LABEL = "Mobile", "Home"


def face(name: str, edge: int = 40) -> View:
    """A disc with the first letter, in a colour that stays with the name."""
    letter = next((each for each in name if each.isalpha()), "#").upper()
    color = AVATARS[sum(map(ord, name)) % len(AVATARS)]
    return View(
        kind=IMAGE, width=edge, height=edge, across="center", along="center", look=Look(fill=color, round=edge // 2),
        children=(text(letter, size=edge * 2 // 5, color="#ffffff", along="center", bold=True),),
    )  # fmt: skip


def search_bar(at: Scene, hint: str, *actions: View, name: str = "search") -> View:
    """A field at the top of an app, in which one looks for something."""
    written = str(at.get(name, ""))
    clear = [icon_button("close", "Clear query", ("clear", name))] if written else []
    inside = row(
        replace(icon("search"), width=40),
        replace(field(name, written, hint=hint, id="open_search_bar", plain=True, grow=1, height=48), across="center"),
        *clear,
        *actions,
        fill="card",
        round=28,
        height=56,
        pad=(4, 0, 4, 0),
    )
    return column(inside, pad=(12, 8, 12, 4))


# All of them


class People(Screen):
    name = PEOPLE

    def view(self, at: Scene) -> View:
        part = at.get("part", "contacts")
        body = {"contacts": _everyone, "highlights": _highlights, "organize": _organize}[part](at)
        parts = bottom_bar([(picture, name) for picture, name in _parts(at).values()], _parts(at)[part][1], "part")
        chosen = _chosen(at)
        top = _choosing_bar(at) if chosen else search_bar(at, "Search contacts", _more())
        if part == "organize":
            top = app_bar(_parts(at)[part][1])
        frame = column(top, listing(body, name=part), parts, fill="page")
        layers = [frame]
        if part == "contacts" and not chosen:
            name = at.taste.choose("create contact", *CREATE_NAMES)
            create = fab("add", name, ("create",), id="floating_action_button")
            layers.append(replace(floating(create), pad=(16, 16, 16, 96)))
        return View(kind=FRAME, flow="stack", children=(*layers, *_over_people(at)))

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("part", name):
                turn.keep(part=next(key for key, (_, said) in _parts(turn).items() if said == name), chosen=frozenset())
                turn.focus("")
            case ("open", number) if _chosen(turn):
                self.on(turn, ("mark", number))
            case ("open", number):
                turn.focus("")
                turn.open(CARD, id=number)
            case ("mark", number):
                turn.keep(chosen=_chosen(turn) ^ {number})
            case ("all",):
                turn.drop(OVER)
                turn.keep(chosen=frozenset(each.id for each in _found(turn)))
            case ("none",):
                turn.drop("chosen", OVER)
            case ("create",):
                turn.focus("")
                turn.open(EDITOR)
            case ("over", name):
                turn.keep(**{OVER: name})
            case ("leave",):
                turn.drop(OVER)
            case ("sort", order):
                turn.set("system", SORT_ORDER, order)
                turn.drop(OVER)
            case ("delete",):
                count = len(_chosen(turn))
                storage.throw_away(turn, _chosen(turn))
                turn.drop("chosen", OVER)
                turn.toast(f"{_counted(count)} deleted")
            case ("share",):
                cards = "".join(each.text() for each in storage.contacts(turn) if each.id in _chosen(turn))
                turn.drop("chosen", OVER)
                _share(turn, cards)
            case ("export",):
                turn.write(EXPORT, "".join(each.text() for each in storage.contacts(turn)))
                turn.toast(f"{_counted(len(storage.contacts(turn)))} exported to Download/contacts.vcf")
            case ("trash",):
                turn.open(TRASH)
            case ("clear", name):
                turn.keep(**{name: ""})

    def back(self, turn: Turn) -> None:
        if OVER in turn.kept:
            turn.drop(OVER)
        elif _chosen(turn):
            turn.drop("chosen")
        elif turn.get("search"):
            turn.drop("search")
            turn.focus("")
        elif turn.get("part", "contacts") != "contacts":
            turn.drop("part")
        else:
            turn.close()


def _parts(at: Scene) -> dict[str, tuple[str, str]]:
    """Icon and name of what the bar at the bottom leads to."""
    return {
        "contacts": ("person", "Contacts"),
        "highlights": ("star", at.taste.choose("highlights", "Highlights", "Favorites")),
        "organize": ("settings", at.taste.choose("organize", "Organize", "Fix & manage")),
    }


def _chosen(at: Scene) -> frozenset[int]:
    found = at.get("chosen", frozenset())
    assert isinstance(found, frozenset)
    return found


def _more() -> View:
    return icon_button("more", "More options", ("over", "menu"))


def _choosing_bar(at: Scene) -> View:
    actions = (
        icon_button("share", "Share", ("share",)),
        icon_button("delete", "Delete", ("over", "delete")),
        _more(),
    )
    return app_bar(f"{len(_chosen(at))} selected", up=("none",), up_icon="close", actions=actions, fill="soft")


def _found(at: Scene) -> list[Contact]:
    """Those that fit what is looked for, in the order that was chosen."""
    wanted = str(at.get("search", "")).strip().lower()
    digits = "".join(each for each in wanted if each.isdigit())
    found = [each for each in storage.contacts(at) if _fits(each, wanted, digits)]
    if at.setting("system", SORT_ORDER, BY_FIRST) == BY_LAST:
        found.sort(key=lambda each: storage.sorted_as(each.last or each.name))
    return found


def _fits(contact: Contact, wanted: str, digits: str) -> bool:
    if not wanted:
        return True
    words = [contact.name, contact.company, *(value for value, _ in contact.emails)]
    numbers = ["".join(each for each in value if each.isdigit()) for value, _ in contact.phones]
    return any(wanted in each.lower() for each in words) or (bool(digits) and any(digits in each for each in numbers))


def _everyone(at: Scene) -> Sequence[View]:
    found = _found(at)
    if not found:
        searched = bool(at.get("search"))
        return [_nothing("search" if searched else "people", "No results" if searched else "No contacts yet")]
    stars = [] if at.get("search") else [each for each in found if each.starred]
    body: list[View] = []
    if stars:
        body += [_letter("Favorites"), *(_line(at, each) for each in stars)]
    last, letter = at.setting("system", SORT_ORDER, BY_FIRST) == BY_LAST, ""
    for each in found:
        first = storage.sorted_as((each.last if last else "") or each.name)[:1].upper()
        first = first if first.isalpha() else "#"
        if first != letter and not at.get("search"):
            body.append(_letter(first))
        letter = first
        body.append(_line(at, each))
    return [*body, space(height=96)]


def _letter(said: str) -> View:
    return text(said, size=14, color="primary", bold=True, pad=(20, 10, 16, 2))


def _line(at: Scene, contact: Contact) -> View:
    on = contact.id in _chosen(at)
    start = icon("task", size=40, color="primary") if on else face(contact.name)
    return item(
        contact.name,
        tap=("open", contact.id),
        hold=("mark", contact.id),
        start=start,
        selected=on,
        id="cliv_name_textview",
    )


def _nothing(picture: str, said: str) -> View:
    return column(
        icon(picture, size=64, color="line"),
        text(said, size=18, color="faint", along="center", id="empty_text"),
        gap=16,
        pad=(24, 96, 24, 24),
    )


def _highlights(at: Scene) -> Sequence[View]:
    stars = [each for each in storage.contacts(at) if each.starred]
    recent = storage.contacts(at)[-1:] and sorted(storage.contacts(at), key=lambda each: -each.id)[:3]
    if not recent:
        return [_nothing("star", "Contacts that you star or add show up here")]
    body = [_letter("Favorites"), *(_line(at, each) for each in stars)] if stars else []
    return [*body, _letter("Recently added"), *(_line(at, each) for each in recent)]


def _organize(at: Scene) -> Sequence[View]:
    return [
        item("Export to file", "All contacts, to Download", tap=("export",), start=icon("upload")),
        item("Trash", f"{_counted(len(storage.trash(at)))}", tap=("trash",), start=icon("delete")),
        item("Sort by", _order_name(at), tap=("over", "sort"), start=icon("sort")),
        item("Contacts storage", "Device only", start=icon("display")),
    ]


def _order_name(at: Scene) -> str:
    return "Last name" if at.setting("system", SORT_ORDER, BY_FIRST) == BY_LAST else "First name"


def _counted(count: int) -> str:
    return f"{count} contact" + ("" if count == 1 else "s")


def _over_people(at: Scene) -> Iterable[View]:
    over = at.get(OVER)
    if over == "menu":
        entries: list[tuple[str, Event]] = [("Select all", ("all",)), ("Sort by", ("over", "sort"))]
        entries += [("Trash", ("trash",))] if not _chosen(at) else [("Clear selection", ("none",))]
        yield menu(at.taste.order("contacts menu", entries), ("leave",))
    elif over == "sort":
        order = at.setting("system", SORT_ORDER, BY_FIRST)
        choices = [
            radio("First name", order == BY_FIRST, ("sort", BY_FIRST)),
            radio("Last name", order == BY_LAST, ("sort", BY_LAST)),
        ]
        yield dialog("Sort by", choices, [button("Cancel", ("leave",))], dismiss=("leave",))
    elif over == "delete":
        count = len(_chosen(at))
        buttons = [button("Cancel", ("leave",)), button("Delete", ("delete",))]
        said = f"{_counted(count)} will be moved to the trash."
        yield dialog(f"Delete {_counted(count)}?", [], buttons, dismiss=("leave",), said=said)


def _share(turn: Turn, cards: str) -> None:
    asked = Intent("android.intent.action.SEND", kind="text/plain", extras={"android.intent.extra.TEXT": cards})
    if not turn.ask(asked):
        turn.toast("No app can take this")


# One of them


class Card(Screen):
    name = CARD

    def view(self, at: Scene) -> View:
        shown = storage.contact(at, at.extras.get("id", 0))
        if shown is None:
            return page("", [_nothing("person", "This contact is gone")], up=("up",))
        actions = [
            icon_button("edit", "Edit contact", ("edit",), id="menu_insert_or_edit"),
            icon_button(
                "star",
                "Remove from favorites" if shown.starred else "Add to favorites",
                ("star", not shown.starred),
                color="primary" if shown.starred else "faint",
            ),
            icon_button("more", "More options", ("over", "menu")),
        ]
        bar = app_bar("", up=("up",), actions=actions)
        body = [_head(shown), _doors(shown), divider(), *_known(shown)]
        frame = column(bar, listing(body, name="card"), fill="page")
        return View(kind=FRAME, flow="stack", children=(frame, *_over_card(at, shown)))

    def on(self, turn: Turn, event: Event) -> None:
        number = turn.extras.get("id", 0)
        match event:
            case ("up",):
                turn.close()
            case ("edit",):
                turn.drop(OVER)
                turn.open(EDITOR, id=number)
            case ("star", on):
                storage.star(turn, number, on=on)
                turn.toast("Added to favorites" if on else "Removed from favorites")
            case ("over", name):
                turn.keep(**{OVER: name})
            case ("leave",):
                turn.drop(OVER)
            case ("share",):
                turn.drop(OVER)
                found = storage.contact(turn, number)
                _share(turn, found.text() if found else "")
            case ("delete",):
                storage.throw_away(turn, [number])
                turn.close()
                turn.toast("1 contact deleted")
            case ("call" | "write" | "mail" as does, whom):
                turn.drop(OVER)
                _reach(turn, does, whom)
            case ("copy", said):
                turn.copy(said)
                turn.toast("Copied to clipboard")


def _head(shown: Contact) -> View:
    words = [text(shown.name, size=28, along="center", id="large_title")]
    if shown.company and shown.company != shown.name:
        words.append(text(shown.company, color="faint", along="center", id="organization_name"))
    return column(face(shown.name, 112), *words, gap=8, pad=(24, 8, 24, 16))


def _doors(shown: Contact) -> View:
    """The ways to reach somebody; those that are not known are grey."""
    phone = shown.phones[0][0] if shown.phones else ""
    mail = shown.emails[0][0] if shown.emails else ""
    ways = (("call", "Call", "call", phone), ("message", "Text", "write", phone), ("mail", "Email", "mail", mail))
    return row(*(_door(*each) for each in ways), pad=(24, 0, 24, 16))


def _door(picture: str, name: str, does: str, whom: str) -> View:
    color = "on_soft" if whom else "line"
    disc = View(
        width=48, height=48, across="center",
        look=Look(fill="soft" if whom else "card", round=24, icon=picture, size=22, color=color),
    )  # fmt: skip
    words = text(name, size=13, along="center", color="primary" if whom else "faint")
    return replace(
        column(disc, replace(words, told=False), gap=6, grow=1, desc=name, tap=(does, whom) if whom else None),
        enabled=bool(whom),
    )


def _known(shown: Contact) -> Iterable[View]:
    yield text("Contact info", size=14, bold=True, pad=(20, 16, 16, 4))
    if not (shown.phones or shown.emails or shown.address or shown.notes):
        yield item("Add a phone number or email", tap=("edit",), start=icon("edit"))
    for phone, label in shown.phones:
        write = icon_button("message", f"Text {label}", ("write", phone))
        yield item(phone, label, tap=("call", phone), hold=("copy", phone), start=icon("call"), end=write, id="header")
    for address, label in shown.emails:
        yield item(address, label, tap=("mail", address), hold=("copy", address), start=icon("mail"), id="header")
    if shown.address:
        yield item(shown.address, "Address", hold=("copy", shown.address), start=icon("place"), id="header")
    if shown.notes:
        yield column(
            text("Notes", size=14, color="faint"),
            text(shown.notes, id="note"),
            gap=4,
            pad=(20, 12, 16, 12),
            hold=("copy", shown.notes),
        )
    yield space(height=24)


def _reach(turn: Turn, does: str, whom: str) -> None:
    intents = {
        "call": Intent("android.intent.action.CALL", f"tel:{whom}"),
        "write": Intent("android.intent.action.SENDTO", f"sms:{whom}"),
        "mail": Intent("android.intent.action.SENDTO", f"mailto:{whom}"),
    }
    if not turn.ask(intents[does]):
        turn.toast("No app can do this")


def _over_card(at: Scene, shown: Contact) -> Iterable[View]:
    over = at.get(OVER)
    if over == "menu":
        entries: list[tuple[str, Event]] = [("Share", ("share",)), ("Delete", ("over", "delete"))]
        yield menu(at.taste.order("contact menu", entries), ("leave",))
    elif over == "delete":
        buttons = [button("Cancel", ("leave",)), button("Delete", ("delete",))]
        said = f"{shown.name} will be moved to the trash."
        yield dialog("Delete contact?", [], buttons, dismiss=("leave",), said=said)


# Writing one


class Editor(Screen):
    name = EDITOR

    def view(self, at: Scene) -> View:
        save = button(at.taste.choose("save contact", *SAVE_NAMES), ("save",), style="filled", id="toolbar_button")
        title = "Edit contact" if at.extras.get("id") else "Create contact"
        bar = app_bar(title, up=("up",), up_icon="close", actions=[save, space(width=8)])
        account = row(
            icon("display", size=18), text("Save to Device", size=14, color="faint", across="center"),
            gap=8, pad=(20, 4, 16, 4), height=36,
        )  # fmt: skip
        body = [account, *_forms(at), space(height=32)]
        frame = column(bar, listing(body, name="editor", pad=(8, 0, 12, 0)), fill="page")
        return View(kind=FRAME, flow="stack", children=(frame, *_over_editor(at)))

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                self.back(turn)
            case ("save",):
                _save(turn)
            case ("more",):
                turn.keep(more=True)
            case ("labels", name):
                turn.focus("")
                turn.keep(**{OVER: name})
            case ("label", name, label):
                turn.drop(OVER)
                turn.keep(**{_label_of(name): label})
            case ("empty", name):
                turn.keep(**{name: ""})
            case ("leave",):
                turn.drop(OVER)
            case ("discard",):
                turn.close()

    def back(self, turn: Turn) -> None:
        if OVER in turn.kept:
            turn.drop(OVER)
        elif _edited(turn) != _began_with(turn):
            turn.focus("")
            turn.keep(**{OVER: "discard"})
        else:
            turn.close()

    def entered(self, turn: Turn, field: str) -> None:
        """On to the next field."""
        names = _fields(turn)
        place = names.index(field) + 1 if field in names else len(names)
        turn.focus(names[place] if place < len(names) else "")


FILLED_IN = ("name", "phone", "email", "company", "notes")
"""What another app can fill in."""

_NAMES = {"first": "First name", "middle": "Middle name", "last": "Last name"}


def _began_with(at: Scene) -> Contact:
    """What is there before anything is written: the contact that is edited, or what another app has filled in."""
    number = at.extras.get("id")
    found = storage.contact(at, number) if isinstance(number, int) else None
    if found is not None:
        return found
    given = {name: str(at.extras.get(name, "")) for name in FILLED_IN}
    first, middle, last = storage.split_name(given["name"])
    return Contact(
        first=first,
        middle=middle,
        last=last,
        company=given["company"],
        notes=given["notes"],
        phones=((given["phone"], FIRST_PHONE_LABEL),) if given["phone"] else (),
        emails=((given["email"], FIRST_EMAIL_LABEL),) if given["email"] else (),
    )


def _edited(at: Scene) -> Contact:
    """As it is written now."""
    before = _began_with(at)
    plain = ("first", "middle", "last", "company", "address", "notes")
    written: dict[str, Any] = {name: str(at.get(name, getattr(before, name))).strip() for name in plain}
    phones = tuple(each for each in _lines(at, "phone", before.phones) if each[0])
    emails = tuple(each for each in _lines(at, "email", before.emails) if each[0])
    return replace(before, phones=phones, emails=emails, **written)


def _lines(at: Scene, kind: str, before: Labelled) -> list[tuple[str, str]]:
    """The numbers or addresses as they are written, and one more that is still empty."""
    first = FIRST_PHONE_LABEL if kind == "phone" else FIRST_EMAIL_LABEL
    lines: list[tuple[str, str]] = []
    while True:
        name = f"{kind} {len(lines)}"
        known = before[len(lines)] if len(lines) < len(before) else ("", first)
        line = str(at.get(name, known[0])).strip(), str(at.get(_label_of(name), known[1]))
        lines.append(line)
        is_last = len(lines) >= len(before) and f"{kind} {len(lines)}" not in at.kept
        if is_last:
            return lines if not line[0] else [*lines, ("", first)]


def _label_of(name: str) -> str:
    return f"label of {name}"


def _forms(at: Scene) -> Iterable[View]:
    before = _began_with(at)
    more = bool(at.get("more") or before.middle or before.address or before.notes)
    names = [name for name in _NAMES if more or name != "middle"]
    photo = View(
        kind="android.widget.ImageView", desc="Contact photo", width=72, height=72, across="center",
        look=Look(fill="card", round=36, icon="person", size=36, color="faint"),
    )  # fmt: skip
    yield row(photo, column(*(_form(at, name, _NAMES[name], before) for name in names), grow=1), gap=12)
    for block in at.taste.order("contact editor", ["company", "phone", "email"]):
        if block == "company":
            yield _beside("briefcase", _form(at, "company", "Company", before))
        else:
            yield from _labelled_forms(at, block, before.phones if block == "phone" else before.emails)
    if more:
        yield _beside("place", _form(at, "address", "Address", before))
        yield _beside("document", _form(at, "notes", "Notes", before))
    else:
        yield column(button("More fields", ("more",), across="start"), pad=(60, 12, 0, 0))


def _form(at: Scene, name: str, label: str, before: Contact) -> View:
    return labelled(name, label, str(at.get(name, getattr(before, name))), focused=at.activity.focus == name)


def _beside(picture: str, form: View) -> View:
    start = replace(icon(picture), width=48) if picture else space(width=48)
    return row(start, replace(form, grow=1), gap=12)


def _labelled_forms(at: Scene, kind: str, before: Labelled) -> Iterable[View]:
    title, picture = ("Phone", "call") if kind == "phone" else ("Email", "mail")
    for place, (value, label) in enumerate(_lines(at, kind, before)):
        name = f"{kind} {place}"
        written = str(at.get(name, value))
        form = labelled(name, title, written, focused=at.activity.focus == name)
        yield _beside(picture if place == 0 else "", form)
        if written or place == 0:
            yield row(space(width=60), _label_button(name, label, title), space(grow=1), gap=0, pad=(0, 8, 0, 0))


def _label_button(name: str, label: str, title: str) -> View:
    return View(
        kind="android.widget.Spinner", text=label, desc=f"{label} {title}", tap=("labels", name), width=160, height=44,
        pad=(12, 0, 12, 0), flow="row", look=Look(border="line", round=8, size=15, lines=1),
        children=(space(grow=1), icon("down", size=18)),
    )  # fmt: skip


def _fields(at: Scene) -> list[str]:
    """The names of the fields, from the first to the last."""

    def walk(view: View) -> Iterable[str]:
        if view.field:
            yield view.field
        for child in view.children:
            yield from walk(child)

    return [name for form in _forms(at) for name in walk(form)]


def _over_editor(at: Scene) -> Iterable[View]:
    over = at.get(OVER)
    if over == "discard":
        buttons = [button("Keep editing", ("leave",)), button("Discard", ("discard",))]
        yield dialog("", [], buttons, dismiss=("leave",), said="Your changes have not been saved.")
    elif over:
        kind, place = str(over).split()
        before = _began_with(at)
        chosen = _lines(at, kind, before.phones if kind == "phone" else before.emails)[int(place)][1]
        labels = PHONE_LABELS if kind == "phone" else EMAIL_LABELS
        choices = [radio(label, label == chosen, ("label", over, label)) for label in labels.values()]
        yield dialog("Select label", choices, [button("Cancel", ("leave",))], dismiss=("leave",))


def _save(turn: Turn) -> None:
    new = _edited(turn)
    if not new.name:
        turn.close()
        turn.toast("Nothing to save. Contact discarded.")
        return
    number = storage.save(turn, new)
    if new.id:
        turn.close()
    else:
        turn.become(Activity(PACKAGE, CARD, {"id": number}))
        turn.focus("", keyboard=False)
    turn.toast(f"{new.name} saved")


# What was thrown away


class Trash(Screen):
    name = TRASH

    def view(self, at: Scene) -> View:
        gone = storage.trash(at)
        body = [item(each.name, "Touch to recover", tap=("recover", each.id), start=face(each.name)) for each in gone]
        actions = [button("Empty", ("over",))] if gone else []
        over = []
        if OVER in at.kept:
            buttons = [button("Cancel", ("leave",)), button("Delete forever", ("empty",))]
            over = [dialog("Empty trash?", [], buttons, dismiss=("leave",), said="This cannot be undone.")]
        return page("Trash", body or [_nothing("delete", "Trash is empty")], up=("up",), actions=actions, over=over)

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("recover", number):
                storage.throw_away(turn, [number], back=True)
                turn.toast("Contact recovered")
            case ("over",):
                turn.keep(**{OVER: "empty"})
            case ("leave",):
                turn.drop(OVER)
            case ("empty",):
                turn.drop(OVER)
                storage.empty_trash(turn)


class Contacts(App):
    package = PACKAGE
    label = "Contacts"
    icon = "person"
    colour = "#1a73e8"
    screens = (People, Card, Editor, Trash)

    def activity_for(self, at: Scene, intent: Intent) -> Activity | None:
        action = intent.action.rpartition(".")[2]
        if action in ("INSERT", "INSERT_OR_EDIT") and "contact" in intent.kind + intent.data:
            given = {name: str(value) for name, value in intent.extras.items() if name in FILLED_IN}
            return Activity(PACKAGE, EDITOR, given)
        about_people = intent.data.startswith(("content://contacts/people", "content://com.android.contacts/contacts"))
        if action == "VIEW" and about_people:
            number = intent.data.rstrip("/").rpartition("/")[2]
            if number.isdigit() and storage.contact(at, int(number)):
                return Activity(PACKAGE, CARD, {"id": int(number)})
            return Activity(PACKAGE, PEOPLE)
        return None
