"""What an agent in the explore schema sees and says: memory that comes back, and a step that is taken back.

The responses are written by hand; a language model would write them from the prompt that is printed.

    python examples/explore_schema.py
"""

import gymnasium as gym

import eapo_gym
from eapo_gym.protocol import render, render_observation
from eapo_gym.schema import Observation, Turn

gym.register_envs(eapo_gym)


def main() -> None:
    env = gym.make("eapo/ALFWorld-v0")  # schema="explore" is the default
    task = next(task for task in env.unwrapped.tasks() if "Drawer" in task)
    obs, info = env.reset(options={"task": task})
    print(f"The first prompt:\n\n{render_observation(Observation.from_dict(obs))}\n")

    drawer = next(c for c in info["admissible_commands"] if c.startswith("go to drawer"))
    number = drawer.removeprefix("go to ")
    turns = [
        Turn(explore=f"What is in {number}?", memory="Nothing seen yet.", action=drawer),
        Turn(explore="It is closed, so I open it.", memory=f"{number} is closed.", action=f"open {number}"),
        Turn(explore="Not what I need: I leave it as it was.", memory=f"Looked into {number}.", action="rollback"),
        # No memory section: the form is broken, the command is carried out all the same, and the memory stays.
        Turn(explore="Has the step been taken back?", memory=None, action="look"),
    ]
    for turn in turns:
        response = render(turn)
        obs, _, _, _, info = env.step(response)
        print(f"{response}\n\n  state   {obs['state']}\n  memory  {obs['memory']}")
        print(f"  κ = {info['visits']}, exploration degree {info['exploration_degree']:.2f}, form {info['format_ok']}")
        if "rollback" in info:
            print(f"  rollback by {info['rollback']['action']!r}, state reached: {info['rollback']['held']}")
        print()
    env.close()


if __name__ == "__main__":
    main()
