"""The explorer solves tasks on phones that it has never seen, from texts alone."""

from __future__ import annotations

import copy

import pytest

from eapo_gym.agents.base import AgentError
from eapo_gym.envs.androidworld.actions import parse_action
from eapo_gym.envs.androidworld.env import AndroidWorldEnv
from eapo_gym.envs.androidworld.experts import Explorer, Memory, read_goal, read_screen
from eapo_gym.schema import Context, Observation, Turn

SOLVED = (
    "AudioRecorderRecordAudioWithFileName",
    "CameraTakeVideo",
    "ClockStopWatchRunning",
    "ClockTimerEntry",
    "ContactsAddContact",
    "ContactsNewContactDraft",
    "ExpenseDeleteMultiple",
    "FilesDeleteFile",
    "FilesMoveFile",
    "MarkorChangeNoteContent",
    "MarkorCreateFolder",
    "MarkorCreateNote",
    "MarkorDeleteNewestNote",
    "MarkorDeleteNote",
    "OpenAppTaskEval",
    "SimpleCalendarAnyEventsOnDate",
    "SimpleCalendarDeleteOneEvent",
    "SimpleSmsReply",
    "SimpleSmsSend",
    "SystemBluetoothTurnOff",
    "SystemBrightnessMax",
    "SystemWifiTurnOn",
    "TurnOnWifiAndOpenApp",
)


def seen(obs: dict[str, str], turn: Turn, t: int = 0) -> Observation:
    return Observation(
        obs["goal"], obs["state"], turn.explore, turn.memory or "", elements=obs["elements"], context=Context(seed=t)
    )


def play(env: AndroidWorldEnv, task: str) -> tuple[bool, list[Turn]]:
    """A new explorer for every step: none can keep anything."""
    obs, info = env.reset(seed=0, options={"task": task})
    turns = [Turn(memory="")]
    for t in range(info["max_steps"]):
        turns.append(Explorer().act(seen(obs, turns[-1], t)))
        obs, _, terminated, _, info = env.step(turns[-1].action or "")
        if terminated:
            break
    return info["won"], turns[1:]


@pytest.mark.parametrize("name", SOLVED)
def test_it_solves_tasks_on_phones_that_differ(name: str) -> None:
    env = AndroidWorldEnv("train", tasks=[name], episodes=3, observation_mode="elements")
    won = [play(env, task)[0] for task in env.tasks()]
    assert sum(won) >= 2, won


def test_what_it_writes_is_read_back_and_teaches_exploring() -> None:
    env = AndroidWorldEnv("train", tasks=["SystemBluetoothTurnOff"], episodes=1, observation_mode="elements")
    _, turns = play(env, env.tasks()[0])
    for turn in turns:
        assert turn.format_ok
        assert str(Memory.parse(turn.memory or "")) == turn.memory
        assert parse_action(turn.action or "").command() == turn.action
    assert any("may be under" in turn.explore for turn in turns)


def test_it_sees_nothing_but_the_observation() -> None:
    """The same texts are answered in the same way, whatever the phone behind them has become."""
    env = AndroidWorldEnv("train", tasks=["MarkorDeleteNote"], episodes=1, observation_mode="elements")
    obs, _ = env.reset(options={"task": env.tasks()[0]})
    kept = copy.deepcopy(obs)
    before = Explorer().act(seen(obs, Turn(memory="")))
    mark = env.fingerprint()
    env.step('{"action_type": "open_app", "app_name": "Clock"}')
    del env
    assert Explorer().act(seen(kept, Turn(memory=""))) == before
    assert mark


def test_it_comes_back_from_where_it_was_put() -> None:
    """Whatever is in front, and whatever stands in the memory, it goes on."""
    env = AndroidWorldEnv("train", tasks=["SystemWifiTurnOff"], episodes=1, observation_mode="elements")
    for app in ("Clock", "Markor", "Chrome"):
        obs, info = env.reset(options={"task": env.tasks()[0]})
        obs, *_ = env.step(f'{{"action_type": "open_app", "app_name": "{app}"}}')
        turn = Turn(memory="This is no memory of its own.")
        for t in range(info["max_steps"]):
            turn = Explorer().act(seen(obs, turn, t))
            obs, _, terminated, _, info = env.step(turn.action or "")
            if terminated:
                break
        assert info["won"], app


def test_without_memory_it_draws_and_the_draws_are_repeatable() -> None:
    env = AndroidWorldEnv("train", tasks=["SystemWifiTurnOff"], episodes=1, observation_mode="elements")
    env.reset(options={"task": env.tasks()[0]})
    obs, *_ = env.step('{"action_type": "open_app", "app_name": "Settings"}')
    first, again = (
        [Explorer(memoryless=True).act(seen(obs, Turn(memory="Turn 3. Part 1."), t)) for t in range(20)]
        for _ in range(2)
    )
    assert first == again
    assert {turn.memory for turn in first} == {""}
    assert len({turn.action for turn in first}) > 1


def test_it_gives_up_what_it_does_not_understand() -> None:
    env = AndroidWorldEnv("train", tasks=["SystemWifiTurnOff"], episodes=1, observation_mode="elements")
    obs, _ = env.reset(options={"task": env.tasks()[0]})
    turn = Explorer().act(seen({**obs, "goal": "Bake me a cake."}, Turn(memory="")))
    assert parse_action(turn.action or "").goal_status == "infeasible"
    assert read_goal("Bake me a cake.") == ()


def test_an_app_that_is_not_there_is_looked_for_among_those_that_are() -> None:
    env = AndroidWorldEnv("train", tasks=["OpenAppTaskEval"], episodes=1, observation_mode="elements")
    obs, _ = env.reset(options={"task": env.tasks()[0]})
    turn = Turn(memory="")
    for t in range(3):
        turn = Explorer().act(seen({**obs, "goal": "Open the calendar planner app."}, turn, t))
        obs, *_ = env.step(turn.action or "")
    assert "Simple Calendar Pro" in obs["state"]


def test_a_mistake_and_a_doubt_do_no_harm_and_are_found_out() -> None:
    env = AndroidWorldEnv("train", tasks=["SystemBrightnessMin"], episodes=1, observation_mode="elements")
    obs, info = env.reset(options={"task": env.tasks()[0]})
    turn, erred = Turn(memory=""), 0
    for t in range(info["max_steps"]):
        before = seen(obs, turn, t)
        turn = Explorer().act(before)
        other = Explorer().mistake(before, turn)
        if other is not None and not erred:
            erred += 1
            assert other.action != turn.action
            assert str(Memory.parse(other.memory or "")) == other.memory
            turn = other
        obs, _, terminated, _, info = env.step(turn.action or "")
        if terminated:
            break
    assert erred == 1
    assert info["won"]


def test_screens_without_elements_are_refused() -> None:
    observation = Observation("Turn wifi on.", "In front: Settings (com.android.settings/.Settings)")
    assert not Explorer.knows(observation)
    with pytest.raises(AgentError, match="observation_mode 'elements' or 'both'"):
        Explorer().act(observation)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('0: TextView "Delete "a (b)" now?"', 'Delete "a (b)" now?'),
        ('0: TextView "line\\nline \\\\ end"', "line\nline \\ end"),
        ("0: ImageButton (More options)", "More options"),
        ('0: EditText hint "Name" [editable, focused]', "Name"),
    ],
)
def test_elements_are_read_as_they_were_written(line: str, said: str) -> None:
    screen = read_screen("In front: App (a.b/.C)", line)
    assert screen is not None
    assert [item.said for item in screen.items] == [said]
