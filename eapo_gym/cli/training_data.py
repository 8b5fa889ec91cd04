"""`eapo-gym rollback`, `demonstrations` and `sft`: data for the fine-tuning before RL, and that fine-tuning.

`register(app)` adds them to the app.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eapo_gym.cli import options as opt
from eapo_gym.cli.terminal import stoppable
from eapo_gym.cli.training_tables import bar, print_admission, print_line, print_rates, print_result, said_of

if TYPE_CHECKING:
    from eapo_gym.engines.base import Engine
    from eapo_gym.trainers.collecting import Progress as Collecting
    from eapo_gym.trainers.collecting import Walks
    from eapo_gym.trainers.rollback_rate import RollbackRate
    from eapo_gym.trainers.sft import Progress as Tuning

rollback = typer.Typer(
    no_args_is_help=True, help="Pairs that teach a model to go back: collect them, and test a model."
)


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.add_typer(rollback, name="rollback")
    app.command()(demonstrations)
    app.command("sft")(sft_command)


OutFolder = Annotated[
    Path, typer.Option("--out", help="The folder of the data; an unfinished one goes on.", file_okay=False)
]
Think = Annotated[bool, typer.Option("--think/--no-think", help="Targets with a think section, or without.")]
Parquet = Annotated[bool, typer.Option("--parquet", help="Write a Parquet file too.")]
Config = Annotated[
    Path | None,
    typer.Option(help="A training configuration: its environment and split are played.", dir_okay=False),
]
Env = Annotated[str | None, typer.Option(metavar="ENV", help=f"{opt.ENV_HELP} By default ALFWorld.")]
FirstSeed = Annotated[int, typer.Option("--seed", help="The first seed.", min=0)]


@rollback.command("collect")
def collect(
    out: OutFolder,
    walker: Annotated[
        str, typer.Option(metavar="AGENT", help="Who walks: random, explorer, oracle, eapo with --model, …")
    ] = "random",
    walker_option: Annotated[
        list[str] | None, typer.Option("--walker-option", metavar="KEY=VALUE", help="Of the walker; repeat for more.")
    ] = None,
    teacher: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="A model that proposes the way back, instead of the environment itself."),
    ] = None,
    config: Config = None,
    env: Env = None,
    split: Annotated[str | None, typer.Option(help="A split of the source; by default train.")] = None,
    source: opt.Source = None,
    env_kwarg: opt.EnvKwargs = None,
    tasks: opt.Tasks = None,
    max_steps: Annotated[int, typer.Option(help="Of one walk.", min=1)] = 30,
    rollback_mode: opt.RollbackMode = "inverse",
    model: opt.Model = None,
    engine: opt.EngineKind = "transformers",
    engine_option: opt.EngineOptions = None,
    max_tokens: opt.MaxTokens = 1024,
    temperature: opt.Temperature = 1.0,
    think: Think = True,
    entry: Annotated[int, typer.Option(help="Characters of a state's description in a memory.", min=1)] = 400,
    seeds: opt.Seeds = 1,
    seed: FirstSeed = 0,
    parallel: opt.Parallel = 8,
    retries: opt.Retries = 1,
    agent_timeout: opt.AgentTimeout = 600.0,
    step_timeout: opt.StepTimeout = 120.0,
    parquet: Parquet = False,
    as_json: Annotated[bool, typer.Option("--json", help="The admission as JSON, for programs.")] = False,
) -> None:
    """Walk through an environment, and keep every step that an action of its own takes back.

    A way back is kept only after the environment has taken it and is in the state before. What is collected from train
    is for `sft`; what is collected from a held-out split, for `rollback test`.
    """
    from eapo_gym.cli.targets import parse_kwargs
    from eapo_gym.trainers.rollback import Rollbacks, collect_rollbacks

    what = Rollbacks(
        walker=walker,
        walker_options=parse_kwargs(walker_option or [], "--walker-option"),
        think=think,
        entry=entry,
    )
    walks = _walks(locals())

    async def work(tell: Callable[[Collecting], None]) -> Any:
        asked = {"engine": engine, "engine_option": engine_option}
        engines = {name: _open_engine(name, asked) for name in {model, teacher} - {None}}
        try:
            return await collect_rollbacks(
                what,
                walks,
                out,
                teacher=engines.get(teacher),
                engine=engines.get(model),
                sampling=_sampling(max_tokens, temperature),
                on_progress=tell,
            )
        finally:
            for each in engines.values():
                await each.close()

    with stoppable(out), bar("walks") as tell:
        done = asyncio.run(work(lambda now: tell(now.done, now.planned, said_of(now))))
    if parquet:
        _also_parquet(done.examples, done.path)
    if as_json:
        print(
            json.dumps({"path": str(done.path), "examples": len(done.examples), **done.admission.to_json()}, indent=1)
        )
        return
    print_admission(done.admission, f"{walks.env}: {len(done.examples)} pairs of {done.summary['steps']} steps")
    print_line(f"{done.path.resolve()}")


@rollback.command("test")
def try_models(
    data: Annotated[Path, typer.Argument(help="Pairs that no model was trained on.", exists=True, dir_okay=False)],
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help="Folders or a hub's ids: before, after, ….")],
    engine: opt.EngineKind = "transformers",
    engine_option: opt.EngineOptions = None,
    agent: Annotated[str, typer.Option(metavar="AGENT", help="How the model is asked.")] = "eapo",
    agent_option: opt.AgentOptions = None,
    rollback_mode: opt.RollbackMode = "inverse",
    max_tokens: opt.MaxTokens = 1024,
    most: Annotated[int | None, typer.Option(help="Only so many pairs, taken evenly.", min=1)] = None,
    parallel: opt.Parallel = 32,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """How often each model finds the way back: it is asked, and its action carried out in the environment."""
    from eapo_gym.cli.targets import parse_kwargs
    from eapo_gym.trainers.examples import read_examples
    from eapo_gym.trainers.rollback_rate import measure_rollback

    pairs = [example for example in read_examples(data) if example.kind == "rollback"]
    if most is not None and most < len(pairs):
        pairs = [pairs[i * len(pairs) // most] for i in range(most)]
    options = parse_kwargs(agent_option or [], "--agent-option")

    async def work(name: str, tell: Callable[[int, int, str], None]) -> RollbackRate:
        opened = _open_engine(name, {"engine": engine, "engine_option": engine_option})
        try:
            return await measure_rollback(
                pairs,
                opened,
                agent=agent,
                agent_options=options,
                rollback=_mode(rollback_mode),
                max_tokens=max_tokens,
                parallel=parallel,
                on_progress=lambda done, planned, share: tell(done, planned, f"{100 * share.rate:.1f} % returned"),
            )
        finally:
            await opened.close()

    rates = {}
    for name in models:
        with bar(name) as tell:
            rates[name] = asyncio.run(work(name, tell))
    if as_json:
        print(json.dumps({name: rate.to_json() for name, rate in rates.items()}, indent=1))
    else:
        print_rates(rates, f"{data.name}: {len(pairs)} pairs, greedy")


def demonstrations(
    out: OutFolder,
    agent: Annotated[
        str, typer.Option(metavar="AGENT", help="Who shows: explorer, oracle, or any other agent.")
    ] = "explorer",
    agent_option: opt.AgentOptions = None,
    config: Config = None,
    env: Env = None,
    split: Annotated[str | None, typer.Option(help="A split of the source; by default train.")] = None,
    source: opt.Source = None,
    env_kwarg: opt.EnvKwargs = None,
    tasks: opt.Tasks = None,
    max_steps: Annotated[int, typer.Option(help="Of one episode.", min=1)] = 50,
    rollback_mode: opt.RollbackMode = "inverse",
    model: opt.Model = None,
    engine: opt.EngineKind = "transformers",
    engine_option: opt.EngineOptions = None,
    max_tokens: opt.MaxTokens = 1024,
    temperature: opt.Temperature = 1.0,
    think: Think = True,
    only_solved: Annotated[
        bool, typer.Option("--only-solved/--all", help="Keep episodes that solved their task, or all.")
    ] = True,
    brief: Annotated[
        bool, typer.Option("--brief", help="The notes of ALFWorld's explorer in few words, for small models.")
    ] = False,
    noise: Annotated[
        float, typer.Option(help="Share of turns that are replaced by wrong ones; the expert's are kept as targets.")
    ] = 0.0,
    doubt: Annotated[
        float,
        typer.Option(help="Share of the turns in which the expert knows what to do in which it explores all the same."),
    ] = 0.0,
    seeds: opt.Seeds = 1,
    seed: FirstSeed = 0,
    parallel: opt.Parallel = 8,
    retries: opt.Retries = 1,
    agent_timeout: opt.AgentTimeout = 600.0,
    step_timeout: opt.StepTimeout = 120.0,
    parquet: Parquet = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Let an expert play, and keep what it saw and answered, in tag form."""
    from eapo_gym.cli.targets import parse_kwargs
    from eapo_gym.trainers.demonstrations import Demonstrations, collect_demonstrations

    what = Demonstrations(
        agent=agent,
        agent_options=parse_kwargs(agent_option or [], "--agent-option"),
        think=think,
        brief=brief,
        only_solved=only_solved,
        noise=noise,
        doubt=doubt,
    )
    walks = _walks(locals())

    async def work(tell: Callable[[Collecting], None]) -> Any:
        opened = None if model is None else _open_engine(model, {"engine": engine, "engine_option": engine_option})
        try:
            return await collect_demonstrations(
                what, walks, out, engine=opened, sampling=_sampling(max_tokens, temperature), on_progress=tell
            )
        finally:
            if opened is not None:
                await opened.close()

    with stoppable(out), bar("episodes") as tell:
        done = asyncio.run(work(lambda now: tell(now.done, now.planned, said_of(now))))
    if parquet:
        _also_parquet(done.examples, done.path)
    if as_json:
        print(json.dumps({"path": str(done.path), **done.summary}, indent=1))
        return
    summary = done.summary
    print_line(f"{summary['examples']:,} examples from {summary['walks']} episodes, {summary['solved']} of them solved")
    for why, count in summary["left_out"].items():
        print_line(f"left out: {count:,} steps ({why})")
    print_line(f"{done.path.resolve()}")


