"""Accessibility on the session's bus: switching it on, and where its own bus is."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from .dbus import Argument, Link, ask_once


def switch_accessibility_on() -> None:
    """Toolkits look at this switch before they tell anything of their windows. Its bus and registry run after this."""
    switch = ("org.a11y.Status", "IsEnabled", ("b", 1))
    _ask_session("/org/a11y/bus", "org.freedesktop.DBus.Properties", "Set", "ssv", switch)
    registry = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root", "org.a11y.atspi.Accessible")
    ask_once(accessibility_address(), (*registry, "GetChildren", "", ()))


def accessibility_bus() -> Link:
    """A connection of its own to the bus on which programs tell of their windows."""
    return Link(accessibility_address(), is_bus=True)


def accessibility_address() -> str:
    return str(_ask_session("/org/a11y/bus", "org.a11y.Bus", "GetAddress", "", ())[0])


def _ask_session(path: str, interface: str, member: str, signature: str, arguments: Iterable[Argument]) -> Any:
    address = os.environ["DBUS_SESSION_BUS_ADDRESS"]
    return ask_once(address, ("org.a11y.Bus", path, interface, member, signature, arguments))
