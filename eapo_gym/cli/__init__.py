"""The command line, `eapo-gym`: `app` has the commands, each of the other modules does the work of one."""

from __future__ import annotations


def main() -> None:
    """The entry point of the script `eapo-gym`."""
    from eapo_gym.cli.app import app

    app(prog_name="eapo-gym")
