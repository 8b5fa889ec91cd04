"""Names of files, sentences for notes, and receipts that tasks are about."""

from __future__ import annotations

import io
import posixpath
import string
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import TaskDice

ADJECTIVES = (
    "amber", "ancient", "bouncy", "breezy", "chilly", "copper", "cosy", "crisp", "daring", "dusty", "faded", "golden",
    "hasty", "hidden", "humble", "icy", "keen", "little", "loud", "lucky", "mellow", "merry", "misty", "modest",
    "narrow", "nimble", "noisy", "odd", "pale", "patient", "plain", "purple", "quiet", "rapid", "rosy", "rusty",
    "sandy", "silent", "silver", "sleepy", "smooth", "spare", "steady", "sunny", "tiny", "velvet", "vivid", "wild",
    "windy", "young",
)  # fmt: skip
NOUNS = (
    "anchor", "badger", "barrel", "basket", "beacon", "bridge", "candle", "canyon", "castle", "cedar", "cloud",
    "comet", "compass", "crane", "drum", "falcon", "feather", "ferry", "forest", "fountain", "garden", "glacier",
    "hammer", "harbor", "hedge", "island", "kettle", "kite", "ladder", "lantern", "magnet", "maple", "meadow",
    "mitten", "mirror", "otter", "paddle", "parrot", "pebble", "pillow", "planet", "river", "saddle", "shadow",
    "spoon", "teapot", "tunnel", "turtle", "walnut", "willow",
)  # fmt: skip
SENTENCES = (
    "The boiler is serviced on Friday at 8 AM.",
    "Return the drill to Marek before the weekend.",
    "Swap the tires before the first snow.",
    "Dinner with the neighbours moved to the 12th.",
    "Ask Rosa for the recipe of the plum cake.",
    "Choir meets on Mondays at 7 PM in the annex.",
    "Passport photos: two, without glasses.",
    "The blue bicycle needs a new chain.",
    "Order seeds: kale, beans and marigolds.",
    "Pay the swimming club by the 5th!",
    "Ferry leaves at 6:40, be there early.",
    "Don't park in the yard on Tuesday.",
    "Ines can't come, Felix takes her seat.",
    "Water the lemon tree twice a week.",
    "Measure the window above the sink.",
    "Film night: bring cushions.",
    "The spare key hangs behind the clock.",
    "Call the library about the lost atlas.",
    "Bread rises overnight, bake at dawn.",
    "Paint for the fence: two cans of green.",
    "A rolling stone gathers no moss.",
    "All roads lead to Rome.",
    "Rome wasn't built in a day.",
    "Every cloud has a silver lining.",
    "Half a loaf is better than none.",
    "Look before you leap.",
    "Many hands make light work.",
    "No smoke without a fire.",
    "Practice makes perfect.",
    "Still waters run deep.",
    "The proof of the pudding is in the eating.",
    "Too many cooks spoil the broth.",
)
NOTE_NAMES = (
    "allotment_planting_dates.md",
    "band_rehearsal_songs.md",
    "bike_tour_packing.md",
    "cellar_inventory.md",
    "chess_openings_to_learn.md",
    "choir_concert_program.md",
    "flat_hunting_questions.md",
    "french_vocabulary_week.md",
    "holiday_card_addresses.md",
    "interview_preparation.md",
    "kitchen_paint_colors.md",
    "language_course_homework.md",
    "museum_visit_ideas.md",
    "neighbourhood_party_tasks.md",
    "photo_album_captions.md",
    "school_trip_checklist.md",
    "sourdough_experiments.md",
    "television_series_to_watch.md",
    "tool_shed_repairs.md",
    "yearly_health_checks.md",
)
CHANGES = ("backup", "copy", "edited", "final")

COMPANIES = ("Circuit Corner Ltd.", "Pixel & Plug Inc.", "Cable Harbor LLC", "The Gadget Shed Co.")
SLOGANS = ("Wired for good", "Small parts, big plans", "Plug in and go", "Electronics without fuss")
WARES: Mapping[str, tuple[int, int]] = {
    "HDMI Adapter": (8, 25),
    "Desk Lamp": (20, 60),
    "Wireless Charger": (15, 45),
    "Portable Speaker": (30, 120),
    "Memory Card": (10, 50),
    "Laptop Sleeve": (15, 40),
}
"""What is sold, and for how many dollars at least and at most."""

RECEIPT_HEADER = "Date, Item, Amount"
PAGE_LETTERS = 24
"""How high the letters of a page are, in pixels."""

FIRST_DAY, LAST_DAY = date(2023, 1, 1), date(2023, 10, 14)


def draw_letters(dice: TaskDice, count: int) -> str:
    return "".join(dice.pick(string.ascii_letters + string.digits) for _ in range(count))


def draw_sentence(dice: TaskDice) -> str:
    return dice.pick(SENTENCES)


def draw_name(dice: TaskDice) -> str:
    """The name of a file, without its extension."""
    return draw_changed(dice, f"{dice.pick(ADJECTIVES)}_{dice.pick(NOUNS)}")


def draw_note_name(dice: TaskDice) -> str:
    return draw_name(dice) + dice.pick((".md", ".txt"))


