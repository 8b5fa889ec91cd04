"""`eapo-gym play --web`: a person in the agent's place, in the browser."""

from __future__ import annotations

import platform
import shutil
import signal
import threading
from datetime import datetime, timezone
from pathlib import Path
from types import FrameType
from typing import Any

import gymnasium as gym

from eapo_gym.bench.live.game import Game
from eapo_gym.bench.live.server import PlayServer, serve_in_background
from eapo_gym.bench.setting import describe_env, find_layer, open_env, versions, without_secrets
from eapo_gym.bench.store import RunFolder
from eapo_gym.cli.evaluating import target_of
from eapo_gym.cli.playing import hint
from eapo_gym.cli.targets import BadTarget, load_class
from eapo_gym.cli.terminal import console, plain
from eapo_gym.envs.alfworld.env import ALFWorldEnv
from eapo_gym.wrappers import RollbackMode, SetOfMarks


def play_web(
    target: str,
    kwargs: dict[str, Any],
    *,
    rollback: RollbackMode | None = "inverse",
    task: str | None = None,
    seed: int = 0,
    out: Path | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    max_steps: int | None = None,
) -> None:
    """Let a person play `target` in the browser until Ctrl-C; every episode with a step is kept in `out`.

    Without `out` a folder of its own is made in `runs`.
    """
    env_id = target_of(target)

    ready = [_open(env_id, kwargs, rollback, max_steps)]
    """The first environment: a device may take minutes to boot, so the one that the stamp describes is played."""

    def open_split(split: str | None) -> gym.Env[Any, Any]:
        if split is None and ready:
            return ready.pop()
        return _open(env_id, kwargs if split is None else {**kwargs, "split": split}, rollback, max_steps)

    stamp = _stamp(ready[0], env_id, kwargs, rollback, seed, max_steps)
    oracle = hint if isinstance(ready[0].unwrapped, ALFWorldEnv) else None
    with RunFolder.open(out or _usual_folder(env_id), stamp) as folder:
        game = Game(open_split, env_id=env_id, out=folder, seed=seed, splits=_splits, hint=oracle)
        try:
            with _listen(game, host, port) as server:
                _serve(server, game, task)
        finally:
            game.close()
            if out is None and not game.saved:
                shutil.rmtree(folder.folder)  # it was made for episodes, and there are none
    _say_what_was_kept(game)


def _listen(game: Game, host: str, port: int) -> PlayServer:
    try:
        return PlayServer(game, host, port)
    except OSError as error:
        raise BadTarget(f"Nobody can listen at {host}, port {port}: {error.strerror or error}.") from error


def _serve(server: PlayServer, game: Game, task: str | None) -> None:
    """Until somebody stops it."""
    stop = threading.Event()

    def stopped(number: int, frame: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, stopped) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        game.begin(task)
        serve_in_background(server)
        out = console()
        out.print(plain(f"Play here:  {server.url}"), soft_wrap=True)
        if not server.is_local:
            out.print("Others on the network can reach this: whoever has the address plays, and nothing is encrypted.")
        out.print("Ctrl-C ends the game, and keeps what was played.")
        while not stop.wait(0.5):  # a wait without an end would not let a signal through on every system
            pass
        game.close()
        server.shutdown()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _open(
    env_id: str, kwargs: dict[str, Any], rollback: RollbackMode | None, max_steps: int | None
) -> gym.Env[Any, Any]:
    if ":" in env_id:
        load_class(env_id)  # finds what lies beside the user, and says what is wrong in one sentence
    env = open_env(env_id, kwargs, rollback=rollback, max_steps=max_steps)
    shown = getattr(env.observation_space, "spaces", {})
    if {"screenshot", "elements"} <= shown.keys() and "marked" not in shown and find_layer(env, SetOfMarks) is None:
        env = SetOfMarks(env)
    return env


def _stamp(
    env: gym.Env[Any, Any],
    env_id: str,
    kwargs: dict[str, Any],
    rollback: RollbackMode | None,
    seed: int,
    max_steps: int | None,
) -> dict[str, Any]:
    """What the results say of themselves. A person may go from split to split: each episode says which one it is of.

    So of the catalogue only what all splits share can be said, where the environment knows it.
    """
    products = getattr(env.unwrapped, "products", None)
    options = {name: value for name, value in kwargs.items() if name != "split"}
    return {
        "config": {
            "env": env_id,
            "env_kwargs": without_secrets(options),
            "agent": "human",
            "split": None,
            "seeds": [seed],
            "max_steps": max_steps,
            "rollback": rollback,
        },
        "environment": {**describe_env(env, env_id), "split": None, "catalogue": products},
        "agent": {"agent": "human", "name": "human", "form": "tags", "privileged": False},
        "engine": None,
        "versions": versions(),
        "platform": platform.platform(),
        "begun": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def _splits(env: gym.Env[Any, Any]) -> list[str]:
    """The splits to choose from; of an environment that does not say, the one that it is of."""
    core: Any = env.unwrapped
    if isinstance(core, ALFWorldEnv):
        return list(core.library.splits())
    return list(core.splits()) if hasattr(core, "splits") else [core.split]


def _usual_folder(env_id: str) -> Path:
    name = "".join(char if char.isalnum() else "-" for char in env_id.rpartition("/")[2])
    return Path("runs") / f"play-{name}-{datetime.now():%Y%m%d-%H%M%S}"


def _say_what_was_kept(game: Game) -> None:
    out = console()
    if not game.saved:
        out.print("Nothing was played.")
        return
    folder = game.out.folder
    episodes = "1 episode" if game.saved == 1 else f"{game.saved} episodes"
    out.print(plain(f"{episodes} kept in {folder}. To see them:  eapo-gym report {folder}"), soft_wrap=True)
