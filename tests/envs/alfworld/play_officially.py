"""Run by an interpreter that has the official alfworld: loads the games below a folder and plays their walkthroughs.

    python play_officially.py FOLDER

prints, as its last line, a JSON list with one record per game: what the official environment offered and said.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

CONFIG: dict[str, dict[str, Any]] = {
    "dataset": {"num_train_games": -1, "num_eval_games": -1},
    "env": {
        "task_types": [1, 2, 3, 4, 5, 6],
        "goal_desc_human_anns_prob": 0.0,
        "domain_randomization": False,
        "expert_type": "handcoded",
    },
    "general": {"training_method": "dqn"},
    "rl": {"training": {"max_nb_steps_per_episode": 60}},
}


def main(folder: str) -> None:
    from alfworld.agents.environment.alfred_tw_env import AlfredTWEnv

    CONFIG["dataset"]["data_path"] = folder
    tasks = AlfredTWEnv(CONFIG, train_eval="train")
    env = tasks.init_env(batch_size=1)
    records = []
    for _ in tasks.game_files:
        (text,), infos = env.reset()
        path = Path(infos["extra.gamefile"][0])
        record = {"game": str(path.relative_to(folder).parent), "texts": [text], "won": False, "commands": []}
        for command in json.loads(path.read_text())["walkthrough"]:
            record["commands"].append(list(infos["admissible_commands"][0]))
            (text,), _, _, infos = env.step([command])
            record["texts"].append(text)
            record["won"] = infos["won"][0]
        records.append(record)
    print("\n" + json.dumps(records), flush=True)
    os._exit(0)  # the engine crashes where several of its games are closed in one process


if __name__ == "__main__":
    main(sys.argv[1])
