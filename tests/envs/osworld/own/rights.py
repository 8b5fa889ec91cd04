"""What a machine's files are when somebody has done each task as it was asked: made by libraries, or by hand."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

from eapo_gym.envs.osworld.own.apps.office import SETTINGS
from eapo_gym.envs.osworld.own.apps.vlc import SETTINGS as VLC_SETTINGS
from eapo_gym.envs.osworld.own.base import DOCUMENTS, Params
from eapo_gym.envs.osworld.own.catalog import templates
from eapo_gym.envs.osworld.own.making import mail, web
from eapo_gym.envs.osworld.own.making.packing import zipped
from tests.envs.osworld.own.folder_computer import FolderComputer

Right = Callable[[FolderComputer, Params], None]
RIGHTS: dict[str, Right] = {}
"""Of every template that is not merely a file like the one that is expected."""


def right(*names: str) -> Callable[[Right], Right]:
    def keep(does: Right) -> Right:
        RIGHTS.update(dict.fromkeys(names, does))
        return does

    return keep


def place_of(name: str, params: Params) -> str:
    template: Any = templates()[name]
    return str(template.place(params))


def changed_book(name: str, change: Callable[[Any, Params], None]) -> None:
    def does(machine: FolderComputer, params: Params) -> None:
        import openpyxl

        place = place_of(name, params)
        book = openpyxl.load_workbook(BytesIO(machine.read_file(place) or b""))
        change(book.worksheets[0], params)
        target = BytesIO()
        book.save(target)
        machine.write_file(place, target.getvalue())

    RIGHTS[name] = does


def changed_paper(name: str, change: Callable[[Any, Params], None]) -> None:
    def does(machine: FolderComputer, params: Params) -> None:
        import docx

        place = place_of(name, params)
        paper = docx.Document(BytesIO(machine.read_file(place) or b""))
        change(paper, params)
        target = BytesIO()
        paper.save(target)
        machine.write_file(place, target.getvalue())

    RIGHTS[name] = does


def changed_show(name: str, change: Callable[[Any, Params], None]) -> None:
    def does(machine: FolderComputer, params: Params) -> None:
        import pptx

        place = place_of(name, params)
        show = pptx.Presentation(BytesIO(machine.read_file(place) or b""))
        change(show, params)
        target = BytesIO()
        show.save(target)
        machine.write_file(place, target.getvalue())

    RIGHTS[name] = does


def changed_picture(name: str, change: Callable[[Any, Params], Any]) -> None:
    def does(machine: FolderComputer, params: Params) -> None:
        from PIL import Image

        place = place_of(name, params)
        picture = change(Image.open(BytesIO(machine.read_file(place) or b"")), params)
        target = BytesIO()
        picture.save(target, "PNG")
        machine.write_file(place, target.getvalue())

    RIGHTS[name] = does


def office_setting(node: str, name: str, value: str) -> Right:
    """The office apps' file of settings, with this one in it."""

    def does(machine: FolderComputer, params: Params) -> None:
        item = f'<item oor:path="{node}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
        head = '<oor:items xmlns:oor="http://openoffice.org/2001/registry">'
        machine.write_file(SETTINGS, f"{head}{item.format(**params)}</oor:items>".encode())

    return does


# Spreadsheets


def _set_total(sheet: Any, params: Params) -> None:
    sheet[params["cell"]] = sum(row["ABCD".index(params["letter"])] for row in params["goods"])


def _set_average(sheet: Any, params: Params) -> None:
    values = [row["ABCD".index(params["letter"])] for row in params["goods"]]
    sheet[params["cell"]] = sum(values) / len(values)


def _bold(sheet: Any, params: Params) -> None:
    from openpyxl.styles import Font

    for cell in sheet[1]:
        cell.font = Font(bold=True)


def _percent(sheet: Any, params: Params) -> None:
    for line in range(2, params["last"] + 1):
        sheet[f"E{line}"].number_format = "0.00%"


changed_book("CalcTotal", _set_total)
changed_book("CalcAverage", _set_average)
changed_book("CalcBoldHeadings", _bold)
changed_book("CalcPercent", _percent)


# Documents


def _center(paper: Any, params: Params) -> None:
    paper.paragraphs[0].alignment = 1


def _font(paper: Any, params: Params) -> None:
    for paragraph in paper.paragraphs:
        for run in paragraph.runs:
            run.font.name = params["font"]


def _break(paper: Any, params: Params) -> None:
    from docx.enum.text import WD_BREAK

    paragraph = paper.paragraphs[params["number"]]
    paragraph.insert_paragraph_before().add_run().add_break(WD_BREAK.PAGE)


def _strike(paper: Any, params: Params) -> None:
    for run in paper.paragraphs[-1].runs:
        run.font.strike = True


changed_paper("WriterCenterTitle", _center)
changed_paper("WriterFont", _font)
changed_paper("WriterPageBreak", _break)
changed_paper("WriterStrikeLast", _strike)


RIGHTS["WriterDefaultFont"] = office_setting("/org.openoffice.Office.Writer/DefaultFont", "Standard", "{font}")


