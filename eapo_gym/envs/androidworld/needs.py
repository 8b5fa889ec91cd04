"""What AndroidWorld needs, and what of it is on this machine."""

from __future__ import annotations

from importlib.util import find_spec

from eapo_gym.envs.needs import Need


def needs() -> list[Need]:
    return [_embedded_phone(), _android_env(), _real_devices()]


def _embedded_phone() -> Need:
    fix = "pip install 'eapo-gym[androidworld]'"
    if find_spec("PIL") is None:
        return Need("embedded phone", False, "Pillow, which draws its screens, is not installed", fix)
    from eapo_gym.envs.androidworld.phone.apps import all_apps
    from eapo_gym.envs.androidworld.tasks import supported

    return Need("embedded phone", True, f"{len(supported())} of the benchmark's 116 tasks, {len(all_apps()) - 1} apps")


def _android_env() -> Need:
    here = find_spec("android_env") is not None
    detail = "installed" if here else "not installed: the phone cannot stand under android-env"
    return Need("android-env", here, detail, "" if here else "pip install 'eapo-gym[androidworld]'", optional=True)


def _real_devices() -> Need:
    from eapo_gym.envs.androidworld.device.inspection import python_need
    from eapo_gym.envs.androidworld.device.sdk import find_tool

    python = python_need()
    adb = find_tool("adb")
    here = python.ok and adb is not None
    detail = f"android_world {python.detail}; adb {f'at {adb}' if adb else 'not found'}"
    return Need("real devices", here, detail, "" if here else "eapo-gym doctor androidworld", optional=True)
