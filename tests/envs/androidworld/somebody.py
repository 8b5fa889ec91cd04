"""Somebody with a phone in the hand: what the tests of the apps do with it."""

from __future__ import annotations

from dataclasses import replace

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.elements import Element
from eapo_gym.envs.androidworld.embedded import Hands
from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.envs.androidworld.tasks.finger import Finger


class Somebody:
    def __init__(self, app: str = "", *, layout_seed: int = 0) -> None:
        self.phone = new_phone(layout_seed)
        self.hands = Hands(self.phone)
        self.finger = Finger(self.hands.elements)
        if app:
            self.does(Finger.open(app))

    def does(self, *actions: Action) -> None:
        for action in actions:
            self.hands.act(action)

    def taps(self, *names: str, number: int = 0) -> None:
        """One after the other; `number` is of the last."""
        for name in names[:-1]:
            self.does(self.finger.tap(name))
        self.does(self.finger.tap(names[-1], number=number))

    def holds(self, name: str) -> None:
        self.does(self.finger.hold(name))

    def writes(self, text: str, into: str = "", *, clear: bool = False) -> None:
        self.does(self.finger.write(text, into=into, clear=clear))

    def goes_back(self) -> None:
        self.does(Finger.back())

    def waits(self, seconds: float) -> None:
        self.phone.wait(seconds)

    def sees(self, said: str) -> bool:
        return self.finger.sees(said)

    def elements(self) -> list[Element]:
        return self.hands.elements()

    def texts(self) -> list[str]:
        return [each.text for each in self.elements() if each.text]

    def adb(self, *words: str) -> str:
        return self.hands.adb.run(["shell", *words]).decode()

    def has_file(self, path: str, content: str | bytes) -> None:
        """Let a file lie on the phone."""
        state = self.phone.state
        data = content.encode() if isinstance(content, str) else content
        self.phone.state = replace(state, files=state.files.write(path, data, state.now))
