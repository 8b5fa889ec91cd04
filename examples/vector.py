"""A thousand games at a time, in one process.

The rate grows as the games become known: what was worked out for one trajectory is there for the others.

    python examples/vector.py --envs 1024 --steps 50
"""

import argparse
import random
import time

import eapo_gym


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=50)
    options = parser.parse_args()

    # make_vec takes ALFWorld's own vector environment: no subprocesses, and one copy of a game for all who play it.
    envs = eapo_gym.make_vec("eapo/ALFWorld-v0", options.envs, schema="native")
    tasks = envs.call("tasks")[0]
    # Eight trajectories of each task, as training in groups wants them.
    chosen = [tasks[i // 8 % len(tasks)] for i in range(options.envs)]
    began = time.perf_counter()
    _, infos = envs.reset(seed=0, options={"tasks": chosen})
    print(f"{envs.num_envs} environments, {len(set(chosen))} games, ready after {time.perf_counter() - began:.1f} s")

    dice = random.Random(0)
    won = ended = 0
    began = time.perf_counter()
    for _ in range(options.steps):
        actions = [dice.choice(commands) for commands in infos["admissible_commands"]]
        _, _, terminated, truncated, infos = envs.step(actions)
        won += int(terminated.sum())
        ended += int((terminated | truncated).sum())
    seconds = time.perf_counter() - began
    envs.close()
    print(f"{options.envs * options.steps / seconds:,.0f} steps per second; {ended} games ended, {won} of them won")


if __name__ == "__main__":
    main()
