"""The tasks, by the app that they are about."""
