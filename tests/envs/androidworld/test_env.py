from __future__ import annotations

import json
import pickle

import pytest

from eapo_gym import check_agent_env
from eapo_gym.envs.androidworld.env import AndroidWorldEnv, Snapshot
from eapo_gym.envs.androidworld.tasks.finger import Finger
from eapo_gym.errors import SnapshotError, UnknownName

SOME = ("SystemWifiTurnOn", "SystemBrightnessMin")


def env(**kwargs: object) -> AndroidWorldEnv:
    return AndroidWorldEnv(**{"observation_mode": "elements", "split": "test", **kwargs})  # type: ignore[arg-type]


def act(kind: str, **fields: object) -> str:
    return json.dumps({"action_type": kind, **fields})


def test_it_keeps_the_contract() -> None:
    check_agent_env(env(), make=AndroidWorldEnv, make_kwargs={"observation_mode": "elements", "split": "test"})


def test_a_task_from_beginning_to_end() -> None:
    playing = env(tasks=SOME)
    obs, info = playing.reset(options={"task": "test/SystemWifiTurnOn/0"})
    assert obs["goal"] == "Turn wifi on."
    assert (info["task_type"], info["difficulty"], info["max_steps"]) == ("SystemWifiTurnOn", "easy", 10)
    assert playing._task is not None
    for action in playing._task.plan(Finger(playing.hands.elements), playing._params):
        obs, reward, terminated, _, info = playing.step(action.command())
        assert not info["invalid_action"]
    assert (reward, terminated, info["won"]) == (1.0, True, True)


def test_nothing_is_won_by_saying_so() -> None:
    playing = env(tasks=SOME)
    playing.reset(options={"task": "test/SystemWifiTurnOn/0"})
    _, reward, terminated, _, info = playing.step(act("status", goal_status="complete"))
    assert (reward, terminated, info["won"]) == (0.0, True, False)
    playing.reset(options={"task": "test/SystemWifiTurnOn/0"})
    playing.phone.state = playing.phone.state.with_setting("global", "wifi_on", "1")
    _, reward, *_ = playing.step(act("status", goal_status="infeasible"))
    assert reward == 0.0


def test_what_points_at_nothing_is_told() -> None:
    playing = env()
    playing.reset(seed=1)
    for action, said in (
        (act("click", index=99), "There is no element 99: the screen has the elements 0 to"),
        (act("click", x=5000, y=3), "(5000, 3) is off the screen"),
        (act("scroll", direction="down", index=77), "There is no element 77"),
        (act("open_app", app_name="Solitaire"), "There is no app 'Solitaire' on this phone: expected one of"),
        ("tap the button", "Expected one JSON object"),
    ):
        obs, reward, _, _, info = playing.step(action)
        assert said in obs["state"]
        assert info["invalid_action"]
        assert reward == 0


def test_an_answer_can_be_changed_and_ends_nothing() -> None:
    playing = env()
    playing.reset(seed=1)
    first = playing.fingerprint()
    obs, _, terminated, _, info = playing.step(act("answer", text="42"))
    assert not terminated
    assert not info["invalid_action"]
    assert "Your answer: 42" in obs["state"]
    assert playing.fingerprint() != first


def test_ways_back_are_tried_before_they_are_named() -> None:
    playing = env()
    playing.reset(options={"task": "test/SystemWifiTurnOn/0"})
    opened = act("open_app", app_name="Settings")
    ways = playing.inverse(opened)
    mark = playing.fingerprint()
    assert ways
    for way in ways:
        playing.step(opened)
        assert playing.fingerprint() != mark
        playing.step(way)
        assert playing.fingerprint() == mark
    assert playing.inverse(act("wait")) == []
    assert playing.inverse("nonsense") == []
    assert playing.inverse(act("status", goal_status="complete")) == []
    assert playing.fingerprint() == mark, "to ask changes nothing"


def test_layouts_differ_between_episodes_and_not_within_one() -> None:
    orders = set()
    playing = env()
    for number in range(5):
        playing.reset(options={"task": f"test/SystemWifiTurnOn/{number}"})
        obs, *_ = playing.step(act("open_app", app_name="Settings"))
        again, _ = playing.restore(playing.snapshot())
        assert again["elements"] == obs["elements"]
        orders.add(obs["elements"])
    assert len(orders) > 1
    usual = env(layouts="usual")
    shown = set()
    for number in range(3):
        usual.reset(options={"task": f"test/SystemWifiTurnOn/{number}"})
        shown.add(usual.step(act("open_app", app_name="Settings"))[0]["elements"])
    assert len(shown) == 1


def test_snapshots_go_to_other_environments() -> None:
    one, other = env(), env()
    one.reset(options={"task": "test/SystemWifiTurnOn/2"})
    one.step(act("open_app", app_name="Settings"))
    saved = pickle.loads(pickle.dumps(one.snapshot()))
    assert isinstance(saved, Snapshot)
    obs, info = other.restore(saved)
    assert other.fingerprint() == one.fingerprint()
    assert info["task"] == one.task
    assert obs["elements"] == one.step(act("wait"))[0]["elements"]
    with pytest.raises(SnapshotError, match="expected a snapshot of an AndroidWorld environment"):
        other.restore({"task": "x"})


def test_pictures_and_elements_agree() -> None:
    playing = env(observation_mode="both", render_mode="rgb_array")
    obs, info = playing.reset(seed=3)
    assert obs in playing.observation_space
    assert obs["screenshot"].shape == (2400, 1080, 3)
    assert (playing.render() == obs["screenshot"]).all()
    lines = obs["elements"].splitlines()
    assert [line.split(":")[0] for line in lines] == [str(each["index"]) for each in info["elements"]]


@pytest.mark.parametrize(
    "kwargs",
    [{"split": "tset"}, {"observation_mode": "x"}, {"layouts": "x"}, {"tasks": ["SystemWifi"]}, {"render_mode": "x"}],
)  # fmt: skip
def test_arguments_that_there_are_not(kwargs: dict[str, object]) -> None:
    with pytest.raises(UnknownName, match="expected one of"):
        env(**kwargs)
