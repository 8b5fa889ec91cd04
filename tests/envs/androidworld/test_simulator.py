"""The phone under the real android-env."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("android_env", reason="android-env is not installed: pip install 'eapo-gym[androidworld]'")

from android_env.components import errors
from android_env.proto import adb_pb2, state_pb2

from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.simulator import PhoneSimulator, android_env_with

TOUCH, LIFT = np.array(0, np.int32), np.array(1, np.int32)


@pytest.fixture
def phone() -> Phone:
    return new_phone()


def adb(env: object, *args: str) -> str:
    request = adb_pb2.AdbRequest(generic=adb_pb2.AdbRequest.GenericRequest(args=args))
    response = env.execute_adb_call(request)  # type: ignore[attr-defined]
    assert response.status == adb_pb2.AdbResponse.Status.OK, response.error_message
    return str(response.generic.output.decode())


def test_android_env_sees_and_touches_it(phone: Phone) -> None:
    env = android_env_with(phone)
    pixels = env.reset().observation["pixels"]
    assert (pixels == np.asarray(phone.picture())).all()
    adb(env, "shell", "am", "start", "-n", "com.android.settings/.Settings")
    node = next(each for each in phone.nodes() if each.text == "Display")
    left, top, right, bottom = node.bounds
    place = np.array([(left + right) / 2 / 1080, (top + bottom) / 2 / 2400], np.float32)
    env.step({"action_type": TOUCH, "touch_position": place})
    env.step({"action_type": LIFT, "touch_position": place})
    assert phone.state.front.extras["part"] == "display"
    env.close()


def test_a_finger_that_is_drawn_over_the_screen_scrolls(phone: Phone) -> None:
    env = android_env_with(phone)
    env.reset()
    phone.open("com.android.settings")
    phone.start("com.android.settings", ".Settings")
    phone.swipe(540, 0, 540, 900)
    assert phone.state.shade
    for y in (0.8, 0.6, 0.4):
        env.step({"action_type": TOUCH, "touch_position": np.array([0.5, y], np.float32)})
    env.step({"action_type": LIFT, "touch_position": np.array([0.5, 0.4], np.float32)})
    assert not phone.state.shade


def test_adb_calls_of_every_kind(phone: Phone) -> None:
    env = android_env_with(phone)
    env.reset()
    start = adb_pb2.AdbRequest.StartActivity(full_activity="com.android.settings/.Settings")
    assert env.execute_adb_call(adb_pb2.AdbRequest(start_activity=start)).status == adb_pb2.AdbResponse.Status.OK
    current = env.execute_adb_call(adb_pb2.AdbRequest(get_current_activity=adb_pb2.AdbRequest.GetCurrentActivity()))
    assert current.get_current_activity.full_activity == "com.android.settings/com.android.settings.Settings"
    push = adb_pb2.AdbRequest.Push(content=b"bytes", path="/sdcard/Download/x")
    assert env.execute_adb_call(adb_pb2.AdbRequest(push=push)).status == adb_pb2.AdbResponse.Status.OK
    pulled = env.execute_adb_call(adb_pb2.AdbRequest(pull=adb_pb2.AdbRequest.Pull(path="/sdcard/Download/x")))
    assert pulled.pull.content == b"bytes"
    listed = adb_pb2.AdbRequest.PackageManagerRequest.List(
        packages=adb_pb2.AdbRequest.PackageManagerRequest.List.Packages()
    )
    packages = env.execute_adb_call(
        adb_pb2.AdbRequest(package_manager=adb_pb2.AdbRequest.PackageManagerRequest(list=listed))
    )
    assert "com.android.settings" in packages.package_manager.list.items
    home = adb_pb2.AdbRequest.PressButton(button=adb_pb2.AdbRequest.PressButton.Button.HOME)
    env.execute_adb_call(adb_pb2.AdbRequest(press_button=home))
    assert phone.state.at_home


def test_a_call_that_fails_is_told(phone: Phone) -> None:
    env = android_env_with(phone)
    env.reset()
    request = adb_pb2.AdbRequest(generic=adb_pb2.AdbRequest.GenericRequest(args=["shell", "frobnicate"]))
    with pytest.raises(errors.AdbControllerError, match="frobnicate: inaccessible or not found"):
        env.execute_adb_call(request)


def test_states_are_saved_and_loaded(phone: Phone) -> None:
    simulator = PhoneSimulator(phone)
    before = phone.state
    saved = simulator.save_state(state_pb2.SaveStateRequest(args={"snapshot_name": "a"}))
    assert saved.status == state_pb2.SaveStateResponse.Status.OK
    phone.open("com.android.settings")
    simulator.load_state(state_pb2.LoadStateRequest(args={"snapshot_name": "a"}))
    assert phone.state is before
    missing = simulator.load_state(state_pb2.LoadStateRequest(args={"snapshot_name": "b"}))
    assert missing.status == state_pb2.LoadStateResponse.Status.NOT_FOUND
