"""The adapter for real devices, on the embedded phone under the real android-env and android_world."""

import gc
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from eapo_gym.envs.androidworld.device.hosted import HostedDevice, hosted_device
from eapo_gym.envs.androidworld.embedded import Hands
from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.errors import ContractError, HostingError, SnapshotError, UnknownName
from tests.envs.androidworld.device.real import device, folders, needs_android_world

pytestmark = needs_android_world

TROUBLED = f"{Path(__file__).with_name('troubled.py')}:TroubledEnv"
OPEN_SETTINGS = '{"action_type": "open_app", "app_name": "Settings"}'
HOME = '{"action_type": "navigate_home"}'
COMPLETE = '{"action_type": "status", "goal_status": "complete"}'


@pytest.fixture(scope="module")
def env() -> Iterator[HostedDevice]:
    env = device()
    yield env
    env.close()


@pytest.fixture(scope="module")
def troubled() -> Iterator[HostedDevice]:
    env = device(target=TROUBLED, observation_mode="elements", tasks=["SystemWifiTurnOff"])
    yield env
    env.close()


def begin(env: HostedDevice, name: str = "SystemWifiTurnOff"):
    return env.reset(options={"task": f"test/{name}/0"})


def index_of(info: dict, text: str) -> int:
    return next(each["index"] for each in info["elements"] if each["text"] == text)


def tap(env: HostedDevice, info: dict, text: str):
    return env.step(f'{{"action_type": "click", "index": {index_of(info, text)}}}')


def test_it_has_all_tasks_of_the_benchmark_by_their_names(env: HostedDevice) -> None:
    tasks = env.tasks()
    assert len(tasks) == 116
    assert "test/MarkorCreateNote/0" in tasks
    assert env.source == "official"
    assert env.snapshot_kind == "device"
    assert env.most_steps == 120


def test_a_task_is_set_up_played_and_judged_by_the_benchmark(env: HostedDevice) -> None:
    obs, info = begin(env)
    assert obs["goal"] == "Turn wifi off."
    assert (info["task_type"], info["difficulty"], info["max_steps"]) == ("SystemWifiTurnOff", "easy", 10)
    *_, info = env.step(OPEN_SETTINGS)
    assert info["foreground"] == "com.android.settings/com.android.settings.Settings"
    *_, info = tap(env, info, "Network & internet")
    *_, info = tap(env, info, "Internet")
    *_, info = tap(env, info, "Wi-Fi")
    assert not info["invalid_action"]
    _, reward, terminated, _, info = env.step(COMPLETE)
    assert (reward, terminated, info["won"]) == (1.0, True, True)


def test_a_task_that_is_not_done_is_judged_so(env: HostedDevice) -> None:
    begin(env)
    _, reward, terminated, *_ = env.step(COMPLETE)
    assert (reward, terminated) == (0.0, True)


def test_an_answer_is_what_the_benchmark_judges(env: HostedDevice) -> None:
    begin(env, "SimpleCalendarAnyEventsOnDate")
    obs, *_ = env.step('{"action_type": "answer", "text": "nothing, \\"I think\\" 🙂"}')
    assert 'Your answer: nothing, "I think" 🙂' in obs["state"]


def test_the_screen_and_its_elements_are_those_of_the_embedded_phone(env: HostedDevice) -> None:
    begin(env)
    obs, *_ = env.step(OPEN_SETTINGS)
    hands = Hands(new_phone())
    hands.phone.open("com.android.settings")
    assert obs["screenshot"].shape == (2400, 1080, 3)
    assert obs["screenshot"].dtype == np.uint8
    assert obs["elements"].splitlines() == [each.line() for each in hands.elements()]
    assert env.observation_space.contains(obs)


@pytest.mark.parametrize(
    ("action", "says"),
    [
        ("turn wifi off", "Expected one JSON object"),
        ('{"action_type": "fly"}', "action_type: expected one of"),
        ('{"action_type": "click", "index": 999}', "There is no element 999"),
        ('{"action_type": "scroll", "direction": "down", "index": 999}', "There is no element 999"),
        ('{"action_type": "click", "x": 5000, "y": 10}', "off the screen"),
        ('{"action_type": "open_app", "app_name": "Solitaire; reboot"}', "There is no app"),
        ('{"action_type": "open_app", "app_name": "org.nowhere"}', "There is no app"),
        ('{"action_type": "press_keyboard", "keycode": "KEYCODE_DEL; reboot"}', "keycode: expected a name"),
    ],
)
def test_a_wrong_action_is_answered_and_changes_nothing(env: HostedDevice, action: str, says: str) -> None:
    if not env.task:
        begin(env)
    before = env.fingerprint()
    obs, reward, terminated, truncated, info = env.step(action)
    assert says in obs["state"]
    assert info["invalid_action"]
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert env.fingerprint() == before


def test_what_is_written_arrives_sign_by_sign(env: HostedDevice) -> None:
    begin(env)
    *_, info = env.step('{"action_type": "open_app", "app_name": "Contacts"}')
    *_, info = tap(env, info, "Create contact")
    field = next(each["index"] for each in info["elements"] if each["kind"] == "EditText")
    env.step(f'{{"action_type": "input_text", "text": "a;b $HOME `id` *é；x\\u0027\\"&&|", "index": {field}}}')
    _, _, _, _, info = env.step('{"action_type": "wait"}')
    assert "a;b $HOME `id` *e;x'\"&&|" in [each["text"] for each in info["elements"]]


