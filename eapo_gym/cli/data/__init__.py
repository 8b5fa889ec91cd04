"""`eapo-gym data …`: brings an environment's data, one module for each environment."""
