"""Search the tree of an episode: branch() saves it whole, resume() goes back, and the fingerprint knows old states.

This is a plain breadth-first search. A search with a model would choose which commands to try, and where to go on.

    python examples/tree_search_with_branch.py
"""

import argparse
from collections import deque

import gymnasium as gym

import eapo_gym

gym.register_envs(eapo_gym)


def search(env: gym.Env, task: str, most: int) -> tuple[list[str] | None, int]:
    """A shortest way to win, found breadth first, and how many different states were seen on the way."""
    _, info = env.reset(options={"task": task})
    seen = {env.unwrapped.fingerprint()}
    waiting: deque[tuple[eapo_gym.Branch, list[str], list[str]]] = deque()
    waiting.append((eapo_gym.branch(env), info["admissible_commands"], []))
    while waiting and len(seen) < most:
        here, commands, way = waiting.popleft()
        for command in commands:
            eapo_gym.resume(env, here)
            *_, info = env.step(command)
            if info["won"]:
                return [*way, command], len(seen)
            state = env.unwrapped.fingerprint()
            if state not in seen:
                seen.add(state)
                waiting.append((eapo_gym.branch(env), info["admissible_commands"], [*way, command]))
    return None, len(seen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=3)
    parser.add_argument("--states", type=int, default=20_000, help="give up a game after so many")
    options = parser.parse_args()

    env = gym.make("eapo/ALFWorld-v0", schema="native", split="valid")
    tasks = [task for task in env.unwrapped.tasks() if task.startswith("pick_and_place_simple")]
    for task in tasks[: options.games]:
        way, states = search(env, task, options.states)
        print(f"{task}\n  {states} states: {' → '.join(way) if way else 'no way found'}")
    env.close()


if __name__ == "__main__":
    main()
