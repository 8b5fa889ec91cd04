"""The names that accessibility has for what programs can be asked."""

from __future__ import annotations

Reference = tuple[str, str]
"""A program's name on the bus, and the path of one of its objects."""

Arguments = tuple[str, tuple["int | str", ...]]
"""The types of what is asked with, and the values."""

ROOT = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
ACCESSIBLE = "org.a11y.atspi.Accessible"
APPLICATION = "org.a11y.atspi.Application"
PROPERTIES = "org.freedesktop.DBus.Properties"
COMPONENT = "org.a11y.atspi.Component"
TABLE = "org.a11y.atspi.Table"
TEXT = "org.a11y.atspi.Text"
VALUE = "org.a11y.atspi.Value"

ON_SCREEN: Arguments = ("u", (0,))
NOTHING: Arguments = ("", ())