def test_a_snapshot_is_exact_and_can_be_restored_after_another_task(env: HostedDevice) -> None:
    begin(env)
    obs, *_ = env.step(OPEN_SETTINGS)
    mark, saved = env.fingerprint(), env.snapshot()
    env.step(HOME)
    assert env.fingerprint() != mark
    begin(env, "ContactsAddContact")
    again, info = env.restore(saved)
    assert env.fingerprint() == mark
    assert again["elements"] == obs["elements"]
    assert (again["goal"], info["task"]) == ("Turn wifi off.", "test/SystemWifiTurnOff/0")
    assert env.step(COMPLETE)[1] == 0.0
    with pytest.raises(SnapshotError):
        env.restore("yesterday")


def test_waiting_does_not_make_it_another_state(env: HostedDevice) -> None:
    begin(env)
    env.step(OPEN_SETTINGS)
    before = env.fingerprint()
    for _ in range(40):  # more than a minute by the clock in the status bar
        *_, info = env.step('{"action_type": "wait"}')
    assert env.fingerprint() == before
    assert info["invalid_action"]


def test_inverse_names_the_way_back(env: HostedDevice) -> None:
    begin(env)
    assert env.inverse('{"action_type": "scroll", "direction": "down"}') == [
        '{"action_type": "scroll", "direction": "up"}'
    ]
    assert env.inverse(OPEN_SETTINGS)[0] == '{"action_type": "navigate_back"}'
    assert env.inverse('{"action_type": "keyboard_enter"}') == []
    assert env.inverse("nonsense") == []


def test_without_an_accessibility_service_uiautomator_is_asked() -> None:
    env = device({"tells_elements": False}, observation_mode="elements", tasks=["SystemWifiTurnOff"])
    try:
        begin(env)
        obs, *_ = env.step(OPEN_SETTINGS)
        hands = Hands(new_phone())
        hands.phone.open("com.android.settings")
        assert obs["elements"].splitlines() == [each.line() for each in hands.elements()]
    finally:
        env.close()


@pytest.mark.parametrize("trouble", ["grpc", "adb"])
def test_a_device_that_is_gone_is_an_infrastructure_failure_and_brought_back(
    troubled: HostedDevice, trouble: str
) -> None:
    begin(troubled)
    restarts = troubled.call("restarts")
    troubled.call("fail", trouble)
    with pytest.raises(HostingError, match="failed over"):
        troubled.step(OPEN_SETTINGS)
    with pytest.raises(HostingError, match=r"call reset\(\) first"):
        troubled.step(OPEN_SETTINGS)
    obs, _ = begin(troubled)
    assert troubled.call("restarts") == restarts + 1
    assert obs["goal"] == "Turn wifi off."
    *_, info = troubled.step(OPEN_SETTINGS)
    assert not info["invalid_action"]


def test_an_action_that_the_device_refuses_is_no_failure(troubled: HostedDevice) -> None:
    begin(troubled)
    troubled.call("fail", "refuses")
    obs, *_, info = troubled.step('{"action_type": "navigate_back"}')
    assert "The device refused it" in obs["state"]
    assert info["invalid_action"]
    troubled.call("fail", "")


def test_a_failure_while_a_task_is_cleared_away_is_mended_before_the_next(troubled: HostedDevice) -> None:
    begin(troubled)
    restarts = troubled.call("restarts")
    troubled.call("fail", "adb")
    obs, _ = begin(troubled)
    assert troubled.call("restarts") == restarts + 1
    assert obs["goal"] == "Turn wifi off."


def test_a_failure_while_a_task_is_set_up_is_one_too() -> None:
    env = device(target=TROUBLED, observation_mode="elements", tasks=["SystemWifiTurnOff"])
    try:
        env.call("fail", "adb")
        with pytest.raises(HostingError, match="failed over setting up SystemWifiTurnOff"):
            begin(env)
        obs, _ = begin(env)
        assert obs["goal"] == "Turn wifi off."
    finally:
        env.close()


def test_snapshots_that_nobody_holds_are_written_over(troubled: HostedDevice) -> None:
    begin(troubled)
    kept = troubled.snapshot()
    for _ in range(5):
        troubled.snapshot()
        gc.collect()
        troubled.step(HOME)  # the next call tells the process what was let go of
    named, _ = troubled.call("held_snapshots")
    assert named <= 3
    troubled.restore(kept)


def test_a_device_that_cannot_save_its_state_says_so() -> None:
    env = device(target=TROUBLED, trouble="no states", observation_mode="elements", tasks=["SystemWifiTurnOff"])
    try:
        begin(env)
        with pytest.raises(SnapshotError, match="cannot save its state"):
            env.snapshot()
        *_, info = env.step(OPEN_SETTINGS)
        assert not info["invalid_action"]
    finally:
        env.close()


def test_nothing_can_be_done_before_the_first_reset() -> None:
    env = device(tasks=["SystemWifiTurnOff"], observation_mode="elements")
    try:
        with pytest.raises(ContractError):
            env.step(HOME)
    finally:
        env.close()


def test_unknown_names_are_told_at_once() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'SystemWifiTurnOff'"):
        device(tasks=["SystemWifiTurnOf"])
    with pytest.raises(UnknownName, match="split"):
        device(split="exam")
    with pytest.raises(UnknownName, match="kind of device"):
        hosted_device(path=folders(), device="toaster")


def test_gymnasium_makes_it_in_both_schemas() -> None:
    made = {"source": "official", "device": "phone", "path": folders(), "tasks": ["SystemWifiTurnOff"]}
    env = gym.make("eapo/AndroidWorld-v0", marks=True, **made)
    try:
        obs, info = env.reset(seed=1)
        assert obs["marked"].shape == (2400, 1080, 3)
        assert info["max_steps"] == 10
        for _ in range(9):
            *_, truncated, _ = env.step(f"<think>on</think><action>{HOME}</action>")
            assert not truncated
        *_, truncated, _ = env.step(f"<think>on</think><action>{HOME}</action>")
        assert truncated
    finally:
        env.close()
