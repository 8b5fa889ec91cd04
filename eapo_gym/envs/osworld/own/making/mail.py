"""A mail box: a Thunderbird profile that has only local folders, and no account to ask a server about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

PROFILE = "/home/user/.thunderbird/suite.default"
MAIL = f"{PROFILE}/Mail/Local Folders"

_PREFERENCES: Mapping[str, object] = {
    "app.donation.eoy.version.viewed": 99,
    "app.update.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "datareporting.policy.firstRunURL": "",
    "mail.accountmanager.accounts": "account1",
    "mail.accountmanager.defaultaccount": "account1",
    "mail.accountmanager.localfoldersserver": "server1",
    "mail.account.account1.server": "server1",
    "mail.accounthub.enabled": False,
    "mail.provider.suppress_dialog_on_startup": True,
    "mail.rights.version": 1,
    "mail.root.none-rel": "[ProfD]Mail",
    "mail.server.server1.directory-rel": "[ProfD]Mail/Local Folders",
    "mail.server.server1.hostname": "Local Folders",
    "mail.server.server1.name": "Local Folders",
    "mail.server.server1.type": "none",
    "mail.server.server1.userName": "nobody",
    "mail.shell.checkDefaultClient": False,
    "mail.spotlight.firstRunDone": True,
    "mail.winsearch.firstRunDone": True,
    "mailnews.start_page.enabled": False,
    "mailnews.start_page_override.mstone": "ignore",
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "trailhead.firstrun.didSeeAboutWelcome": True,
}


@dataclass(frozen=True, slots=True)
class Letter:
    """One message."""

    sender: str
    subject: str
    lines: tuple[str, ...]
    number: int
    """Which makes its id, and its time: one an hour."""

    read: bool = True


def profile(
    folders: Mapping[str, Sequence[Letter]], preferences: Mapping[str, object] | None = None
) -> dict[str, bytes]:
    """The files of the profile, by their place on the machine."""
    lines = [
        f'user_pref("{name}", {_said(value)});\n' for name, value in {**_PREFERENCES, **(preferences or {})}.items()
    ]
    files = {f"{PROFILE}/prefs.js": "".join(lines).encode()}
    return files | {f"{MAIL}/{name}": box(letters) for name, letters in folders.items()}


def box(letters: Iterable[Letter]) -> bytes:
    """A folder of messages in the mbox format."""
    return b"".join(map(_message, letters))


def _message(letter: Letter) -> bytes:
    when = f"Mon, {1 + letter.number // 24:02} Jan 2024 {letter.number % 24:02}:15:00 +0000"
    address = f"{letter.sender.lower().replace(' ', '.')}@example.org"
    lines = (
        "From - Mon Jan 01 00:00:00 2024",
        f"X-Mozilla-Status: {'0001' if letter.read else '0000'}",
        "X-Mozilla-Status2: 00000000",
        "X-Mozilla-Keys: " + " " * 80,
        f"From: {letter.sender} <{address}>",
        "To: Sam Reader <sam@example.org>",
        f"Subject: {letter.subject}",
        f"Date: {when}",
        f"Message-ID: <{letter.number}.{_number_of(letter.subject)}@example.org>",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=UTF-8",
        "",
        *letter.lines,
        "",
        "",
    )
    return "\n".join(lines).encode()


def _number_of(text: str) -> int:
    """A number for a text that is the same in every process."""
    number = 7
    for character in text:
        number = (number * 31 + ord(character)) % 1_000_003
    return number


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else f'"{value}"'
