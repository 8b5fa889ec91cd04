"""Process hosting: run any environment in a process of its own.

`env.py` is the environment that a host sees; `client.py` the protocol, host's side; `process.py` the transport;
`tenant.py` the script that runs in the child; `codec.py` how values become bytes.
"""

from eapo_gym.envs.hosting.client import HostedTraceback
from eapo_gym.envs.hosting.env import HostedEnv
from eapo_gym.envs.hosting.snapshots import HandleSnapshot, ValueSnapshot

__all__ = ["HandleSnapshot", "HostedEnv", "HostedTraceback", "ValueSnapshot"]
