"""Names, phone numbers and messages that tasks are about."""

from __future__ import annotations

from eapo_gym.envs.androidworld.tasks.base import TaskDice

GIVEN_NAMES = (
    "Amara", "Anton", "Beatriz", "Bruno", "Celine", "Dmitri", "Edith", "Emeka", "Farah", "Felix", "Greta", "Hugo",
    "Ines", "Jonas", "Kavya", "Leon", "Lucia", "Marek", "Mina", "Nadia", "Oskar", "Paula", "Quentin", "Rosa", "Sven",
    "Tariq", "Uma", "Viktor", "Wanda", "Yusuf",
)  # fmt: skip
FAMILY_NAMES = (
    "Abara", "Becker", "Castillo", "Dubois", "Eriksen", "Fontana", "Gallagher", "Hoffman", "Ivanova", "Jensen",
    "Kowalski", "Lindqvist", "Moreau", "Novak", "Okafor", "Pereira", "Quispe", "Rahman", "Santoro", "Tanaka", "Ueda",
    "Varga", "Weber", "Yilmaz", "Zimmer",
)  # fmt: skip
MESSAGES = (
    "The plumber is coming on Tuesday between 9 and 11.",
    "Can you bring the blue folder tomorrow?",
    "Train is late, I'll be there at half past six.",
    "Choir practice moves to the small hall this week.",
    "Your parcel is with the neighbours on the first floor.",
    "Don't forget the candles for Nora's cake.",
    "Tickets are booked: row 7, seats 12 and 13.",
    "The key is under the third flower pot.",
    "Swimming lessons start again on the 4th.",
    "We need flour, eggs, and two lemons.",
    "Meeting room changed to 2.14.",
    "Happy birthday!",
    "The car is ready, they close at 5 PM.",
    "Dinner at ours on Saturday? Bring the kids.",
    "I left my umbrella at your place.",
    "Great news: the flat is ours.",
    "Rehearsal tonight, doors open at 7.",
    "Please water the tomatoes on Sunday.",
    "Running ten minutes behind, sorry.",
    "It's snowing up here, drive carefully.",
    "The parents' evening is on Thursday.",
    "Could you call the landlord today?",
    "Found your scarf in the hallway.",
    "Lunch at noon, same place as always.",
)


def draw_name(dice: TaskDice) -> str:
    return f"{dice.pick(GIVEN_NAMES)} {dice.pick(FAMILY_NAMES)}"


def draw_number(dice: TaskDice) -> str:
    """With the country's code, so that no app has to add it."""
    return "+1" + "".join(str(dice.below(10)) for _ in range(10))


def draw_message(dice: TaskDice, *, but: str = "") -> str:
    return dice.pick([each for each in MESSAGES if each != but])
