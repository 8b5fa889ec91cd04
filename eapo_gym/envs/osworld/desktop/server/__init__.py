"""The server inside of the local desktop. Runs on the system's Python, with its standard library and PyGObject and
Xlib as Debian packages them; nothing of the suite is there."""
