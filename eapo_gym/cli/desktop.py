"""`eapo-gym desktop`: a local desktop to look at and to use, in the browser."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence

from eapo_gym.cli.terminal import console
from eapo_gym.envs.osworld.apps import command_of
from eapo_gym.envs.osworld.client import HttpComputer
from eapo_gym.envs.osworld.desktop import LocalDesktop
from eapo_gym.envs.osworld.desktop.viewing import DesktopView


def show_desktop(width: int, height: int, port: int, *, apps: Sequence[str], serve: int | None, browser: bool) -> None:
    """Until Ctrl-C."""
    commands = [list(command_of(name)) for name in apps]
    out = console()
    with LocalDesktop(width, height) as desktop, DesktopView(desktop.socket, port) as view:
        computer = HttpComputer(str(desktop.socket))
        for command in commands:
            computer.launch(command)
        computer.close()
        out.print(f"The desktop is at [cyan]{view.url}[/]")
        out.print(
            "The address lets whoever knows it use the desktop. It has no network, and all in it is gone at the end."
        )
        if serve is not None:
            host, at = desktop.serve_tcp(serve)
            out.print(f"The routes of the benchmark's machines are at [cyan]http://{host}:{at}[/]")
        out.print("Ctrl-C ends it.")
        if browser:
            webbrowser.open(view.url)
        try:
            view.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            out.print("\nEnded.")
