"""The expert that knows only what it has seen: it searches, compares, goes back, chooses options, and buys.

It keeps nothing between two calls. All that it knows of a shopping trip is in the memory text that it wrote the turn
before. So one explorer plays a thousand episodes at a time, and shows what a language model can do with such a memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from eapo_gym.agents.base import AgentError
from eapo_gym.envs.webshop.actions import CLICK, SEARCH, click, read_action
from eapo_gym.envs.webshop.experts.memory import MOST_STEPS, SUB_PAGES, Memory, Seen
from eapo_gym.envs.webshop.experts.page import ASIN, Page, Row, read_page
from eapo_gym.envs.webshop.experts.wish import read_wish
from eapo_gym.envs.webshop.experts.words import plain, within, words
from eapo_gym.envs.webshop.session import BACK_TO_SEARCH, BUY, NEXT, PREVIOUS, can_be_clicked
from eapo_gym.envs.webshop.session import SUB_PAGES as ALL_SUB_PAGES
from eapo_gym.schema import Observation, Turn

_KNOWN = "Nothing to find out now: what I need next is known."

LOOKS = 6
"""So many products are looked at for each search, unless one is found that has everything."""

STEPS = 30
"""After so many turns it is time to buy: episodes have 50 or 60 steps, and noise may cost some of them."""


class Explorer:
    """Shops from the texts of pages alone (observation mode "text").

    Args:
        memoryless: withhold its memory from it. It then draws what to look at, and when to buy.
        use_valid_actions: look at the clicks that are offered, which tell an option's values from its name for sure.
    """

    about = "WebShop's wishes in the mode 'text'"

    def __init__(self, *, memoryless: bool = False, use_valid_actions: bool = True) -> None:
        self.memoryless = memoryless
        self.use_valid_actions = use_valid_actions

    @staticmethod
    def knows(observation: Observation) -> bool:
        """Whether it shows one of the shop's pages."""
        return read_page(observation.state) is not None

    def act(self, observation: Observation) -> Turn:
        """The next command, and the texts that go with it."""
        if self.memoryless:
            chances = Random(observation.context.seed)
            decision = _Drawing(observation, Memory(), self._offered(observation), chances).choose()
            return Turn(decision.think, decision.explore, "", decision.command, format_ok=True)
        memory = Memory.read(observation.memory) or Memory()
        shopper = _Shopping(observation, memory, self._offered(observation))
        shopper.look()
        decision = shopper.choose()
        return _turn(decision, memory)

    def mistake(self, observation: Observation, turn: Turn) -> Turn | None:
        """What a beginner would do instead of `turn`: it takes some product for the right one, without a look."""
        notes = Memory.read(turn.memory or "")
        page = read_page(observation.state)
        if notes is None or page is None or page.kind != "results":
            return None
        strange = [row.asin for row in page.rows if notes.about(row.asin) is None]
        others = [asin for asin in strange if click(asin.lower()) != turn.action]
        if not others:
            return None
        notes.buy = Random(observation.context.seed).choice(others)
        return _turn(_Decision(click(notes.buy.lower()), f"{notes.buy} must be what is wished for: I take it."), notes)

    def doubt(self, observation: Observation, turn: Turn) -> Turn | None:
        """What a worrier would do instead of `turn`: it knows what to buy, and looks at something else all the same."""
        notes = Memory.read(turn.memory or "")
        page = read_page(observation.state)
        if notes is None or page is None or turn.explore != _KNOWN:
            return None
        if page.kind == "item":
            others = [PREVIOUS, *SUB_PAGES]
        elif page.kind == "results":
            others = [row.asin.lower() for row in page.rows]
        else:
            return None
        commands = [click(name) for name in others if click(name) != turn.action]
        if not commands:
            return None
        command = Random(observation.context.seed).choice(commands)
        think = "I know what to buy, and still wonder whether something else fits better. I look again."
        return _turn(_Decision(command, think, "Is there anything that fits better?"), notes)

    def _offered(self, observation: Observation) -> Sequence[str] | None:
        return observation.valid_actions if self.use_valid_actions else None


@dataclass(frozen=True, slots=True)
class _Decision:
    command: str
    think: str
    explore: str = _KNOWN