@right("WriterExportPdf", "ChromeSavePdf")
def pdf(machine: FolderComputer, params: Params) -> None:
    machine.write_file(params["target"], b"%PDF-1.6\n%%EOF\n")


@right("DocumentToFolder")
def pdf_in_folder(machine: FolderComputer, params: Params) -> None:
    machine.write_file(f"{DOCUMENTS}/{params['folder']}/{params['pdf']}", b"%PDF-1.6\n%%EOF\n")


# Presentations


def _portrait(show: Any, params: Params) -> None:
    show.slide_width, show.slide_height = show.slide_height, show.slide_width


def _strike_title(show: Any, params: Params) -> None:
    run = show.slides[params["number"] - 1].shapes[0].text_frame.paragraphs[0].runs[0]
    run.font._element.set("strike", "sngStrike")


changed_show("ImpressPortrait", _portrait)
changed_show("ImpressStrike", _strike_title)


@right("ImpressTransition")
def transition(machine: FolderComputer, params: Params) -> None:
    import zipfile

    template: Any = templates()["ImpressTransition"]
    place = template.place(params)
    slide = f"ppt/slides/slide{params['number']}.xml"
    with zipfile.ZipFile(BytesIO(machine.read_file(place) or b"")) as archive:
        files = {info.filename: archive.read(info) for info in archive.infolist()}
    effect = f"<p:transition><p:{template.transitions[params['name']]}/></p:transition></p:sld>".encode()
    files[slide] = files[slide].replace(b"</p:sld>", effect)
    machine.write_file(place, zipped(files))


RIGHTS["ImpressPresenterConsole"] = office_setting(
    "/org.openoffice.Office.Impress/Misc/Start", "EnablePresenterScreen", "false"
)
RIGHTS["ImpressAutosave"] = office_setting(
    "/org.openoffice.Office.Common/Save/Document", "AutoSaveTimeIntervall", "{minutes}"
)


# Pictures

