"""An environment in a process of its own: it crashes, and the run goes on.

The process may also be another Python, with packages that do not get along with yours: HostedEnv(…, python="…").

    python examples/hosted_environment.py
"""

import os
import signal
from pathlib import Path

from eapo_gym.envs.hosting import HostedEnv

STAIRS = f"{Path(__file__).parent / 'own_environment.py'}:Stairs"


def main() -> None:
    env = HostedEnv(STAIRS, timeout=20, recycle_episodes=100)
    print(f"{STAIRS} plays in process {env.tenant['pid']}, this is {os.getpid()}")
    env.reset(seed=0)
    obs, *_ = env.step("up")
    print(obs["state"])

    os.kill(env.tenant["pid"], signal.SIGKILL)
    _, _, terminated, truncated, info = env.step("up")
    print(f"\nThe process was killed. terminated={terminated}, truncated={truncated}, won={info['won']}")
    print(f"  {info['failure']['cause']}: {info['failure']['message']}")

    obs, _ = env.reset(seed=1)
    print(f"\nThe next episode plays in process {env.tenant['pid']}: {obs['state']}")
    print(f"Processes given up, by cause: {dict(env.restarts)}")
    env.close()


if __name__ == "__main__":
    main()
