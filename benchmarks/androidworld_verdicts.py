"""Does the embedded phone judge as AndroidWorld's own evaluators do? Every supported task, done right and done wrong.

    EAPO_ANDROIDWORLD_PYTHON=…/python python benchmarks/androidworld_verdicts.py [--task NAME …] [--seeds 3]

That interpreter has `android_world` (from its repository), `android-env` and `gymnasium`. The package's own code
prepares the phone through android-env and adb, and judges it; on the very same phone our check judges too. Attempts:

right       the plan of somebody who knows the phone, from the first to the last step
nothing     no step at all
broken off  the plan without its last steps, once for every step that it has
mistaken    the plan for other parameters of the same task

The package waits for real devices; here its pauses only set the phone's clock forward.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PYTHON = "EAPO_ANDROIDWORLD_PYTHON"
MOST_STEPS = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", action="append", default=[], help="only these tasks")
    parser.add_argument("--seeds", type=int, default=3, help="parameters of each task that are tried")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        json.dump(compare(options.task, options.seeds), sys.stdout)
        return
    if PYTHON not in os.environ:
        sys.exit(f"Let {PYTHON} name the interpreter that has android_world.")
    command = [os.environ[PYTHON], __file__, "--inside", "--seeds", str(options.seeds)]
    command += [word for name in options.task for word in ("--task", name)]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    ran = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, check=True)
    show(json.loads(ran.stdout), save=not options.task)


def show(rows: list[dict[str, Any]], *, save: bool) -> None:
    different = [row for row in rows if row["ours"] != row["theirs"] or not row["same_goal"]]
    for row in different:
        print(f"{row['task']} ({row['attempt']}): ours {row['ours']}, theirs {row['theirs']}; {row['said']}")
    solved = {row["task"] for row in rows if row["attempt"] == "right" and row["theirs"] == 1}
    tasks = sorted({row["task"] for row in rows})
    for name in set(tasks) - solved:
        print(f"{name}: the plan does not do it")
    by_attempt = Counter(row["attempt"].split(",")[0] for row in rows)
    print(f"{len(rows)} attempts of {len(tasks)} tasks, {len(different)} judged otherwise: {dict(by_attempt)}")
    if save:
        sys.path.insert(0, str(Path(__file__).parent))
        from common import write_result

        summary = {
            "tasks": tasks,
            "solved_by_plan": sorted(solved),
            "attempts": dict(by_attempt),
            "passing": sum(row["theirs"] == 1 for row in rows),
            "different": different,
        }
        write_result("androidworld_verdicts", summary)


# Inside the other interpreter


def compare(names: list[str], seeds: int) -> list[dict[str, Any]]:
    import absl.logging

    absl.logging.set_verbosity(absl.logging.FATAL)
    from android_world import registry

    from eapo_gym.envs.androidworld.tasks import supported

    theirs = registry.TaskRegistry().get_registry("android_world")
    rows = []
    for name, task in supported().items():
        if names and name not in names:
            continue
        for seed in range(seeds):
            rows += attempts(task, theirs[name], seed)
            print(f"{name} {seed}: {len(rows)} attempts", file=sys.stderr)
    return rows


def attempts(task: Any, their_kind: Any, seed: int) -> list[dict[str, Any]]:
    random.seed(seed)
    params = their_kind.generate_random_params()
    other = their_kind.generate_random_params()
    right = attempt(task, their_kind, params, params, None)
    rows = [{"attempt": "right", **right}, {"attempt": "nothing", **attempt(task, their_kind, params, params, 0)}]
    rows += [
        {"attempt": f"broken off, {steps} steps", **attempt(task, their_kind, params, params, steps)}
        for steps in range(1, right["steps"])
    ]
    if repr(other) != repr(params):
        rows.append({"attempt": "mistaken", **attempt(task, their_kind, params, other, None)})
    return [{"task": task.name(), "seed": seed, **row} for row in rows]


def attempt(
    task: Any, their_kind: Any, params: dict[str, Any], played: dict[str, Any], most: int | None
) -> dict[str, Any]:
    """Prepare by their code, play, and let both judge."""
    from android_world.env import android_world_controller, interface

    from eapo_gym.envs.androidworld.embedded import Hands
    from eapo_gym.envs.androidworld.phone.factory import new_phone
    from eapo_gym.envs.androidworld.simulator import android_env_with
    from eapo_gym.envs.androidworld.tasks.finger import Finger, NotOnScreen
    from eapo_gym.errors import ActionError

    phone = new_phone()
    time.sleep = phone.wait  # type: ignore[assignment]
    controller = android_world_controller.AndroidWorldController(
        android_env_with(phone), a11y_method=android_world_controller.A11yMethod.UIAUTOMATOR
    )
    _tell_forest(controller, phone)
    env = interface.AsyncAndroidEnv(controller)
    env.reset(go_home=True)
    # Some take the pictures out of their parameters.
    their_task = their_kind(dict(params))
    their_task.initialize_task(env)
    # Others say theirs in other words once they begin, such as "tomorrow" for a date.
    told = {**params, **their_task.params}
    ours = task.begun(phone, task.adopted(told))
    hands = Hands(phone)
    steps, answer, said = 0, "", ""
    try:
        for action in task.plan(Finger(hands.elements), task.adopted(told if played is params else played)):
            if action.action_type == "status" or steps == (MOST_STEPS if most is None else most):
                break
            steps += 1
            if action.action_type == "answer":
                answer = env.interaction_cache = action.text or ""
            hands.act(action)
    except (NotOnScreen, ActionError) as problem:
        said = str(problem)[:500]
    return {
        "steps": steps,
        "ours": float(task.judge(phone, ours, answer)),
        "theirs": float(their_task.is_successful(env)),
        "same_goal": their_task.goal == task.goal(ours) and their_task.complexity == task.complexity,
        "said": said,
    }


def _tell_forest(controller: Any, phone: Any) -> None:
    """Add what an accessibility service on a device would send: some evaluators look into it."""
    from eapo_gym.envs.androidworld.forest import to_forest

    process = controller._process_timestep

    def process_with_forest(timestep: Any) -> Any:
        timestep = process(timestep)
        timestep.observation["forest"] = to_forest(phone.nodes())
        return timestep

    controller._process_timestep = process_with_forest


if __name__ == "__main__":
    main()