changed_picture("GimpScale", lambda picture, params: picture.resize((params["width"], params["size"][1] // 2)))
changed_picture("GimpMirror", lambda picture, params: picture.transpose(0))
changed_picture("GimpIndexed", lambda picture, params: picture.quantize(256))
changed_picture("GimpDarker", lambda picture, params: picture.point(lambda value: value * 8 // 10))


@right("GimpExportJpeg")
def jpeg(machine: FolderComputer, params: Params) -> None:
    from PIL import Image

    target = BytesIO()
    Image.open(BytesIO(machine.read_file(place_of("GimpExportJpeg", params)) or b"")).save(target, "JPEG", quality=90)
    machine.write_file(params["target"], target.getvalue())


@right("GimpUndoLevels")
def undo_levels(machine: FolderComputer, params: Params) -> None:
    text = f'# GIMP gimprc\n\n(undo-levels {params["levels"]})\n(theme "Dark")\n'
    machine.write_file("/home/user/.config/GIMP/2.10/gimprc", text.encode())


# The media player


def _vlc(line: Callable[[Params], str]) -> Right:
    def does(machine: FolderComputer, params: Params) -> None:
        machine.write_file(VLC_SETTINGS, f"[core]\n# Something\n#audio=1\n\n{line(params)}\n".encode())

    return does


RIGHTS |= {
    "VlcTitleOff": _vlc(lambda params: "video-title-show=0"),
    "VlcOneInstance": _vlc(lambda params: "one-instance-when-started-from-file=0"),
    "VlcMinimalView": _vlc(lambda params: "qt-minimal-view=1"),
    "VlcPauseMinimized": _vlc(lambda params: "qt-pause-minimized=1"),
    "VlcNoSound": _vlc(lambda params: "audio=0"),
    "VlcSnapshots": _vlc(lambda params: f"snapshot-path={params['folder']}\nsnapshot-prefix={params['prefix']}"),
    "VlcRecordFolder": _vlc(lambda params: f"input-record-path={params['folder']}"),
}


@right("VlcPlaylist")
def playlist(machine: FolderComputer, params: Params) -> None:
    lines = ["#EXTM3U", *(f"#EXTINF:60,{params[n]}.avi\n{params[n]}.avi" for n in ("first", "second"))]
    machine.write_file(params["target"], "\n".join(lines).encode())


# The browser


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by names such as "bookmark_bar.show_on_all_tabs", as the browser's file has them."""
    whole: dict[str, Any] = {}
    for name, value in values.items():
        *folders, last = name.split(".")
        place = whole
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = value
    return whole


def _preferences(values: Callable[[Params], Mapping[str, Any]]) -> Right:
    def does(machine: FolderComputer, params: Params) -> None:
        machine.write_file(f"{web.PROFILE}/Preferences", json.dumps(_nested(values(params))).encode())

    return does


RIGHTS |= {
    "ChromeStartup": _preferences(lambda params: {"session.restore_on_startup": 1}),
    "ChromeAskDownload": _preferences(lambda params: {"download.prompt_for_download": True}),
    "ChromeNoPasswords": _preferences(lambda params: {"credentials_enable_service": False}),
    "ChromeDoNotTrack": _preferences(lambda params: {"enable_do_not_track": True}),
    "ChromeBookmarksBar": _preferences(lambda params: {"bookmark_bar.show_on_all_tabs": True}),
    "ChromeFontSize": _preferences(
        lambda params: {
            "webkit.webprefs.default_font_size": templates()["ChromeFontSize"].sizes[params["name"]],  # type: ignore[attr-defined]
            "webkit.webprefs.default_fixed_font_size": 13,
        }
    ),
}


@right("ChromeBookmark")
def bookmark(machine: FolderComputer, params: Params) -> None:
    template: Any = templates()["ChromeBookmark"]
    bar = [("Example", "https://example.org/"), (params["topic"], template.address(params))]
    machine.write_file(f"{web.PROFILE}/Bookmarks", web.bookmarks(bar))


@right("ChromeBookmarkFolder")
def bookmark_folder(machine: FolderComputer, params: Params) -> None:
    kept = json.loads(machine.read_file(f"{web.PROFILE}/Bookmarks") or b"")
    kept["roots"]["bookmark_bar"]["children"].append({"type": "folder", "name": params["folder"], "children": []})
    machine.write_file(f"{web.PROFILE}/Bookmarks", json.dumps(kept).encode())


# Mail


def _mail_preference(name: str, value: str) -> Right:
    def does(machine: FolderComputer, params: Params) -> None:
        place = f"{mail.PROFILE}/prefs.js"
        machine.write_file(place, (machine.read_file(place) or b"") + f'user_pref("{name}", {value});\n'.encode())

    return does


RIGHTS |= {
    "MailSpellCheck": _mail_preference("mail.SpellCheckBeforeSend", "true"),
    "MailNoHistory": _mail_preference("places.history.enabled", "false"),
}


@right("MailNewFolder")
def mail_folder(machine: FolderComputer, params: Params) -> None:
    machine.write_file(f"{mail.MAIL}/{params['new']}", b"")


def _letter(params: Params) -> bytes:
    template: Any = templates()["MailMove"]
    return mail.box([template.letters(params)[params["number"]]])


@right("MailMove")
def moved_letter(machine: FolderComputer, params: Params) -> None:
    machine.write_file(f"{mail.MAIL}/{params['other']}", _letter(params))


@right("MailDelete")
def deleted_letter(machine: FolderComputer, params: Params) -> None:
    machine.write_file(f"{mail.MAIL}/Trash", _letter(params))


@right("MailSaveAs")
def saved_letter(machine: FolderComputer, params: Params) -> None:
    machine.write_file(params["target"], _letter(params).split(b"\n", 1)[1])


@right("MailTag")
def tagged_letter(machine: FolderComputer, params: Params) -> None:
    template: Any = templates()["MailTag"]
    label = f"X-Mozilla-Keys: $label{template.tags.index(params['tag']) + 1}".ljust(96)
    letter = _letter(params).decode()
    place = f"{mail.MAIL}/{params['inbox']}"
    box = (machine.read_file(place) or b"").decode()
    machine.write_file(place, box.replace(letter, re.sub("X-Mozilla-Keys: +", label, letter)).encode())


@right("MailFilter")
def mail_filter(machine: FolderComputer, params: Params) -> None:
    lines = ["version=\"9\"", "logging=\"no\"", f'name="{params["name"]}"', 'enabled="yes"', 'type="17"',
             'action="Mark flagged"', f'condition="AND (subject,contains,{params["word"]})"']  # fmt: skip
    machine.write_file(f"{mail.MAIL}/msgFilterRules.dat", "\n".join([*lines, ""]).encode())


# Files


def _put_where_wanted(name: str) -> None:
    def does(machine: FolderComputer, params: Params) -> None:
        template: Any = templates()[name]
        for place in template.places(params):
            machine.remove(f"{DOCUMENTS}/{place}")
        for place in template.wanted(params):
            machine.write_file(f"{DOCUMENTS}/{place}", b"text\n")

    RIGHTS[name] = does


for _name in ("FilesRename", "FilesMove", "FilesCopy", "FilesDelete", "FilesUnhide"):
    _put_where_wanted(_name)


@right("FilesNewFolder")
def new_folder(machine: FolderComputer, params: Params) -> None:
    machine.make_folder(f"{DOCUMENTS}/{params['new']}")


@right("TerminalCount")
def counted(machine: FolderComputer, params: Params) -> None:
    count = sum(f" {params['level']} " in line for line in params["log"])
    machine.write_file(params["target"], f" {count}\n".encode())


@right("TerminalPermissions")
def permitted(machine: FolderComputer, params: Params) -> None:
    for name in params["scripts"]:
        mode = int(params["mode"], 8)
        (machine.folder / "Documents" / params["folder"] / name).chmod(stat.S_IFREG | mode)


@right("TerminalArchive")
def packed(machine: FolderComputer, params: Params) -> None:
    machine.execute(["tar", "czf", params["target"], "-C", DOCUMENTS, params["folder"]])


@right("TotalToNote")
def noted(machine: FolderComputer, params: Params) -> None:
    machine.write_file(params["note"], str(sum(row[1] for row in params["goods"])).encode())
