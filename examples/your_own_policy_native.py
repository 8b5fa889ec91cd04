"""Put a policy of your own beside others: the same games, one table.

A policy is any function from the observation and the info to a command. This one looks through the room, place after
place, takes what the goal names, and carries it to where the goal wants it: enough for the simplest kind of task.

    python examples/your_own_policy_native.py --episodes 20
"""

import argparse
import random
import re

import gymnasium as gym

import eapo_gym
from eapo_gym.bench.episodes import MakePolicy, Policy, play_all, summarise

gym.register_envs(eapo_gym)


class Searching:
    def __init__(self) -> None:
        self.carrying = False
        self.done: set[str] = set()

    def __call__(self, obs: dict, info: dict) -> str:
        *_, thing, _, place = obs["goal"].rstrip(".").split()  # "put some mug on shelf."
        deliver = [f"move {thing} .* to {place} .*", f"open {place} .*", f"go to {place} .*"]
        search = [f"take {thing} .*", "open .*", "go to .*"]
        for wish in deliver if self.carrying else search:
            for command in info["admissible_commands"]:
                if re.fullmatch(wish, command) and command not in self.done:
                    self.done.add(command)
                    if command.startswith("take "):
                        self.carrying, self.done = True, set()
                    return command
        return "look"


def guessing(env: gym.Env, seed: int) -> Policy:
    dice = random.Random(seed)
    return lambda obs, info: dice.choice(info["admissible_commands"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=20)
    episodes = parser.parse_args().episodes

    env = gym.make("eapo/ALFWorld-v0", schema="native", split="valid", max_episode_steps=50)
    tasks = [task for task in env.unwrapped.tasks() if task.startswith("pick_and_place_simple")][:episodes]
    agents: dict[str, MakePolicy] = {"searching": lambda env, seed: Searching(), "guessing": guessing}
    for name, make_policy in agents.items():
        row = summarise(name, play_all(env, make_policy, tasks, agent=name))
        print(f"{name:10s} success {row.success}, {row.steps.mean:.1f} steps")
    env.close()


if __name__ == "__main__":
    main()
