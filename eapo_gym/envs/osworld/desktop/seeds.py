"""What a new home has: its folders, and settings with which programs start without asking anything."""

from __future__ import annotations

from pathlib import Path

FOLDERS = ("Desktop", "Documents", "Downloads", "Music", "Pictures", "Public", "Templates", "Videos")

_OFFICE_TYPES = {
    "libreoffice-calc": (
        "text/csv application/vnd.ms-excel application/vnd.oasis.opendocument.spreadsheet"
        " application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    ),
    "libreoffice-writer": (
        "application/msword application/rtf application/vnd.oasis.opendocument.text"
        " application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    ),
    "libreoffice-impress": (
        "application/vnd.ms-powerpoint application/vnd.oasis.opendocument.presentation"
        " application/vnd.openxmlformats-officedocument.presentationml.presentation"
    ),
    "libreoffice-draw": "application/pdf application/vnd.oasis.opendocument.graphics",
    "org.xfce.mousepad": "text/plain text/markdown text/x-python application/json application/x-shellscript text/x-log",
    "gimp": "image/png image/jpeg image/gif image/bmp image/tiff image/webp image/x-xcf",
    "vlc": "video/mp4 video/x-matroska video/webm video/mpeg video/ogg audio/mpeg audio/x-wav audio/ogg audio/flac",
    "chromium": "text/html application/xhtml+xml x-scheme-handler/http x-scheme-handler/https",
    "thunderbird": "message/rfc822 x-scheme-handler/mailto",
    "pcmanfm": "inode/directory",
}


def plant(home: Path) -> None:
    """Make a new home out of an empty folder."""
    for name in FOLDERS:
        (home / name).mkdir()
    for path, text in FILES.items():
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _default_programs() -> str:
    lines = [f"{kind}={name}.desktop" for name, kinds in _OFFICE_TYPES.items() for kind in kinds.split()]
    return "\n".join(["[Default Applications]", *lines, ""])


def _office_setting(path: str, name: str, value: str) -> str:
    return (
        f'<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse">'
        f"<value>{value}</value></prop></item>"
    )


def _office_settings() -> str:
    settings = [
        ("Setup/Office", "ooSetupInstCompleted", "true"),
        ("Setup/Office", "FirstRun", "false"),
        ("Setup/Office", "MigrationCompleted", "true"),
        ("Setup/Office", "LastCompatibilityCheckID", "eapo"),
        # far in the future, so that neither of the bars that ask for help is due
        ("Setup/Product", "LastTimeDonateShown", "4000000000"),
        ("Setup/Product", "LastTimeGetInvolvedShown", "4000000000"),
        ("Setup/Product", "ooSetupLastVersion", "99.9"),
        ("Setup/Product", "WhatsNew", "false"),
        ("Setup/Product", "WhatsNewDialog", "false"),
        ("Office.Common/Misc", "ShowTipOfTheDay", "false"),
        ("Office.Common/Misc", "SymbolStyle", "colibre"),
        ("Office.Common/Misc", "FirstRun", "false"),
        ("Office.Common/Misc", "CrashReport", "false"),
        ("Office.Common/Misc", "CollectUsageInformation", "false"),
        ("Office.Common/Misc", "PerformFileExtCheck", "false"),
        ("Office.Common/Save/Document", "WarnAlienFormat", "true"),
        ("Office.Common/Security/Scripting", "DisableMacrosExecution", "false"),
        ("Office.Recovery/AutoSave", "Enabled", "false"),
        ("Office.Recovery/RecoveryInfo", "Enabled", "false"),
        ("Office.Impress/Misc/Start", "EnableSdremote", "false"),
        ("Office.Impress/Misc/NewDoc", "AutoPilot", "false"),
        ("Office.Jobs/Jobs/org.openoffice.Office.Jobs:Job['UpdateCheck']/Arguments", "AutoCheckEnabled", "false"),
    ]
    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<oor:items xmlns:oor="http://openoffice.org/2001/registry" '
        'xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    )
    return "\n".join([head, *(_office_setting(*setting) for setting in settings), "</oor:items>", ""])


_THUNDERBIRD_PROFILE = ".thunderbird/desktop.default"

_THUNDERBIRD_PLACE = "FDC34C9F024745EB"
"""How it calls /usr/lib/thunderbird: each place where it is installed begins with a profile of its own otherwise."""

_THUNDERBIRD_SETTINGS = {
    "app.donation.eoy.version.viewed": "999",
    "app.update.enabled": "false",
    "browser.shell.checkDefaultBrowser": "false",
    "browser.startup.homepage_override.mstone": '"ignore"',
    "datareporting.policy.dataSubmissionEnabled": "false",
    "datareporting.policy.dataSubmissionPolicyBypassNotification": "true",
    "mail.provider.suppress_dialog_on_startup": "true",
    "mail.rights.version": "1",
    "mail.shell.checkDefaultClient": "false",
    "mail.spotlight.firstRunDone": "true",
    "mail.winsearch.firstRunDone": "true",
    "mailnews.start_page.enabled": "false",
    "mailnews.start_page_override.mstone": '"ignore"',
    "toolkit.telemetry.reportingpolicy.firstRun": "false",
    "ui.prefersReducedMotion": "1",
}

FILES = {
    ".config/user-dirs.dirs": "".join(
        f'XDG_{key}_DIR="$HOME/{name}"\n'
        for key, name in zip(
            ("DESKTOP", "DOCUMENTS", "DOWNLOAD", "MUSIC", "PICTURES", "PUBLICSHARE", "TEMPLATES", "VIDEOS"),
            FOLDERS,
            strict=True,
        )
    ),
    ".config/mimeapps.list": _default_programs(),
    # A caret that blinks and animations would keep the screen from ever being still.
    ".config/gtk-3.0/settings.ini": (
        "[Settings]\ngtk-theme-name=Adwaita\ngtk-icon-theme-name=Adwaita\ngtk-font-name=DejaVu Sans 10\n"
        "gtk-cursor-blink=0\ngtk-enable-animations=0\ngtk-recent-files-enabled=0\n"
    ),
    ".gtkrc-2.0": (
        'gtk-theme-name="Raleigh"\ngtk-icon-theme-name="Adwaita"\ngtk-font-name="DejaVu Sans 10"\n'
        "gtk-cursor-blink=0\ngtk-enable-animations=0\n"
    ),
    ".Xdefaults": (
        "XTerm*faceName: DejaVu Sans Mono\nXTerm*faceSize: 11\nXTerm*cursorBlink: false\nXTerm*saveLines: 5000\n"
    ),
    ".bashrc": "PS1='\\u@\\h:\\w\\$ '\n",
    ".profile": "",
    ".config/libreoffice/4/user/registrymodifications.xcu": _office_settings(),
    ".config/GIMP/2.10/gimprc": (
        "(check-updates no)\n(show-welcome-dialog no)\n(show-tips no)\n(single-window-mode yes)\n"
        "(marching-ants-speed 10000)\n"
    ),
    ".config/vlc/vlcrc": "[qt]\nqt-privacy-ask=0\nqt-updates-notif=0\n[core]\nmetadata-network-access=0\n",
    ".config/chromium/First Run": "",
    ".config/Mousepad/accels.scm": "",
    ".thunderbird/profiles.ini": (
        "[General]\nStartWithLastProfile=1\nVersion=2\n\n[Profile0]\nName=default\nIsRelative=1\n"
        f"Path=desktop.default\nDefault=1\n\n[Install{_THUNDERBIRD_PLACE}]\nDefault=desktop.default\nLocked=1\n"
    ),
    ".thunderbird/installs.ini": f"[{_THUNDERBIRD_PLACE}]\nDefault=desktop.default\nLocked=1\n",
    f"{_THUNDERBIRD_PROFILE}/user.js": "".join(
        f'user_pref("{name}", {value});\n' for name, value in _THUNDERBIRD_SETTINGS.items()
    ),
}
