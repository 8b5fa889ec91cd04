"""The options that `eval` and `baselines` share, and the configuration that they make.

Typer reads a command's options from its signature; these are the types that both signatures are written with.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

ENV_HELP = "A registered id (eapo/ALFWorld-v0, or alfworld), module:Class, or /folder/file.py:Class."

_WHAT = "What is played"
_MODEL = "The model"
_DRAWN = "How it draws tokens"
_RUN = "The run"

Env = Annotated[str, typer.Option(metavar="ENV", help=ENV_HELP, rich_help_panel=_WHAT)]
Split = Annotated[
    str | None,
    typer.Option(
        help="A split of the source; by default the environment's own (ALFWorld: train).", rich_help_panel=_WHAT
    ),
]
Source = Annotated[
    str | None,
    typer.Option(help="embedded (generated tasks) or official (the benchmark's).", rich_help_panel=_WHAT),
]
EnvKwargs = Annotated[
    list[str] | None,
    typer.Option(
        "--env-kwarg",
        metavar="KEY=VALUE",
        help="An argument of the environment; repeat for more.",
        rich_help_panel=_WHAT,
    ),
]
Tasks = Annotated[
    int | None, typer.Option(help="Only so many tasks, taken evenly from the split.", min=1, rich_help_panel=_WHAT)
]
MaxSteps = Annotated[
    int | None, typer.Option(help="The step limit; else the environment's own.", min=1, rich_help_panel=_WHAT)
]
RollbackMode = Annotated[
    str, typer.Option("--rollback", help="inverse, restore (an oracle), or none.", rich_help_panel=_WHAT)
]

Model = Annotated[
    str | None,
    typer.Option(help="A folder, a hub's id, or the name that a server gives it.", rich_help_panel=_MODEL),
]
EngineKind = Annotated[str, typer.Option("--engine", help="transformers, vllm or openai.", rich_help_panel=_MODEL)]
EngineOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--engine-option",
        metavar="KEY=VALUE",
        help="As in dtype=bfloat16, or base_url=http://localhost:8000/v1; repeat for more.",
        rich_help_panel=_MODEL,
    ),
]
AgentOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--agent-option",
        metavar="KEY=VALUE",
        help="As in budget=4000, compact=true, with_history=true or explore_hint=true; repeat for more.",
        rich_help_panel=_MODEL,
    ),
]

MaxTokens = Annotated[int, typer.Option(help="Of one response.", min=1, rich_help_panel=_DRAWN)]
Temperature = Annotated[float, typer.Option(help="0 takes the likeliest token.", min=0, rich_help_panel=_DRAWN)]
TopP = Annotated[
    float, typer.Option(help="Keeps the likeliest tokens up to this share.", min=1e-6, max=1, rich_help_panel=_DRAWN)
]
TopK = Annotated[
    int, typer.Option(help="Keeps so many of the likeliest; 0 keeps all.", min=0, max=1 << 30, rich_help_panel=_DRAWN)
]
MinP = Annotated[
    float,
    typer.Option(
        help="Drops what is less likely than this share of the likeliest.", min=0, max=1, rich_help_panel=_DRAWN
    ),
]
OverrideStrength = Annotated[
    float,
    typer.Option(
        "--override",
        metavar="STRENGTH",
        help="OverRIDE: away from what was sampled for this task before, as in 0.5; 0 is off.",
        min=0,
        rich_help_panel=_DRAWN,
    ),
]

Seeds = Annotated[int, typer.Option(help="How often every task is played: seeds 0, 1, …", min=1, rich_help_panel=_RUN)]
Parallel = Annotated[int, typer.Option(help="Episodes at a time.", min=1, rich_help_panel=_RUN)]
Retries = Annotated[
    int, typer.Option(help="Of an episode that the infrastructure failed.", min=0, rich_help_panel=_RUN)
]
EpisodeTimeout = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="For a whole episode.", min=0.001, rich_help_panel=_RUN)
]
AgentTimeout = Annotated[
    float, typer.Option(metavar="SECONDS", help="For one response.", min=0.001, rich_help_panel=_RUN)
]
StepTimeout = Annotated[
    float, typer.Option(metavar="SECONDS", help="For one step of the environment.", min=0.001, rich_help_panel=_RUN)
]
Report = Annotated[bool, typer.Option(help="Write the report.", rich_help_panel=_RUN)]
AsJson = Annotated[bool, typer.Option("--json", help="The metrics as JSON, for programs.", rich_help_panel=_RUN)]
Out = Annotated[
    Path | None,
    typer.Option(help="The folder of the run; an unfinished one goes on.", file_okay=False, rich_help_panel=_RUN),
]


def evaluation(given: dict[str, Any], agent: str = "eapo") -> Any:
    """The configuration of a run from a command's parameters."""
    from eapo_gym.bench.evaluate import Evaluation
    from eapo_gym.bench.rollout import Limits
    from eapo_gym.cli.evaluating import target_of
    from eapo_gym.cli.targets import parse_kwargs
    from eapo_gym.engines.base import Override, Sampling

    rollback = given["rollback"]
    return Evaluation(
        env=target_of(given["env"]),
        agent=agent,
        split=given["split"],
        source=given["source"],
        env_kwargs=parse_kwargs(given["env_kwarg"] or [], "--env-kwarg"),
        agent_options=parse_kwargs(given["agent_option"] or [], "--agent-option"),
        engine=given["engine"],
        model=given["model"],
        engine_options=parse_kwargs(given["engine_option"] or [], "--engine-option"),
        # An evaluation makes no use of log-probs, and many servers have none to give.
        sampling=Sampling(
            logprobs=False,
            max_tokens=given["max_tokens"],
            temperature=given["temperature"],
            top_p=given["top_p"],
            top_k=given["top_k"],
            min_p=given["min_p"],
            override=Override(key="", strength=given["override"]) if given["override"] else None,
        ),
        seeds=tuple(range(given["seeds"])),
        max_tasks=given["tasks"],
        max_steps=given["max_steps"],
        rollback=None if rollback == "none" else rollback,
        limits=Limits(given["agent_timeout"], given["step_timeout"], episode=given["episode_timeout"]),
        retries=given["retries"],
        parallel=given["parallel"],
    )
