"""An expert for WebShop, teacher and yardstick: the explorer, which knows what it has seen on the shop's pages.

    turn = Explorer().act(Observation(obs["goal"], obs["state"], explore, memory, valid_actions=offered))

is its answer to an observation: what it thinks, wants to find out, remembers, and does.
"""

from eapo_gym.envs.webshop.experts.explorer import Explorer
from eapo_gym.envs.webshop.experts.memory import Memory, Seen
from eapo_gym.envs.webshop.experts.wish import Wish, read_wish

__all__ = ["Explorer", "Memory", "Seen", "Wish", "read_wish"]
