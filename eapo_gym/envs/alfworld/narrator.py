"""Says what the text grammar of a game has to say about a state."""

from __future__ import annotations

from collections.abc import Iterator

from eapo_gym.envs.alfworld.facts import Binding, Facts
from eapo_gym.envs.alfworld.grammar import Each, Entity, Symbol, Text, TextGrammar, parse_text
from eapo_gym.envs.alfworld.rulebook import TASK, TASK_BEGINS
from eapo_gym.errors import GameFileError


class Narrator:
    def __init__(self, grammar: TextGrammar, facts: Facts, entities: dict[str, Entity], task: str) -> None:
        self._grammar = grammar
        self._facts = facts
        self._entities = entities
        first, *rest = parse_text(TASK_BEGINS + task)
        self._task: Text = (str(first).removeprefix(TASK_BEGINS), *rest)

    @property
    def task(self) -> str:
        """What the player is told to do."""
        return self.say(self._task, {}, 0)

    def say(self, text: Text, binding: Binding, state: int) -> str:
        """Derive a text in a state, with some variables bound."""
        return "".join(self._derive(text, binding, state))

    def _derive(self, text: Text, binding: Binding, state: int) -> Iterator[str]:
        for part in text:
            if isinstance(part, str):
                yield part
            elif isinstance(part, Symbol):
                yield from self._symbol(part, binding, state)
            else:
                yield from self._each(part, binding, state)

    def _symbol(self, symbol: Symbol, binding: Binding, state: int) -> Iterator[str]:
        for alternative in self._grammar.alternatives(symbol.name):
            if any(True for _ in self._facts.answers(alternative.condition, binding, state)):
                yield from self._derive(alternative.text, binding, state)
                if symbol.name == TASK:
                    yield from self._derive(self._task, binding, state)
                return
        raise GameFileError(f"Text grammar: no alternative of #{symbol.name}# fits the state")

    def _each(self, each: Each, binding: Binding, state: int) -> Iterator[str]:
        said = []
        for answer in self._facts.answers(each.query, binding, state):
            if isinstance(each.part, Symbol):
                said.append("".join(self._symbol(each.part, answer, state)))
            else:
                said.append(each.part({name: self._entities[value] for (name, _), value in answer.items()}))
        if not each.listed or len(said) == 1:
            yield from said
        elif not said:
            yield from self._symbol(Symbol("list_empty"), binding, state)
        else:
            yield "".join(self._symbol(Symbol("list_separator"), binding, state)).join(said[:-1])
            yield from self._symbol(Symbol("list_last_separator"), binding, state)
            yield said[-1]
