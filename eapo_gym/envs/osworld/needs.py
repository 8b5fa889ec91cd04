"""What OSWorld needs, and what of it is on this machine."""

from __future__ import annotations

from importlib.util import find_spec

from eapo_gym.envs.needs import Need
from eapo_gym.envs.osworld.desktop import needs as desktop
from eapo_gym.envs.osworld.official import DOWNLOAD, FOLDER, data_folder

_PACKAGES = {
    "docx": "python-docx",
    "odf": "odfpy",
    "openpyxl": "openpyxl",
    "PIL": "pillow",
    "pptx": "python-pptx",
    "pypdf": "pypdf",
}
"""What tasks are made and judged with, by the names under which it is imported."""


def needs() -> list[Need]:
    """The local desktop, the packages that read and write office files, and the benchmark's own tasks."""
    return [*desktop.needs(), _packages(), _tasks_of_the_benchmark()]


def _packages() -> Need:
    missing = sorted(package for module, package in _PACKAGES.items() if find_spec(module) is None)
    if missing:
        fix = "pip install 'eapo-gym[osworld]'"
        return Need("office files", False, f"not installed: {', '.join(missing)}", fix)
    return Need("office files", True, "tasks can be made and judged")


def _tasks_of_the_benchmark() -> Need:
    folder = data_folder() / FOLDER
    here = (folder / "test_all.json").is_file()
    detail = f"in {folder}" if here else f"not in {folder}; our own tasks need none of them"
    return Need("the benchmark's tasks", here, detail, "" if here else DOWNLOAD, optional=True)