def _turn(decision: _Decision, notes: Memory) -> Turn:
    notes.last = decision.command
    return Turn(decision.think, decision.explore, str(notes), decision.command, format_ok=True)


class _Shopping:
    """One turn: what the page says is added to what is known, then something is decided."""

    def __init__(self, observation: Observation, memory: Memory, offered: Sequence[str] | None) -> None:
        page = read_page(observation.state, offered)
        if page is None:
            raise AgentError(
                "The explorer reads WebShop's pages in the observation mode 'text', and this is none of them: "
                f"{observation.state!r:.80}."
            )
        self.wish = read_wish(observation.goal)
        self.page: Page = page
        self.memory = memory

    # What the page says

    def look(self) -> None:
        """Take down where one is, and what there is to be seen of a product."""
        memory, page = self.memory, self.page
        memory.step = min(memory.step + 1, MOST_STEPS)
        verb, name = read_action(memory.last)
        if page.kind in ("search", "results"):
            memory.at, memory.chosen = "", ()
            if verb == SEARCH:
                memory.search = next((n for n, text in enumerate(self.wish.searches, 1) if text == name), 0)
            return
        if page.kind == "item":
            if not memory.at and verb == CLICK and re.fullmatch(ASIN, name):
                memory.at = name.upper()
            if memory.at:
                self._look_at_product(name)
        elif (seen := memory.about(memory.at)) and name in SUB_PAGES and name not in seen.read:
            self._read(seen, name)

    def _look_at_product(self, clicked: str) -> None:
        memory, page = self.memory, self.page
        if memory.about(memory.at) is None:
            found = {word for text in (page.title, *self._option_texts()) for word in words(text)}
            lacks = tuple(word for word in self.wish.words if word not in found)
            no = tuple(plain(" ".join(pair)) for pair in self.wish.options if not self._sold_in(*pair))
            memory.seen.append(Seen(memory.at, page.price, max(memory.search, 1), (), lacks, no))
            best = self._best()
            if memory.buy == memory.at:
                memory.buy = ""  # it was settled upon without a look
            elif memory.buy and best:
                memory.buy = best.asin
        for name, value in self._wanted():
            if value.lower() == clicked and plain(f"{name} {value}") not in memory.chosen:
                memory.chosen += (plain(f"{name} {value}"),)

    def _option_texts(self) -> Iterator[str]:
        for name, values in self.page.options:
            yield name
            yield from values

    def _read(self, seen: Seen, name: str) -> None:
        found = set(words(self.page.text))
        seen.read += (name,)
        seen.lacks = tuple(word for word in seen.lacks if word not in found)

    # Options

    def _sold_in(self, name: str, value: str) -> bool:
        wanted = words(value)
        return any(wanted == words(other) for _, values in self._groups(name) for other in values)

    def _groups(self, name: str) -> Sequence[tuple[str, tuple[str, ...]]]:
        """The options of the page with that name, or else all of them."""
        return [group for group in self.page.options if plain(group[0]) == plain(name)] or self.page.options

    def _wanted(self) -> list[tuple[str, str]]:
        """The options to choose on this page: their names and values."""
        if self.wish.options:
            chosen = {}
            for name, value in self.wish.options:
                best = self._closest(value, name)
                if best:
                    chosen[best[0]] = best[1]
            return list(chosen.items())
        said = words(self.wish.body)
        mentioned = ((name, _mentioned(filter(_can_be_selected, values), said)) for name, values in self.page.options)
        return [(name, value) for name, value in mentioned if value]

    def _closest(self, wanted: str, name: str) -> tuple[str, str] | None:
        """The option that is most like a wanted one, if any is."""
        best, most = None, 0.0
        for other, values in self._groups(name):
            for value in filter(_can_be_selected, values):
                share = _likeness(wanted, value)
                if share > most:
                    best, most = (other, value), share
        return best

    # What to do

    def choose(self) -> _Decision:
        kind = self.page.kind
        if kind == "search":
            return self._search("I am on the search page")
        if kind == "results":
            return self._choose_product()
        if kind == "sub":
            return self._leave_sub_page()
        return self._choose_on_product()

    @property
    def _hurry(self) -> bool:
        return self.memory.step >= STEPS

    def _search(self, why: str, number: int = 0) -> _Decision:
        """Search, from the page that is made for it: elsewhere no search is offered, though the shop understands it."""
        searches = self.wish.searches
        settled = self.memory.about(self.memory.buy)
        number = settled.search if settled else number
        number = min(number or self.memory.search or 1, len(searches))
        self.memory.search = number
        explore = _KNOWN if settled else f"Which product fits? Nothing is known of what search {number} finds."
        if self.page.kind != "search":
            return _Decision(click(BACK_TO_SEARCH), f"{why}: I go back to search again.", explore)
        return _Decision(f"{SEARCH}[{searches[number - 1]}]", f"{why}: I search for what is wished for.", explore)

    def _choose_product(self) -> _Decision:
        memory = self.memory
        if memory.buy:
            return self._go_to(memory.buy)
        best = self._best()
        looked = sum(seen.search == memory.search for seen in memory.seen)
        left = [row for row in self.page.rows if self._worth_a_look(row)]
        if left and looked < LOOKS and not (self._hurry and best):
            row = left[0]
            names = ", ".join(other.asin for other in left[: min(3, LOOKS - looked)])
            return _Decision(
                click(row.asin.lower()),
                f"{row.asin} comes next among the results: I look at it.",
                f"Which product fits? Candidates: {names}.",
            )
        if self._dissatisfied(best) and memory.search < len(self.wish.searches) and not self._hurry:
            return self._search("Nothing that I looked at fits", memory.search + 1)
        if best:
            memory.buy = best.asin
            return self._go_to(best.asin)
        if self.page.rows:
            row = self.page.rows[0]
            think = f"Nothing fits. {row.asin} comes first: I look at it."
            return _Decision(click(row.asin.lower()), think, f"Which product fits? Candidates: {row.asin}.")
        return self._search("There is nothing here")

    def _go_to(self, asin: str) -> _Decision:
        if any(row.asin == asin for row in self.page.rows):
            return _Decision(click(asin.lower()), f"{asin} fits best: I go to it, to buy it.")
        seen = self.memory.about(asin)
        if seen and (self.memory.search, self.page.number) != (seen.search, 1):
            return self._search(f"{asin} fits best, and is not on this page")
        # It cannot be found again.
        self.memory.seen = [other for other in self.memory.seen if other.asin != asin]
        self.memory.buy = ""
        return self._choose_product()

    def _worth_a_look(self, row: Row) -> bool:
        return self.memory.about(row.asin) is None and _affordable(row.price, self.wish.limit) > 0

    def _leave_sub_page(self) -> _Decision:
        return _Decision(click(PREVIOUS), "I have read this page: I go back to the product.", self._question())

    def _question(self) -> str:
        seen = self.memory.about(self.memory.at)
        if seen is None or not seen.lacks or self.memory.buy:
            return _KNOWN
        unread = [name for name in SUB_PAGES if name not in seen.read]
        asked = f"Has {seen.asin} these: {', '.join(seen.lacks)}?"
        return f"{asked} To read: {', '.join(unread)}." if unread else f"{asked} Not found: look at others."

    def _choose_on_product(self) -> _Decision:
        memory = self.memory
        seen = memory.about(memory.at)
        if seen is None:
            return _Decision(click(PREVIOUS), "I do not know which product this is: I go back to the results.")
        if memory.buy not in ("", seen.asin):
            return _Decision(click(PREVIOUS), f"{memory.buy} fits better: I go back.")
        promising = not seen.no and _affordable(seen.price, self.wish.limit) > 0
        unread = [name for name in SUB_PAGES if name not in seen.read]
        if not memory.buy and seen.lacks and unread and promising and not self._hurry:
            return _Decision(
                click(unread[0]),
                f"{seen.asin} is sold as wished, but I do not see {', '.join(seen.lacks)} yet: I read on.",
                self._question(),
            )
        if memory.buy or self._perfect(seen) or (self._hurry and self._best() is seen):
            memory.buy = seen.asin
            return self._purchase(seen)
        missing = [*seen.lacks, *seen.no] or ["a price that is low enough for sure"]
        return _Decision(
            click(PREVIOUS),
            f"{seen.asin} lacks {', '.join(missing)}: I go back and look at others.",
            "Is there another product that fits better?",
        )

    def _purchase(self, seen: Seen) -> _Decision:
        for name, value in self._wanted():
            if plain(f"{name} {value}") not in self.memory.chosen:
                return _Decision(click(value), f"{seen.asin} it is: I choose {name} {value}.")
        return _Decision(click(BUY), f"{seen.asin} fits best, and all options are chosen: I buy it.")

    # How well products fit

    def _perfect(self, seen: Seen) -> bool:
        return not seen.lacks and not seen.no and _affordable(seen.price, self.wish.limit) == 1

    def _dissatisfied(self, best: Seen | None) -> bool:
        return best is None or bool(best.no) or _affordable(best.price, self.wish.limit) < 1

    def _best(self) -> Seen | None:
        """Of those that were looked at; of equals the one that was found first."""
        return max(self.memory.seen, key=self._fit, default=None)

    def _fit(self, seen: Seen) -> float:
        lacks = set(seen.lacks)
        features = [1 - sum(word in lacks for word in feature) / len(feature) for feature in self.wish.features]
        options = len(self.wish.options) - len(seen.no)
        return sum(features) + options + _affordable(seen.price, self.wish.limit)


