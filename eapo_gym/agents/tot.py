"""Tree of thoughts, over one step: the model proposes several actions, judges them itself, and the best is taken."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from eapo_gym.agents.base import Answer
from eapo_gym.agents.model import ModelAgent, as_answer
from eapo_gym.agents.prompts import PLAIN, VOTE
from eapo_gym.agents.prompts.sections import tagged
from eapo_gym.engines.base import Completion, Engine, Sampling
from eapo_gym.protocol import parse
from eapo_gym.schema import Observation

_THOUGHT = 400
"""Characters of a proposal's reasoning that the judge is shown."""

_JUDGE = 1_000_003
"""Sets the judge's seed apart from the proposer's."""

_NUMBER = re.compile(r"\d+")


class ToTAgent(ModelAgent):
    """Proposes `breadth` responses at once; where their actions differ, `votes` judgements at once choose among them.

    The tree is one step deep: an environment cannot be tried without acting in it. What wins is what has most votes,
    then what was proposed most often, then what was proposed first; judgements that name no proposal do not count. All
    that was sampled counts as the cost of the step.
    """

    name = "tot"
    form = "free"
    style = PLAIN

    def __init__(
        self,
        engine: Engine,
        sampling: Sampling | None = None,
        *,
        breadth: int = 3,
        votes: int = 3,
        with_history: bool = True,
        **options: Any,
    ) -> None:
        for name, value in (("breadth", breadth), ("votes", votes)):
            if value < 1:
                raise ValueError(f"{name}: expected a positive number, got {value}.")
        self.breadth = breadth
        self.votes = votes
        super().__init__(engine, sampling, with_history=with_history, **options)

    def _builder(self, style: Any, **options: Any) -> Any:
        self.judge = super()._builder(VOTE, **{**options, "explore_hint": False})
        return super()._builder(style, **options)

    async def act_async(self, observation: Observation) -> Answer:
        prompts = [self.prompt(observation)] * self.breadth
        proposed = await self.engine.generate(prompts, self.sampling_for(observation.context))
        candidates = _candidates(proposed)
        votes: list[Completion] = []
        if len(candidates) > 1:
            question = self.judge(observation, question=_ballot(candidates))
            sampling = self.sampling_for(observation.context, salt=_JUDGE)
            votes = await self.engine.generate([question] * self.votes, sampling)
        chosen = candidates[_winner(candidates, votes)][0] if candidates else proposed[0]
        others = [completion for completion in proposed if completion is not chosen]
        return as_answer(chosen, [*others, *votes])

    def stamp(self) -> dict[str, Any]:
        stamp = super().stamp()
        stamp["options"] |= {"breadth": self.breadth, "votes": self.votes}
        return stamp


def _candidates(proposed: Sequence[Completion]) -> list[list[Completion]]:
    """The proposals that name an action, those with the same action together, in the order of their first."""
    same: dict[str, list[Completion]] = {}
    for completion in proposed:
        action = parse(completion.text).action
        if action is not None:
            same.setdefault(" ".join(action.split()).lower(), []).append(completion)
    return list(same.values())


def _ballot(candidates: Sequence[Sequence[Completion]]) -> str:
    lines = []
    for number, (first, *_) in enumerate(candidates, 1):
        turn = parse(first.text)
        thought = " ".join(turn.think.split())
        short = thought if len(thought) <= _THOUGHT else f"{thought[:_THOUGHT]} …"
        lines.append(f"{number}. {turn.action}" + (f" (because: {short})" if short else ""))
    return tagged("proposed_actions", "\n".join(lines))


def _winner(candidates: Sequence[Sequence[Completion]], votes: Sequence[Completion]) -> int:
    counted = Counter(vote for vote in (_vote(each.text, len(candidates)) for each in votes) if vote is not None)
    return max(range(len(candidates)), key=lambda i: (counted[i], len(candidates[i]), -i))


def _vote(text: str, candidates: int) -> int | None:
    """Which candidate a judgement names: in its box, or else by its last number."""
    numbers = _NUMBER.findall(parse(text).action or "") or _NUMBER.findall(text)
    number = int(numbers[-1]) if numbers and len(numbers[-1]) < 10 else 0
    return number - 1 if 1 <= number <= candidates else None