def draw_changed(dice: TaskDice, name: str) -> str:
    """A name as people change it: with a date, a word or some letters before or after it."""
    stem, extension = posixpath.splitext(name)
    mark = dice.pick((f"{draw_day(dice):%Y_%m_%d}", draw_letters(dice, 4), dice.pick(CHANGES)))
    return f"{mark}_{stem}{extension}" if dice.chance(0.5) else f"{stem}_{mark}{extension}"


def draw_day(dice: TaskDice) -> date:
    return FIRST_DAY + timedelta(days=dice.between(0, (LAST_DAY - FIRST_DAY).days))


def draw_others(dice: TaskDice, name: str, names: Sequence[str], most: int = 20) -> dict[str, str]:
    """Files that lie about: changed forms of some names, and now and then of that one, with what is in them."""
    found: dict[str, str] = {}
    count = dice.between(1, most)
    while len(found) < count:
        other = draw_changed(dice, dice.pick(names) if dice.chance(0.85) else name)
        if not posixpath.splitext(other)[1]:
            other += posixpath.splitext(dice.pick(names))[1]
        if other != name:
            found[other] = draw_letters(dice, 20)
    return found


def draw_receipt(dice: TaskDice, count: int) -> dict[str, Any]:
    """What stands on a receipt: from whom it is, and a line for everything that was bought."""
    lines = []
    for _ in range(count):
        ware = dice.pick(tuple(WARES))
        low, high = WARES[ware]
        cents = dice.between(low * 100, high * 100)
        lines.append(f"{draw_day(dice)}, {ware}, ${cents // 100}.{cents % 100:02}")
    return {"company": dice.pick(COMPANIES), "slogan": dice.pick(SLOGANS), "lines": lines}


def receipt_picture(receipt: Mapping[str, Any], kind: str) -> bytes:
    """The receipt on paper; `kind` is PNG or JPEG."""
    from PIL import Image, ImageDraw

    from eapo_gym.envs.androidworld.phone.ui.text import font

    height = max(500, 100 * (len(receipt["lines"]) + 4))
    paper = Image.new("RGB", (500, height), "white")
    pen = ImageDraw.Draw(paper)
    pen.text((10, 100), f"{receipt['company']}\n{receipt['slogan']}", "black", font(20))
    for number, line in enumerate(receipt["lines"]):
        pen.text((10, 170 + 30 * number), line, "black", font(16))
    pen.text((10, height - 40), "Keep this receipt: goods can be returned for 30 days.", "black", font(12))
    file = io.BytesIO()
    paper.save(file, kind)
    return file.getvalue()


def text_picture(text: str) -> bytes:
    """A page with a text on it, as a JPEG file."""
    from PIL import Image, ImageDraw

    from eapo_gym.envs.androidworld.phone.ui.text import font, line_height, width_of

    lines = text.split("\n")
    height = line_height(PAGE_LETTERS)
    width = max(width_of(line, PAGE_LETTERS) for line in lines)
    page = Image.new("RGB", (width + 20, height * len(lines) + 20), "white")
    pen = ImageDraw.Draw(page)
    for number, line in enumerate(lines):
        pen.text((10, 10 + height * number), line, "black", font(PAGE_LETTERS))
    file = io.BytesIO()
    page.save(file, "JPEG")
    return file.getvalue()


# On the phone


def clear_files(phone: Phone, folder: str) -> None:
    """Remove all files below a folder; the folders stay."""
    files = phone.state.files
    for path in list(files.walk(folder)) if files.is_folder(folder) else ():
        if not files.is_folder(path):
            files = files.remove(path, phone.state.now)
    phone.state = replace(phone.state, files=files)


def clear_folder(phone: Phone, folder: str) -> None:
    """Remove all that is in a folder, but what is hidden."""
    files = phone.state.files
    for name in files.names(folder) if files.is_folder(folder) else ():
        if not name.startswith("."):
            files = files.remove(posixpath.join(folder, name), phone.state.now)
    phone.state = replace(phone.state, files=files)


def put(phone: Phone, folder: str, contents: Mapping[str, str]) -> None:
    """Files with a line of text each, by their names; the folder is there even if there are none."""
    now = phone.state.now
    files = phone.state.files.make_folder(folder, now)
    for name, content in contents.items():
        files = files.write(posixpath.join(folder, name), f"{content}\n".encode(), now)
    phone.state = replace(phone.state, files=files)


def put_picture(phone: Phone, path: str, picture: bytes) -> None:
    phone.state = replace(phone.state, files=phone.state.files.write(path, picture, phone.state.now))


def put_text(phone: Phone, path: str, text: str) -> None:
    """A file with this text alone, to the letter."""
    phone.state = replace(phone.state, files=phone.state.files.write(path, text.encode(), phone.state.now))


def is_there(phone: Phone, folder: str, name: str) -> bool:
    return posixpath.join(folder, name) in phone.state.files


def written(phone: Phone, path: str) -> str:
    """What `cat` says of a file: nothing, if it is none."""
    files = phone.state.files
    return "" if path not in files or files.is_folder(path) else files.text(path).replace("\r", "")
