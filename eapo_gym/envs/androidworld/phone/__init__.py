"""A phone in memory: what it shows, what touches do to it, and what it answers to `adb`."""
