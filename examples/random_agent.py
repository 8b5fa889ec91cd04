"""The least that an agent can do: play embedded ALFWorld games with random valid commands.

It wins next to nothing, which is what makes it a floor to measure others from.

    python examples/random_agent.py --episodes 20
"""

import argparse
import random

import gymnasium as gym

import eapo_gym

gym.register_envs(eapo_gym)  # does nothing at run time: importing eapo_gym has registered the ids


def play(env: gym.Env, dice: random.Random, seed: int) -> tuple[bool, int]:
    """One episode: whether it was won, and with how many steps."""
    _, info = env.reset(seed=seed)
    steps, over = 0, False
    while not over:
        command = dice.choice(info["admissible_commands"])
        _, _, terminated, truncated, info = env.step(command)
        steps, over = steps + 1, terminated or truncated
    return info["won"], steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    env = gym.make("eapo/ALFWorld-v0", schema="native", split="valid")
    dice = random.Random(options.seed)
    played = [play(env, dice, options.seed + i) for i in range(options.episodes)]
    env.close()

    won = sum(success for success, _ in played)
    steps = sum(steps for _, steps in played)
    print(f"{won} of {len(played)} games won, {steps / len(played):.1f} steps per game")


if __name__ == "__main__":
    main()
