"""`WebShopEnv`: find what somebody asks for in a shop, choose its options, and buy it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from eapo_gym.envs.base import AgentEnv, Info, Obs
from eapo_gym.envs.webshop.actions import SEARCH, click, parse_command
from eapo_gym.envs.webshop.opening import OpenShop, open_shop
from eapo_gym.envs.webshop.pages import MODES, Mode, show
from eapo_gym.envs.webshop.products import Goal
from eapo_gym.envs.webshop.reward import Reward
from eapo_gym.envs.webshop.session import BACK_TO_SEARCH, NEXT, PREVIOUS, START, Session, State
from eapo_gym.envs.webshop.storefront import storefront
from eapo_gym.errors import ContractError, SnapshotError, UnknownName
from eapo_gym.schema import MAX_TEXT, AnyText, observation_space


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A moment of an episode. Plain data, so that it can be kept, sent to another process and restored there."""

    catalogue: str
    split: str
    task: str
    state: State


class WebShopEnv(AgentEnv):
    """The WebShop benchmark's shop.

    Args:
        split: "train", "eval" or "test", as the benchmark divides its goals.
        source: "embedded" (a generated catalogue, always there) or "official" (the benchmark's own products).
        goals: play only these: a number (the first N of the split) or a list of task ids such as "test/17".
        observation_mode: "text" (the page's texts between [SEP]), "text_rich" (buttons are marked, and what was
            clicked), "html", or "url" (the page's address alone).
        render_mode: "ansi" makes `render()` return the page.
        shop: a shop that is open already, in place of a source's own; `source` is what it is called then.
        kwargs: which goals and pages; see `open_shop`.
    """

    engine = "native"
    quick = True

    def __init__(
        self,
        split: str = "train",
        source: str = "embedded",
        goals: int | Sequence[str] | None = None,
        observation_mode: Mode = "text",
        render_mode: str | None = None,
        shop: OpenShop | None = None,
        **kwargs: Any,
    ) -> None:
        if observation_mode not in MODES:
            raise UnknownName.of("observation_mode", observation_mode, MODES)
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise UnknownName.of("render_mode", render_mode, self.metadata["render_modes"])
        self.open = open_shop(source, **kwargs) if shop is None else shop
        self.source, self.split = source, split
        self._selected = self.open.select(split, goals)
        self.observation_mode = observation_mode
        # An address holds the whole query.
        self.observation_space = observation_space(max_text=2 * MAX_TEXT)
        self.action_space = AnyText(MAX_TEXT, examples=self.open.examples())
        self.render_mode = render_mode
        self._session: Session | None = None
        self.state = START

    @property
    def session(self) -> Session:
        if self._session is None:
            raise ContractError("Nobody is in the shop yet: call reset() first.")
        return self._session

    @property
    def goal(self) -> Goal:
        """What is to be bought."""
        return self.open.goal(self.task)

    def tasks(self, split: str | None = None) -> list[str]:
        return list(self._selected if split is None or split == self.split else self.open.tasks(split))

    def splits(self) -> list[str]:
        """The splits that have goals."""
        splits = self.open.shop.goals(self.open.kind).splits
        return [name for name, goals in splits.items() if goals]

    @property
    def products(self) -> str:
        """Which products: the same ones in every split."""
        return f"{self.open.shop.label}, {self.open.shop.digest[:16]}"

    def catalogue(self) -> str:
        """Which products, and which goals."""
        shop = self.open.shop
        return f"{shop.label}, {shop.digest[:16]}; {len(self._selected)} goals, {self.open.digest(self._selected)}"

    def choose_task(self, options: dict[str, Any] | None) -> str:
        """As everywhere, without a copy of what may be a million ids."""
        if not options:
            return self._selected[int(self.np_random.integers(len(self._selected)))]
        wanted = options.get("task") if isinstance(options, dict) else None
        if isinstance(wanted, str) and wanted in self._selected:
            return wanted
        return super().choose_task(options)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        super().reset(seed=seed)
        self._enter(self.choose_task(options))
        self.state = START
        return self._observation(), self._info(valid=True)

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        if not isinstance(action, str):
            raise TypeError(f"expected a command (str) such as 'click[buy now]', got {type(action).__name__}")
        after = self.session.after(self.state, action)
        self.state = self.state if after is None else after
        bought = after is not None and after.kind == "done"
        reward = self._verdict().total if bought else 0.0
        return self._observation(), reward, bought, False, self._info(valid=after is not None)

    # The contract

    def fingerprint(self) -> str:
        return self._mark(self.state)

    def snapshot(self) -> Snapshot:
        self.session  # noqa: B018 (there is nothing to keep before the first reset, and it says so)
        return Snapshot(self.open.shop.digest, self.split, self.task, self.state)

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        if not isinstance(snapshot, Snapshot):
            raise SnapshotError(f"expected a snapshot of a WebShop environment, got {type(snapshot).__name__}")
        if (snapshot.catalogue, snapshot.split) != (self.open.shop.digest, self.split):
            raise SnapshotError(
                f"This snapshot is of catalogue {snapshot.catalogue[:16]!r}, split={snapshot.split!r}, and this "
                f"environment plays {self.open.shop.digest[:16]!r}, split={self.split!r}: "
                "restore it in one that plays the same."
            )
        if snapshot.task != self.task:
            self._enter(snapshot.task)
        self.state = snapshot.state
        return self._observation(), self._info(valid=True)

    def valid_actions(self) -> list[str] | None:
        """The clicks that do something here. On the search page, where one searches, what can be done has no end.

        As in the benchmark a search is understood on every page; it is never listed.
        """
        if self.state.kind == "search":
            return None
        return [click(name) for name in self.session.clicks(self.state)]

    def parse_action(self, text: str) -> str:
        return parse_command(text)

    def inverse(self, action: str) -> list[str]:
        """Of the ways that may lead back, those that do."""
        before, session = self.state, self.session
        after = session.after(before, action)
        if after is None or (mark := self._mark(before)) == self._mark(after):
            return []
        ways = []
        for way in self._ways_back(before, after):
            there = session.after(after, way)
            if there is not None and self._mark(there) == mark:
                ways.append(way)
        return ways

    def _ways_back(self, before: State, after: State) -> list[str]:
        if after.kind == "search":
            return [f"{SEARCH}[{before.query}]"]
        names = [PREVIOUS, NEXT, BACK_TO_SEARCH]
        if before.kind == "sub":
            names.append(before.sub_page.lower())
        elif before.number is not None and after.kind == "results":
            names.append(self.open.room.item(before.number).product.asin.lower())
        # An option that was selected before can be selected again; one that was not cannot be given up.
        names += [value for name, value in before.options if dict(after.options).get(name) != value]
        possible = self.session.clicks(after)
        return [click(name) for name in dict.fromkeys(names) if name in possible]

    def describe(self) -> str:
        """The page in a sentence or two."""
        state, session = self.state, self.session
        if state.kind == "search":
            return "On the search page."
        query = _short(state.query)
        if state.kind == "results":
            found = len(session.results(state))
            here = ", ".join(self.open.room.item(number).product.asin for number in session.on_page(state))
            return f"Page {state.page} of the results for {query!r} ({found} found): {here or 'nothing'}."
        assert state.number is not None
        product = self.open.room.item(state.number).product
        chosen = ", ".join(f"{name}: {value}" for name, value in sorted(state.options))
        where = {"item": "Looking at", "sub": f"Reading the {state.sub_page.lower()} of", "done": "Bought"}[state.kind]
        return (
            f"{where} {product.asin}, {_short(product.name)!r}, {product.price_tag}, "
            f"selected: {_short(chosen) or 'nothing'}; found on page {state.page} for {query!r}."
        )

    def live_page(self) -> dict[str, Any] | None:
        verdict = self._verdict() if self.state.kind == "done" else None
        return storefront(self.session, self.state, self.goal.text, verdict)

    def render(self) -> str | None:
        return self._observation()["state"] if self.render_mode == "ansi" else None

    # Its parts

    def _enter(self, task: str) -> None:
        self.task = task
        self._session = Session(self.open.room, task.rpartition("/")[2])

    def _verdict(self) -> Reward:
        assert self.state.number is not None
        return self.open.reward(self.task, self.state.number, dict(self.state.options))

    def _mark(self, state: State) -> str:
        """The order of the options and what was visited count where the observation shows them, and only there."""
        options = state.options if self.observation_mode == "url" else tuple(sorted(state.options))
        visited = sorted(state.visited) if self.observation_mode == "text_rich" else ()
        where = (self.session.seed, state.kind, state.query, state.page, state.number, state.sub_page)
        return blake2b(repr((*where, options, visited)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def _observation(self) -> Obs:
        reward = self._verdict().total if self.state.kind == "done" else 0.0
        text = self.goal.text
        return {"goal": text, "state": show(self.observation_mode, self.session, self.state, text, reward)}

    def _info(self, valid: bool) -> Info:
        info = {
            "task": self.task,
            "source": self.source,
            "split": self.split,
            "engine": self.engine,
            "catalogue": self.open.shop.label,
            "nouns": self.open.shop.nouns_label,
            "won": False,
            "invalid_action": not valid,
            "has_search_bar": self.state.kind == "search",
            "clickables": self.session.clickables(self.state),
        }
        if self.state.kind == "done":
            verdict = self._verdict()
            info["won"] = verdict.total == 1.0
            info["reward_parts"] = verdict.parts()
        return info


def _short(text: str, most: int = 300) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