def sft_command(
    out: Annotated[Path, typer.Option("--out", help="The folder; an unfinished one goes on.", file_okay=False)],
    settings: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE...", help="Settings of training, as in model=models/tiny sft_epochs=2."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A YAML file with settings, such as that of `train`.", dir_okay=False)
    ] = None,
    data: Annotated[
        list[Path] | None, typer.Option(help="A JSONL or Parquet file of examples, instead of sft_data; repeat.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Fine-tune a model on demonstrations and rollback pairs, before RL."""
    from dataclasses import asdict

    from eapo_gym.trainers.config import TrainConfig
    from eapo_gym.trainers.sft import sft

    loaded = TrainConfig.load(config, settings or [])
    with stoppable(out), tuning() as show:
        result = sft(loaded, [*(data or loaded.sft_data)], out, on_progress=show)
    if as_json:
        print(json.dumps({**asdict(result), "model": str(result.model)}, indent=1, default=str))
    else:
        print_result(result)


# What the commands share


@contextmanager
def tuning() -> Iterator[Callable[[Tuning], None]]:
    """A progress bar of a fine-tuning."""
    with bar("updates") as tell:
        yield lambda now: tell(now.step, now.steps, f"loss {now.loss:.3f}, {now.tokens_per_second:,.0f} tokens/s")


def _walks(given: Mapping[str, Any]) -> Walks:
    from eapo_gym.bench.rollout import Limits
    from eapo_gym.cli.evaluating import target_of
    from eapo_gym.cli.targets import parse_kwargs
    from eapo_gym.trainers.collecting import Walks
    from eapo_gym.trainers.config import TrainConfig

    # What the command line names comes before what the file says.
    said = TrainConfig.load(given["config"])
    source = {} if given["source"] is None else {"source": given["source"]}
    return Walks(
        env=target_of(given["env"] or said.env),
        env_kwargs={**said.env_kwargs, **source, **parse_kwargs(given["env_kwarg"] or [], "--env-kwarg")},
        split=given["split"] or said.split,
        seeds=given["seeds"],
        seed=given["seed"],
        max_tasks=given["tasks"],
        max_steps=given["max_steps"],
        rollback=_mode(given["rollback_mode"]),
        limits=Limits(given["agent_timeout"], given["step_timeout"]),
        retries=given["retries"],
        parallel=given["parallel"],
    )


def _mode(name: str) -> Any:
    return None if name == "none" else name


def _open_engine(model: str | None, given: Mapping[str, Any]) -> Engine:
    from eapo_gym.cli.targets import parse_kwargs
    from eapo_gym.engines import open_engine

    assert model is not None
    return open_engine(given["engine"], model, **parse_kwargs(given["engine_option"] or [], "--engine-option"))


def _sampling(max_tokens: int, temperature: float) -> Any:
    from eapo_gym.engines.base import Sampling

    return Sampling(max_tokens=max_tokens, temperature=temperature, logprobs=False)


def _also_parquet(examples: Any, path: Path) -> None:
    from eapo_gym.trainers.examples import write_examples

    write_examples(examples, path.with_suffix(".parquet"))
