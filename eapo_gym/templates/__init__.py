"""What `eapo-gym new-env` writes, as files that work where they stand: `my_env.py` is an environment like any other."""
