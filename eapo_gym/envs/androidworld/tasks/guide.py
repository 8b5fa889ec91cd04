"""Somebody who does a task by its plan, one action at a time, for as long as nobody does anything else."""

from __future__ import annotations

from eapo_gym.envs.androidworld.tasks.base import Plan
from eapo_gym.envs.androidworld.tasks.finger import Finger, NotOnScreen
from eapo_gym.errors import ContractError


class Guide:
    """Leads through one episode."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._told: str | None = None
        self._lost = False

    def next(self) -> str:
        """What is to be done now; the same until it has been done."""
        if self._lost:
            raise ContractError("The oracle's plan was left: another action was taken. Call reset() to begin it again.")
        if self._told is None:
            try:
                self._told = next(self._plan, Finger.done()).command()
            except NotOnScreen as missing:
                raise ContractError(f"The oracle does not find its way: {missing}") from missing
        return self._told

    def follow(self, action: str) -> None:
        """An action is taken, whoever chose it."""
        self._lost = self._lost or action != self._told
        self._told = None
