"""The things that the tasks are about. Every pool is shared out among the splits, so none meets another's."""

from __future__ import annotations

FIRST_NAMES = (
    "Ada", "Bruno", "Carla", "Dmitri", "Elena", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Keiko", "Lena", "Marco",
    "Nadia", "Oscar", "Priya", "Quentin", "Rosa", "Samir", "Tilda", "Ulrich", "Vera", "Wanda", "Xenia", "Yusuf", "Zoe",
    "Amir", "Bela", "Chiara", "Dora",
)  # fmt: skip
LAST_NAMES = (
    "Abbott", "Berger", "Castillo", "Dahl", "Eriksen", "Fontaine", "Gruber", "Haddad", "Ivanova", "Jansen", "Kowalski",
    "Lindqvist", "Moretti", "Nakamura", "Okafor", "Petrov", "Quiroga", "Rossi", "Schneider", "Tanaka", "Ueda", "Vargas",
    "Weber", "Ximenes", "Yamada", "Zimmer", "Almeida", "Bakker", "Cohen", "Duarte",
)  # fmt: skip
PRODUCTS = (
    "Desk lamp", "Notebook", "Stapler", "Office chair", "Monitor arm", "Keyboard", "Whiteboard", "Paper tray",
    "Coffee maker", "Headset", "Webcam", "Laptop stand", "Filing cabinet", "Wall clock", "Printer", "Label maker",
    "Desk mat", "Power strip", "Footrest", "Bookshelf", "Projector", "Calendar", "Tape dispenser", "Scissors",
    "Shredder", "Bulletin board", "Pencil case", "Hole punch", "Trash bin", "Umbrella stand",
)  # fmt: skip
CITIES = (
    "Aarhus", "Bergen", "Cadiz", "Dresden", "Espoo", "Funchal", "Ghent", "Hull", "Izmir", "Jena", "Krakow", "Lyon",
    "Malmo", "Nantes", "Oulu", "Porto", "Quimper", "Riga", "Split", "Turku", "Utrecht", "Verona", "Wels", "Xanthi",
    "York", "Zadar", "Antwerp", "Bilbao", "Cork", "Delft",
)  # fmt: skip
TOPICS = (
    "Solar panels", "Bee keeping", "River cleanup", "Bread baking", "Night trains", "Urban gardens", "Bicycle repair",
    "Bird migration", "Coral reefs", "Glass blowing", "Harbor history", "Island ferries", "Jazz archives",
    "Kite days", "Lake levels", "Mountain huts", "Nut orchards", "Opera houses", "Paper recycling", "Quiet streets",
    "Rain barrels", "School libraries", "Tidal power", "Village markets", "Wind farms", "Yarn dyeing", "Zinc mining",
    "Apple harvests", "Book binding", "Cave paintings",
)  # fmt: skip
NOUNS = (
    "anchor", "basket", "candle", "drum", "engine", "feather", "garden", "hammer", "island", "jacket", "kettle",
    "ladder", "mirror", "needle", "orchid", "pillow", "quartz", "ribbon", "saddle", "teapot", "umbrella", "violin",
    "walnut", "yacht", "zipper", "acorn", "button", "compass", "dolphin", "easel",
)  # fmt: skip
SENTENCES = (
    "The committee met on Tuesday to review the plan.",
    "Most of the visitors arrived by train.",
    "The budget leaves little room for surprises.",
    "Volunteers counted every sample twice.",
    "A second survey confirmed the first result.",
    "The old bridge was closed for two weeks.",
    "Nobody expected the rain to last so long.",
    "Local schools took part in the project.",
    "The report lists three open questions.",
    "Prices rose slowly during the summer.",
    "The workshop begins with a short tour.",
    "Every team received the same tools.",
    "The map shows where the samples were taken.",
    "Two neighbors offered to help with the repairs.",
    "The library keeps a copy of each poster.",
    "Results will be shared at the end of the year.",
    "The new timetable starts in October.",
    "Several photographs were missing from the album.",
    "The garden needs more water than last year.",
    "An engineer checked the roof in spring.",
    "The museum lent us four display cases.",
    "Tickets are sold at the harbor office.",
    "The data covers the last ten years.",
    "Children may enter free of charge.",
)
FOLDERS = (
    "Archive", "Backups", "Contracts", "Drafts", "Exams", "Finance", "Guides", "Holidays", "Invoices", "Journal",
    "Kitchen", "Lectures", "Manuals", "Notes", "Orders", "Projects", "Quotes", "Receipts", "Slides", "Taxes", "Uploads",
    "Videos2023", "Warranties", "Yearbook", "Albums", "Blueprints", "Courses", "Designs", "Events", "Forms",
)  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
COLORS = {
    "red": (255, 0, 0), "blue": (0, 0, 255), "green": (0, 128, 0), "yellow": (255, 255, 0), "orange": (255, 165, 0),
    "purple": (128, 0, 128), "teal": (0, 128, 128), "navy": (0, 0, 128), "maroon": (128, 0, 0), "olive": (128, 128, 0),
}  # fmt: skip
