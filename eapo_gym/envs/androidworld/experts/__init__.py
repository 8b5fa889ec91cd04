"""An expert for AndroidWorld, teacher and yardstick: the explorer, which knows what it has seen on the phone's screens.

    turn = Explorer().act(Observation(obs["goal"], obs["state"], explore, memory, elements=obs["elements"]))

is its answer to an observation: what it thinks, wants to find out, remembers, and does.
"""

from eapo_gym.envs.androidworld.experts.explorer import Explorer
from eapo_gym.envs.androidworld.experts.goal import Part, read_goal
from eapo_gym.envs.androidworld.experts.memory import Memory
from eapo_gym.envs.androidworld.experts.screen import Item, Screen, read_screen

__all__ = ["Explorer", "Item", "Memory", "Part", "Screen", "read_goal", "read_screen"]