class _Drawing(_Shopping):
    """What is left of it without a memory: what was seen and chosen is forgotten, so it draws."""

    def __init__(
        self, observation: Observation, memory: Memory, offered: Sequence[str] | None, chances: Random
    ) -> None:
        super().__init__(observation, memory, offered)
        self._chances = chances

    def choose(self) -> _Decision:
        page = self.page
        if page.kind == "search":
            return self._search("I am on the search page")
        if page.kind == "sub":
            return _Decision(click(PREVIOUS), "I go back to the product.")
        if page.kind == "results":
            rows = [row for row in page.rows if self._worth_a_look(row)] or list(page.rows)
            if not rows:
                return _Decision(click(BACK_TO_SEARCH), "There is nothing here: I go back.")
            row = self._chances.choices(rows, [0.5**place for place in range(len(rows))])[0]
            return _Decision(
                click(row.asin.lower()),
                f"{row.asin} may be what is wished for: I look at it.",
                f"Which product fits? Candidates: {row.asin}.",
            )
        fits = all(self._sold_in(*pair) for pair in self.wish.options) and _affordable(page.price, self.wish.limit) > 0
        options = [click(value) for _, value in self._wanted()]
        if fits or self._chances.random() < 0.2:
            command = self._chances.choice([*options, *options, click(BUY)])
            return _Decision(command, "This may be what is wished for.")
        think = "This is not what is wished for: I go back."
        return _Decision(click(PREVIOUS), think, "Is there another product that fits better?")


