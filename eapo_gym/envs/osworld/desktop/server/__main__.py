"""Starts the session and answers until it is ended: `python3 -m eapo_server SOCKET_FD READY_FD WIDTH HEIGHT`."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

from .commands import limit_resources


def main() -> None:
    listening, ready, width, height = (int(argument) for argument in sys.argv[1:5])
    os.set_inheritable(listening, False)
    os.set_inheritable(ready, False)
    limit_resources()
    programs = Path(__file__).resolve().parents[2]
    with os.fdopen(ready, "w") as report:
        try:
            server = _start(socket.socket(fileno=listening), width, height, programs)
        except Exception as problem:
            json.dump({"error": f"{problem}"}, report)
            raise
        json.dump({"ready": True}, report)
    server.serve_forever()


def _start(listening: socket.socket, width: int, height: int, programs: Path):  # type: ignore[no-untyped-def]
    from .session import FRAMES, Session

    session = Session(width, height, programs)
    session.start()
    from .hands import Hands
    from .http_server import Server
    from .routes import Routes
    from .screen import Screen
    from .tree import Accessibility
    from .windows import Windows

    screen = Screen(FRAMES / "Xvfb_screen0")
    routes = Routes(session, screen, Windows(), Hands(), Accessibility(screen.size, screen.is_blank))
    return Server(listening, routes)


if __name__ == "__main__":
    main()
