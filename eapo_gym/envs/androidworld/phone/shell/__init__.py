"""The phone's shell, and the other end of `adb`."""
