"""What a task needs besides a desktop, as far as its file says: files from the network, websites, an account, …

A file does not say everything: a task that sends the agent to look something up on the web, and whose file names no
website, is not known here to need one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from eapo_gym.envs.osworld.tasks import Check, ConfigStep, DesktopTask

ACCOUNT_STEPS = ("googledrive", "login")
"""Steps that use an account of somebody's at a website."""

ACCOUNT_GETTERS = ("googledrive_file",)

WEB_GETTERS = frozenset(
    {
        *("active_tab_html_parse", "active_tab_info", "active_tab_url_parse", "active_url_from_accessTree"),
        *("cookie_data", "gotoRecreationPage_and_get_html_content", "info_from_website", "open_tabs_info"),
        *("page_info", "pdf_from_url", "url_dashPart"),
    }
)
"""Getters that look at a page of a website in the machine's browser, or fetch one."""

_LOCAL = ("localhost", "127.0.0.1", "::1")
_ADDRESS = re.compile(r"https?://[^\s\"'<>\\)]+", re.IGNORECASE)
_FETCHING = re.compile(
    r"\b(?:apt|apt-get|snap|pip3?|conda|npm)\b[^|;&\n]*\b(?:install|update|upgrade)\b|\bgit\s+clone\b"
)
_TO_INSTALL = re.compile(r"\binstall\b", re.IGNORECASE)
_SUDO = re.compile(r"\bsudo\b|\{CLIENT_PASSWORD\}")


@dataclass(frozen=True, slots=True)
class Requirements:
    """What one task needs."""

    apps: tuple[str, ...]
    files: tuple[str, ...]
    """Addresses of files that are fetched on this side: for the preparation, and for judging."""

    websites: tuple[str, ...]
    """Why the machine itself must reach the network: steps, commands and getters that do, and what is asked for."""

    accounts: tuple[str, ...]
    """What needs somebody's account."""

    proxy: bool
    """The benchmark recommends a proxy: its websites turn away machines of data centres."""

    root: bool
    """A command of its file becomes root with the machine's password."""

    infeasible: bool

    @property
    def network(self) -> bool:
        """Whether anything of it needs the network, on this side or on the machine's."""
        return bool(self.files or self.websites or self.accounts)


def requirements(task: DesktopTask) -> Requirements:
    """What a task needs, by its file."""
    steps = (*task.config, *task.evaluator.postconfig)
    checks = task.evaluator.checks
    commands = list(_commands(steps, checks))
    return Requirements(
        apps=tuple(task.apps),
        files=tuple(dict.fromkeys((*_files_of_steps(steps), *_files_of_checks(checks)))),
        websites=tuple(
            dict.fromkeys(
                (*_web_steps(steps), *_web_commands(commands), *_web_checks(checks), *_asked_for(task.instruction))
            )
        ),
        accounts=tuple(dict.fromkeys(_accounts(steps, checks))),
        proxy=task.raw.get("proxy") is True,
        root=any(_SUDO.search(command) for command in commands),
        infeasible=task.evaluator.is_infeasible,
    )


def is_on_the_web(address: str) -> bool:
    """Whether an address is of a website, and not of the machine itself."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.hostname is not None and parts.hostname not in _LOCAL


def _files_of_steps(steps: tuple[ConfigStep, ...]) -> Iterator[str]:
    for step in steps:
        if step.type == "download":
            yield from (file["url"] for file in step.parameters["files"])


def _files_of_checks(checks: tuple[Check, ...]) -> Iterator[str]:
    for getter in _getters(checks):
        if getter["type"] == "cloud_file":
            paths = getter.get("path")
            yield from (path for path in (paths if isinstance(paths, list) else [paths]) if isinstance(path, str))


def _web_steps(steps: tuple[ConfigStep, ...]) -> Iterator[str]:
    for step in steps:
        if step.type == "chrome_open_tabs" and any(map(is_on_the_web, step.parameters["urls_to_open"])):
            yield "opens a website"
        elif step.type == "update_browse_history":
            yield "remembers websites"


def _web_commands(commands: list[str]) -> Iterator[str]:
    for command in commands:
        if _FETCHING.search(command):
            yield "installs something"
        elif _names_website(command):
            yield "a command names a website"


def _web_checks(checks: tuple[Check, ...]) -> Iterator[str]:
    for check in checks:
        if "chrome://" in str(check.expected) and not _names_website(str(check.expected)):
            continue  # a page of the browser's own, such as its settings
        for getter in _getters((check,)):
            if getter["type"] in WEB_GETTERS:
                yield f"judged by {getter['type']}"


def _asked_for(instruction: str) -> Iterator[str]:
    if _TO_INSTALL.search(instruction):
        yield "asks to install something"
    if _names_website(instruction):
        yield "names a website"


def _names_website(text: str) -> bool:
    return any(is_on_the_web(address[0]) for address in _ADDRESS.finditer(text))


def _accounts(steps: tuple[ConfigStep, ...], checks: tuple[Check, ...]) -> Iterator[str]:
    for step in steps:
        if step.type == "login":
            yield f"login: {step.parameters['platform']}"
        elif step.type in ACCOUNT_STEPS:
            yield step.type
    for getter in _getters(checks):
        if getter["type"] in ACCOUNT_GETTERS:
            yield getter["type"]


def _commands(steps: tuple[ConfigStep, ...], checks: tuple[Check, ...]) -> Iterator[str]:
    for step in steps:
        if "command" in step.parameters:
            yield _joined(step.parameters["command"])
    for getter in _getters(checks):
        if "command" in getter:
            yield _joined(getter["command"])


def _joined(command: Any) -> str:
    return " ".join(map(str, command)) if isinstance(command, list | tuple) else str(command)


def _getters(checks: tuple[Check, ...]) -> Iterator[Mapping[str, Any]]:
    for check in checks:
        yield from (getter for getter in (check.result, check.expected) if getter is not None)
