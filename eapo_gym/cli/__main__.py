"""`python -m eapo_gym.cli`, for those who have no scripts on their path."""

from eapo_gym.cli import main

main()
