"""`python -m eapo_gym`, which is `eapo-gym`."""

from eapo_gym.cli import main

main()
