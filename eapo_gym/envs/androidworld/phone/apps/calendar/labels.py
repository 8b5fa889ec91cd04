"""What the calendar calls its buttons: the usual name first, then those that other layouts choose among."""

from __future__ import annotations

from collections.abc import Mapping

from eapo_gym.envs.androidworld.phone.app import Scene

LABELS: Mapping[str, tuple[str, ...]] = {
    "search": ("Search", "Search events", "Find"),
    "today": ("Go to today", "Today", "Jump to today"),
    "views": ("Change view", "View", "Switch view"),
    "more": ("More options", "More", "Menu"),
    "new": ("New Event", "Add event", "Create"),
    "event": ("Event", "Calendar event", "Appointment"),
    "task": ("Task", "To-do", "Reminder task"),
    "save": ("Save", "Done", "Keep changes"),
    "delete": ("Delete", "Remove", "Discard"),
    "yes": ("Yes", "Delete now", "OK"),
    "no": ("No", "Keep", "Cancel"),
    "select all": ("Select all", "All", "Mark all"),
    "share": ("Share", "Send", "Share with"),
    "title": ("Title", "Event title", "Name"),
    "location": ("Location", "Place", "Where"),
    "description": ("Description", "Notes", "Details"),
    "repetition": ("Repetition", "Repeat", "Recurrence"),
    "filter": ("Filter events by type", "Filter", "Shown types"),
    "types": ("Manage event types", "Event types", "Categories"),
    "settings": ("Settings", "Preferences", "Options"),
}

VIEWS: Mapping[str, tuple[str, ...]] = {
    "day": ("Daily view", "Day", "One day"),
    "week": ("Weekly view", "Week", "Seven days"),
    "month": ("Monthly view", "Month", "Month grid"),
    "month_day": ("Monthly and daily view", "Month and day", "Split"),
    "year": ("Yearly view", "Year", "Twelve months"),
    "list": ("Simple event list", "Agenda", "Event list"),
}

INTERVALS: Mapping[str, tuple[str, ...]] = {
    "none": ("No repetition", "Does not repeat", "Once"),
    "daily": ("Daily", "Every day", "Each day"),
    "weekly": ("Weekly", "Every week", "Each week"),
    "monthly": ("Monthly", "Every month", "Each month"),
    "yearly": ("Yearly", "Every year", "Each year"),
    "custom": ("Custom", "Other", "Choose another"),
}


def label(at: Scene, name: str) -> str:
    return at.taste.choose(f"calendar {name}", *LABELS[name])


def view_label(at: Scene, name: str) -> str:
    return at.taste.choose("calendar views", *_columns(VIEWS))[name]


def interval_label(at: Scene, name: str) -> str:
    return at.taste.choose("calendar intervals", *_columns(INTERVALS))[name]


def _columns(names: Mapping[str, tuple[str, ...]]) -> list[dict[str, str]]:
    """One choice for all of them together: who calls a day so calls a week likewise."""
    return [{name: choices[place] for name, choices in names.items()} for place in range(3)]
