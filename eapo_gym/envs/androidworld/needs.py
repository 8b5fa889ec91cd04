"""What AndroidWorld needs, and what of it is on this machine."""

from __future__ import annotations

from importlib.util import find_spec

from eapo_gym.envs.needs import Need


def needs() -> list[Need]:
    return [_embedded_phone(), _android_env()]


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
