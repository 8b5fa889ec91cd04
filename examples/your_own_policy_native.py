"""Put a policy of your own beside others: the same games, one table, every game in the denominator.

An agent answers an observation with a command, or with a `Turn` that has a memory too. It keeps nothing of its own:
what it remembers comes back to it with the next observation, so that one object can play many games at a time. This one
looks through the room, place after place, takes what the goal names, and carries it to where the goal wants it: enough
for the simplest kind of task.

    python examples/your_own_policy_native.py --episodes 20
"""

import argparse
import asyncio
import re

import gymnasium as gym

import eapo_gym
from eapo_gym.agents import Agent, RandomAgent
from eapo_gym.bench.evaluate import Evaluation, evaluate
from eapo_gym.schema import Observation, Turn

gym.register_envs(eapo_gym)


class Searching(Agent):
    name = "searching"
    quick = True

    def act(self, observation: Observation) -> Turn:
        *_, thing, _, place = observation.goal.rstrip(".").split()  # "put some mug on shelf."
        done = observation.memory.splitlines()
        deliver = [f"move {thing} .* to {place} .*", f"open {place} .*", f"go to {place} .*"]
        search = [f"take {thing} .*", "open .*", "go to .*"]
        for wish in deliver if "I carry it." in done else search:
            for command in observation.valid_actions or ():
                if re.fullmatch(wish, command) and command not in done:
                    memory = ["I carry it."] if command.startswith("take ") else [*done, command]
                    return Turn(memory="\n".join(memory), action=command)
        return Turn(action="look")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=20)
    episodes = parser.parse_args().episodes

    env = gym.make("eapo/ALFWorld-v0", split="valid")
    tasks = [task for task in env.unwrapped.tasks() if task.startswith("pick_and_place_simple")][:episodes]
    env.close()
    for agent in (Searching(), RandomAgent()):
        config = Evaluation("eapo/ALFWorld-v0", agent.name, split="valid", tasks=tuple(tasks), max_steps=50)
        metrics = asyncio.run(evaluate(config, agent=agent)).metrics
        print(f"{agent.name:10s} success {metrics.success}, {metrics.steps.mean:.1f} steps")


if __name__ == "__main__":
    main()
