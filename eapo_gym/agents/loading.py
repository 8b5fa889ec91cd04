"""From what stands on a command line to an agent.

make_agent("eapo", engine=engine, env="eapo/ALFWorld-v0", options={"compact": True})
make_agent("random")
make_agent("python:my_agents:Mine", options={"depth": 3})
make_agent("openai:some-model@http://localhost:8000/v1")
"""

from __future__ import annotations

import importlib
import inspect
import ipaddress
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import gymnasium as gym

from eapo_gym.agents.base import Agent
from eapo_gym.agents.foreign import PREFIX as PYTHON
from eapo_gym.agents.foreign import BadAgent, load_foreign, wants_engine
from eapo_gym.engines.base import Engine, Sampling
from eapo_gym.errors import UnknownName

OPENAI = "openai:"

_AT_A_URL = re.compile(r"@(?=\w*:?//|[^/@]+[:/])")
"""The @ before an address, with or without its scheme; what follows an @ in the name of a model has no : or /."""


@dataclass(frozen=True, slots=True)
class _Named:
    address: str
    """module:Class within this package."""

    about: str
    engine: bool = False
    env: bool = False


_AGENTS = {
    "eapo": _Named("eapo:EAPOAgent", "think, explore, memory, action: the agent of the paper", engine=True),
    "plain": _Named("plain:PlainAgent", "thinks and acts upon what it sees now", engine=True),
    "naive": _Named("plain:NaiveExplorationAgent", "plain, told to try alternatives", engine=True),
    "react": _Named("react:ReActAgent", "thought and action over the history of the episode", engine=True),
    "tot": _Named("tot:ToTAgent", "proposes several actions and votes on them", engine=True),
    "random": _Named("random:RandomAgent", "draws one of the valid actions", env=True),
    "oracle": _Named("experts:OracleAgent", "knows ALFWorld's shortest plans and AndroidWorld's; looks inside"),
    "explorer": _Named("experts:ExplorerAgent", "knows only what it has seen, of ALFWorld, WebShop or AndroidWorld"),
    "human": _Named("human:HumanAgent", "a person at this terminal"),
}

_ELSEWHERE = {
    "python:MODULE:CLASS": "an agent of your own; python:/folder/file.py:CLASS too",
    "openai:MODEL@URL": "the EAPO agent on any OpenAI-compatible server",
}


def agent_names() -> dict[str, str]:
    """What `make_agent` takes, each with a line about it."""
    return {**{name: named.about for name, named in _AGENTS.items()}, **_ELSEWHERE}


def needs_engine(spec: str) -> bool:
    """Whether the agent needs an engine of the run: `openai:…` brings its own, your own may ask for one (`engine`)."""
    if spec.startswith(PYTHON):
        return wants_engine(spec)
    if spec.startswith(OPENAI):
        return False
    return _named(spec).engine


def make_agent(
    spec: str,
    *,
    engine: Engine | None = None,
    env: str | gym.Env[Any, Any] = "",
    sampling: Sampling | None = None,
    options: Mapping[str, Any] | None = None,
) -> Agent:
    """The agent that `spec` names (see `agent_names`), with its options.

    `env` is the environment's id, or the environment itself, which tells an agent more where it has no guide of its
    own for it. Agents that are no language models leave engine and sampling alone.
    """
    options = dict(options or {})
    if spec.startswith(PYTHON):
        return load_foreign(spec, options, {"engine": engine, "env": env or None, "sampling": sampling})
    if spec.startswith(OPENAI):
        return _on_a_server(spec, env, sampling, options)
    named = _named(spec)
    kind = _class_of(named)
    _check_options(spec, kind, options)
    if named.engine:
        if engine is None:
            raise BadAgent(f"The agent {spec!r} needs a language model, and none was given: name one with --model.")
        return kind(engine, sampling, **{"env": env, **options})  # type: ignore[call-arg]
    return kind(**({"env": env, **options} if named.env else options))


def _named(spec: str) -> _Named:
    try:
        return _AGENTS[spec]
    except KeyError:
        hint = "An agent of your own is python:module:Class, a model on a server is openai:MODEL@URL."
        raise UnknownName.of("agent", spec, _AGENTS, hint) from None


def _class_of(named: _Named) -> type[Agent]:
    module, _, class_name = named.address.partition(":")
    kind: type[Agent] = getattr(importlib.import_module(f"eapo_gym.agents.{module}"), class_name)
    return kind


def options_of(spec: str) -> list[str]:
    """The options that a named agent takes."""
    return _options_of(_class_of(_named(spec)))


def _options_of(kind: type[Agent]) -> list[str]:
    known = {
        name
        for each in kind.__mro__
        if "__init__" in vars(each)
        for name, parameter in inspect.signature(vars(each)["__init__"]).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name != "env"
    }
    return sorted(known)


def _check_options(spec: str, kind: type[Agent], options: Mapping[str, Any]) -> None:
    known = _options_of(kind)
    for name in options:
        if name not in known:
            raise UnknownName.of(f"option of the agent {spec!r}", name, known)


def _on_a_server(
    spec: str, env: str | gym.Env[Any, Any], sampling: Sampling | None, options: Mapping[str, Any]
) -> Agent:
    from eapo_gym.agents.eapo import EAPOAgent
    from eapo_gym.engines import open_engine

    model, url = _split_server(spec)
    _check_options(spec, EAPOAgent, options)
    engine = open_engine("openai", model, **({"base_url": url} if url else {}))
    # Nobody trains on what a server says, and many servers have no log-probs.
    sampling = replace(sampling or Sampling(), logprobs=False)
    agent = EAPOAgent(engine, sampling, **{"env": env, **options})
    agent.owns_engine = True
    agent.name = f"eapo on {model}"
    return agent


def _split_server(spec: str) -> tuple[str, str | None]:
    """The model and the server's address, if one is named; a model's own name may hold an @."""
    model, _, url = _AT_A_URL.sub("\n", spec.removeprefix(OPENAI), count=1).partition("\n")
    if not model:
        raise BadAgent(f"{spec}: expected openai:MODEL or openai:MODEL@URL, as in openai:m@http://localhost:8000/v1.")
    if not url:
        return model, None
    address = urlsplit(url)
    if "@" in url:
        raise BadAgent("openai:MODEL@URL: expected a URL without a password; the key is read from OPENAI_API_KEY.")
    if address.scheme not in ("http", "https") or not address.hostname:
        raise BadAgent(f"{spec}: expected a URL like https://host/v1 or http://localhost:8000/v1, got {url!r}.")
    if address.scheme == "http" and not _is_loopback(address.hostname):
        warnings.warn(
            f"{address.hostname} is spoken to over plain http: prompts, responses and the key can be read on the way.",
            stacklevel=4,
        )
    return model, url


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