def _likeness(wanted: str, value: str) -> float:
    """How many words two values share, from 0 to 1; more if they are the same words, or even letters."""
    some, others = words(wanted), words(value)
    common = len(set(some) & set(others))
    return 2 * common / (len(some) + len(others)) + (some == others) + (wanted.lower() == value.lower())


def _can_be_selected(value: str) -> bool:
    """Not what a command cannot say, nor what does something else because a button is called the same."""
    return can_be_clicked(value.lower()) and value.lower() not in _BUTTONS


_BUTTONS = (BACK_TO_SEARCH, PREVIOUS, NEXT, BUY, *ALL_SUB_PAGES)


def _mentioned(values: Iterable[str], said: Sequence[str]) -> str:
    """The value that a person's sentence mentions: the longest, or the one with most of its words in it."""
    best, most = "", 0.0
    for value in values:
        parts = words(value)
        if not parts:
            continue
        score = float(len(parts)) + 1 if within(parts, said) else 0.0
        if not score:
            common = [part for part in dict.fromkeys(parts) if part in said and len(part) > 2]
            score = len(common) / len(parts)
        if score > most:
            best, most = value, score
    return best


def _affordable(price: str, limit: float | None) -> float:
    """1 for sure, 0 for sure not, something between for a range of prices."""
    amounts = [float(amount) for amount in re.findall(r"\d+(?:\.\d+)?", price)]
    if limit is None or not amounts:
        return 1.0 if limit is None else 0.5
    low, high = min(amounts), max(amounts)
    if high <= limit or low > limit:
        return float(low <= limit)
    return (limit - low) / (high - low)
