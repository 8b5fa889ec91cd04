"""An agent of your own: any class with `act`, which need not know this package; here beside two that come with it.

    python examples/your_own_agent.py --episodes 5

All that an agent knows of an episode is in the observation. What it wrote into memory comes back with the next one, so
it keeps nothing itself, and one object plays any number of episodes. `eapo-gym eval` takes the same class by its
address, `--agent python:examples/your_own_agent.py:Searching`.
"""

import argparse
import re


class Searching:
    """Looks into one place after the other, takes what the goal names, and carries it to where the goal wants it."""

    def act(self, observation) -> str:
        *_, thing, _, place = observation.goal.rstrip(".").split()  # "put some mug on shelf."
        done = observation.memory.splitlines()  # since something was taken, which is the first line then
        carrying = bool(done) and done[0].startswith("take ")
        deliver = [f"move {thing} .* to {place} .*", f"open {place} .*", f"go to {place} .*"]
        search = [f"take {thing} .*", "open .*", "go to .*"]
        wishes = deliver if carrying else search
        possible = (c for wish in wishes for c in observation.valid_actions if re.fullmatch(wish, c))
        action = next((command for command in possible if command not in done), "look")
        memory = "\n".join([action] if action.startswith("take ") else [*done, action])
        explore = "" if carrying else f"Where is a {thing}?"
        return f"<explore> {explore} </explore>\n<memory> {memory} </memory>\n<action> \\boxed{{{action}}} </action>"


def play(env, agent, task: str, seed: int) -> bool:
    """One episode; `eapo-gym eval` does this for all tasks, many at a time, and keeps what happened."""
    from eapo_gym.agents import as_response
    from eapo_gym.schema import Context, Observation

    obs, info = env.reset(seed=seed, options={"task": task})
    for t in range(50):
        valid = tuple(env.get_wrapper_attr("valid_actions")())
        context = Context("eapo/ALFWorld-v0", task, f"{task}#{seed}", t, seed=1000 * seed + t)
        response = as_response(agent.act(Observation.from_dict(obs, valid_actions=valid, context=context)))
        obs, _, terminated, _, info = env.step(response.text)
        if terminated:
            break
    return info["won"]


def main() -> None:
    import gymnasium as gym

    import eapo_gym
    from eapo_gym.agents import make_agent

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=5)
    episodes = parser.parse_args().episodes

    gym.register_envs(eapo_gym)
    env = gym.make("eapo/ALFWorld-v0", split="valid")
    tasks = [task for task in env.unwrapped.tasks() if task.startswith("pick_and_place_simple")][:episodes]
    for spec in (f"python:{__file__}:Searching", "explorer", "random"):
        agent = make_agent(spec, env="eapo/ALFWorld-v0")
        won = sum(play(env, agent, task, seed) for seed, task in enumerate(tasks))
        print(f"{agent.name:10s} {won} of {len(tasks)} won")
    env.close()


if __name__ == "__main__":
    main()
