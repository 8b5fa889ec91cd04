"""The commands and their options. What a command needs is imported when it runs, so that `--help` is quick."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from gymnasium.error import Error as GymnasiumError
from typer.core import TyperGroup

from eapo_gym.cli import options as opt
from eapo_gym.cli import training_data
from eapo_gym.cli.models import models
from eapo_gym.cli.training_report import SweepCommand, sweep
from eapo_gym.errors import EapoError

MISUSE = 2
"""Exit status where something was asked for that cannot be; 1 is an answer that is no."""


class _Door(TyperGroup):
    """Where every error that was raised on purpose becomes one sentence."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (EapoError, GymnasiumError, OSError) as error:
            if ctx.params.get("debug"):
                raise
            print(f"eapo-gym: {_sentence(error)}", file=sys.stderr)
            raise typer.Exit(MISUSE) from None


def _sentence(error: Exception) -> str:
    """What went wrong; of the system's own errors, without their numbers."""
    if isinstance(error, EapoError) or not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    return f"{error.strerror}: {error.filename}" if error.filename is not None else error.strerror


app = typer.Typer(
    cls=_Door,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Environments for LLM agents that learn when to explore.",
)
data = typer.Typer(no_args_is_help=True, help="Bring an environment's data, and verify it.")
app.add_typer(data, name="data")
app.add_typer(models, name="models")

Kwargs = Annotated[
    list[str] | None,
    typer.Option("--kwargs", metavar="KEY=VALUE", help="An argument of the environment; repeat for more."),
]


@app.callback(invoke_without_command=True)
def _options(
    ctx: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        import eapo_gym

        print(f"eapo-gym {eapo_gym.__version__}")
        raise typer.Exit


@app.command()
def envs(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """What can be played here, what is missing, and the command that brings it."""
    from eapo_gym.cli.listing import list_envs

    list_envs(as_json)


@app.command()
def play(
    env: Annotated[str, typer.Argument(metavar="ENV", help=opt.ENV_HELP)],
    split: Annotated[str | None, typer.Option(help="A split of the source.")] = None,
    source: Annotated[
        str | None, typer.Option(help="embedded (generated tasks) or official (the benchmark's).")
    ] = None,
    engine: Annotated[str | None, typer.Option(help="ALFWorld: native or textworld.")] = None,
    task: Annotated[str | None, typer.Option(help="The id of a task; else one is drawn.")] = None,
    seed: Annotated[int | None, typer.Option(help="Draws the same task again.")] = None,
    rollback: Annotated[str, typer.Option(help="inverse, or restore: always possible, and an oracle.")] = "inverse",
    kwargs: Kwargs = None,
    web: Annotated[bool, typer.Option("--web", help="In the browser, and keep every episode.")] = False,
    out: Annotated[Path | None, typer.Option(help="With --web: the folder for the episodes.", file_okay=False)] = None,
    host: Annotated[str, typer.Option(help="With --web: where to listen; others need the token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="With --web: 0 takes a free one.", min=0, max=65535)] = 0,
    max_steps: opt.MaxSteps = None,
) -> None:
    """Play an environment yourself: in the terminal, from commands on the standard input, or in the browser."""
    from eapo_gym.cli.targets import parse_kwargs

    given = {"split": split, "source": source, "engine": engine}
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    chosen |= parse_kwargs(kwargs or [])
    if web:
        from eapo_gym.cli.playing_web import play_web

        mode: Any = None if rollback == "none" else rollback
        where: dict[str, Any] = {"out": out, "host": host, "port": port, "max_steps": max_steps}
        play_web(env, chosen, rollback=mode, task=task, seed=seed or 0, **where)
    else:
        from eapo_gym.cli.playing import play as play_

        if max_steps is not None and ":" not in env:
            chosen["max_episode_steps"] = max_steps
        play_(env, chosen, rollback=rollback, task=task, seed=seed)


@app.command("eval")
def evaluate(
    agent: Annotated[
        str,
        typer.Option(
            metavar="AGENT",
            help="eapo, plain, naive, react, tot, random, oracle, explorer, human, python:MODULE:CLASS, "
            "or openai:MODEL@URL.",
        ),
    ],
    env: opt.Env = "eapo/ALFWorld-v0",
    split: opt.Split = None,
    source: opt.Source = None,
    env_kwarg: opt.EnvKwargs = None,
    tasks: opt.Tasks = None,
    max_steps: opt.MaxSteps = None,
    rollback: opt.RollbackMode = "inverse",
    model: opt.Model = None,
    engine: opt.EngineKind = "transformers",
    engine_option: opt.EngineOptions = None,
    agent_option: opt.AgentOptions = None,
    max_tokens: opt.MaxTokens = 1024,
    temperature: opt.Temperature = 1.0,
    top_p: opt.TopP = 1.0,
    top_k: opt.TopK = 0,
    min_p: opt.MinP = 0.0,
    override: opt.OverrideStrength = 0.0,
    seeds: opt.Seeds = 1,
    parallel: opt.Parallel = 16,
    retries: opt.Retries = 2,
    episode_timeout: opt.EpisodeTimeout = None,
    agent_timeout: opt.AgentTimeout = 600.0,
    step_timeout: opt.StepTimeout = 120.0,
    out: opt.Out = None,
    log: Annotated[str, typer.Option(help="Trackers: tensorboard, wandb, mlflow, with commas between.")] = "",
    report: opt.Report = True,
    as_json: opt.AsJson = False,
) -> None:
    """Evaluate an agent on every task of a split, and write a report of what it did."""
    from eapo_gym.cli.evaluating import run_eval

    run_eval(opt.evaluation(locals(), agent), out, log=log, report=report, as_json=as_json)


@app.command()
def baselines(
    out: Annotated[Path, typer.Option(help="The folder for the runs, one for each arm.", file_okay=False)],
    arm: Annotated[
        list[str] | None,
        typer.Option(
            help="Of the table (0-shot, plain, …), or an agent such as random; repeat for more. Default: all."
        ),
    ] = None,
    env: opt.Env = "eapo/ALFWorld-v0",
    split: opt.Split = None,
    source: opt.Source = None,
    env_kwarg: opt.EnvKwargs = None,
    tasks: opt.Tasks = None,
    max_steps: opt.MaxSteps = None,
    rollback: opt.RollbackMode = "inverse",
    model: opt.Model = None,
    engine: opt.EngineKind = "transformers",
    engine_option: opt.EngineOptions = None,
    agent_option: opt.AgentOptions = None,
    max_tokens: opt.MaxTokens = 1024,
    temperature: opt.Temperature = 1.0,
    top_p: opt.TopP = 1.0,
    top_k: opt.TopK = 0,
    min_p: opt.MinP = 0.0,
    override: opt.OverrideStrength = 0.0,
    seeds: opt.Seeds = 1,
    parallel: opt.Parallel = 16,
    retries: opt.Retries = 2,
    episode_timeout: opt.EpisodeTimeout = None,
    agent_timeout: opt.AgentTimeout = 600.0,
    step_timeout: opt.StepTimeout = 120.0,
    report: opt.Report = True,
    as_json: opt.AsJson = False,
) -> None:
    """Put one model through the prompting and decoding baselines: one table, one report.

    The arms are 0-shot, plain, naive, react, tot, min-p and override, on the same tasks with the same budget of steps.
    """
    from eapo_gym.cli.evaluating import run_baselines

    run_baselines(opt.evaluation(locals()), out, arms=arm, report=report, as_json=as_json)


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="The folder of a run.", exists=True, file_okay=False)],
    b: Annotated[Path, typer.Argument(help="The folder of another one.", exists=True, file_okay=False)],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """What differs between two runs, and how sure that is; in pairs where the tasks are the same."""
    from eapo_gym.cli.evaluating import run_compare

    run_compare(a, b, as_json=as_json)


@app.command("report")
def report_(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.", file_okay=False)],
    out: Annotated[
        Path | None, typer.Option(help="The file; by default report.html in the first folder.", dir_okay=False)
    ] = None,
    figures: Annotated[
        bool, typer.Option("--figures", help="Of training runs, write each figure as PNG and SVG beside it too.")
    ] = False,
) -> None:
    """Write the report of a run, or of several side by side, as one HTML file: of evaluations, or of training runs."""
    from eapo_gym.cli.training_report import are_training_runs, run_training_report

    if are_training_runs(runs):
        run_training_report(runs, out, figures=figures)
    else:
        from eapo_gym.cli.evaluating import run_report

        run_report(runs, out)


@app.command()
def train(
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings, as in algorithm=grpo seed=1.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A YAML file with settings.", dir_okay=False)] = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder of the run; an unfinished one goes on.", file_okay=False)
    ] = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Draw the figures at the end.")] = True,
    help_config: Annotated[bool, typer.Option("--help-config", help="List every setting and every preset.")] = False,
) -> None:
    """Train a model by reinforcement learning: EAPO, its ablations, GRPO, DAPO, GiGPO or LaMer."""
    from eapo_gym.cli.training import print_settings, run_train

    if help_config:
        print_settings()
    else:
        run_train(config, settings or [], out, report=report)


training_data.register(app)
app.command("sweep", cls=SweepCommand)(sweep)


@app.command()
def check(
    env: Annotated[str, typer.Argument(metavar="ENV", help=opt.ENV_HELP)],
    kwargs: Kwargs = None,
    budget: Annotated[float, typer.Option(help="Seconds that the checks may take.", min=1)] = 90.0,
    skip: Annotated[list[str] | None, typer.Option(help="A check to leave out; repeat for more.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Try every promise of the contract on an environment; exit status 1 if one is broken."""
    from eapo_gym.cli.checking import check as check_
    from eapo_gym.cli.targets import parse_kwargs

    if not check_(env, parse_kwargs(kwargs or []), budget=budget, skip=skip or [], as_json=as_json):
        raise typer.Exit(1)


@app.command()
def desktop(
    app_names: Annotated[
        list[str] | None, typer.Option("--open", metavar="APP", help="An app to start, such as calc; repeat for more.")
    ] = None,
    width: Annotated[int, typer.Option(help="Of the screen, in pixels.", min=320, max=7680)] = 1920,
    height: Annotated[int, typer.Option(help="Of the same.", min=240, max=4320)] = 1080,
    port: Annotated[int, typer.Option(help="Of the page; 0 takes a free one.", min=0, max=65535)] = 0,
    serve: Annotated[
        int | None,
        typer.Option(help="Answer at this port, too, as the benchmark's machines do; 0 takes a free one.", min=0),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open it in the browser.")] = True,
) -> None:
    """Start a local desktop, as OSWorld's tasks have it, to look at and to use in the browser."""
    from eapo_gym.cli.desktop import show_desktop

    show_desktop(width, height, port, apps=app_names or [], serve=serve, browser=browser)


@app.command()
def doctor(
    env: Annotated[str, typer.Argument(metavar="ENV", help="androidworld or osworld.")],
    console_port: Annotated[int, typer.Option(help="The emulator's.", min=1, max=65535)] = 5554,
    grpc_port: Annotated[int, typer.Option(help="Of its -grpc.", min=1, max=65535)] = 8554,
    adb_path: Annotated[str | None, typer.Option(help="The program adb; else that of Android's SDK.")] = None,
    emulator_path: Annotated[str | None, typer.Option(help="The program emulator, likewise.")] = None,
    avd: Annotated[str | None, typer.Option(help="The AVD's name.")] = None,
    snapshot: Annotated[str | None, typer.Option(help="The snapshot that a device is brought back from.")] = None,
    python: Annotated[str | None, typer.Option(help="The interpreter that has android_world.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Look at what a real device, or a desktop, needs, and say what to do; exit status 1 if something is missing."""
    from eapo_gym.cli.doctor import doctor as doctor_
    from eapo_gym.envs.androidworld.device.inspection import Place

    place = Place(console_port, grpc_port, adb_path, emulator_path, avd, snapshot, python)
    if not doctor_(env, place, as_json):
        raise typer.Exit(1)


@app.command()
def new_env(
    name: Annotated[str, typer.Argument(help="As in tea_shop or TeaShop.")],
    into: Annotated[Path, typer.Option(help="The folder to write to.", file_okay=False)] = Path(),
) -> None:
    """Write an environment that works, with its test, to begin from."""
    from eapo_gym.cli.scaffolding import write_env

    write_env(name, into)


@app.command()
def demo(
    games: Annotated[int, typer.Option(help="Held-out games that each agent plays.", min=1, max=140)] = 100,
    out: Annotated[
        Path, typer.Option(help="The folder for all of it; unfinished, it goes on.", file_okay=False)
    ] = Path("demo-out"),
    seed: Annotated[int, typer.Option(help="Draws everything.", min=0)] = 0,
    train_: Annotated[bool, typer.Option("--train/--no-train", help="Train a model, or only play.")] = True,
    updates: Annotated[int | None, typer.Option(help="Of the fine-tuning, instead of the usual.", min=1)] = None,
    steps: Annotated[int | None, typer.Option(help="Of the reinforcement learning, likewise.", min=1)] = None,
    open_report: Annotated[bool, typer.Option("--open/--no-open", help="Open the report in a browser.")] = True,
) -> None:
    """Let agents play ALFWorld's embedded games, then train a small language model from nothing to play them too."""
    from eapo_gym.cli.demo import demo as demo_
    from eapo_gym.cli.learning import Size

    chosen: dict[str, Any] = {
        name: value for name, value in (("updates", updates), ("steps", steps)) if value is not None
    }
    demo_(games, out, seed, open_report, Size(**chosen) if train_ else None)


@data.command("webshop")
def data_webshop(
    full: Annotated[
        bool | None,
        typer.Option("--full/--small", help="All 1.18 million products (5.7 GB to fetch), or 1,000 of them (10 MB)."),
    ] = None,
    origin: Annotated[
        Path | None,
        typer.Option("--from", help="A folder with the benchmark's files, items_shuffle*.json and so on, instead."),
    ] = None,
    mirror: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="A folder on a server that has the files, asked before all others; repeat for more.",
            envvar="WEBSHOP_MIRROR",
        ),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            help="The folder for all of it; by default $WEBSHOP_DATA, else ~/.cache/webshop.", file_okay=False
        ),
    ] = None,
    products: Annotated[int | None, typer.Option(help="Only the first so many products.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Draws prices and their limits, which the benchmark leaves to chance.")] = 0,
) -> None:
    """Bring the WebShop benchmark's files, and build its catalogue and search index from them.

    Broken off, the download goes on where it stopped; what is complete is only verified.
    """
    from eapo_gym.cli.data import webshop

    webshop.get_data(origin, into, full=full, mirrors=mirror or [], products=products, seed=seed)


@data.command("osworld")
def data_osworld(
    origin: Annotated[
        Path | None,
        typer.Option(
            "--from", help="A folder or an archive that has the benchmark's evaluation_examples in it, instead."
        ),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            help="The folder for all of it; by default $EAPO_OSWORLD_DATA, else ~/.cache/osworld.", file_okay=False
        ),
    ] = None,
    revision: Annotated[
        str | None,
        typer.Option(metavar="COMMIT", help="Another commit or branch of the benchmark's repository, such as main."),
    ] = None,
) -> None:
    """Bring the OSWorld benchmark's tasks, and read every one of them; exit status 1 if one cannot be read.

    The files that tasks work on are fetched when they are played, and kept.
    """
    from eapo_gym.cli.data import osworld

    if not osworld.get_data(origin, into, revision=revision):
        raise typer.Exit(1)


@data.command("alfworld")
def data_alfworld(
    into: Annotated[
        Path | None,
        typer.Option(
            help="The folder for the data; by default $ALFWORLD_DATA, else ~/.cache/alfworld.", file_okay=False
        ),
    ] = None,
    python: Annotated[
        str | None, typer.Option(help="An interpreter that has the alfworld package, whose download command to run.")
    ] = None,
    origin: Annotated[
        Path | None, typer.Option("--from", help="An archive to unpack, or a folder to link to, instead of a download.")
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Only verify what is there.")] = False,
    with_detector: Annotated[
        bool, typer.Option("--with-detector", help="Also fetch the Mask R-CNN of ALFWorld's visual environment.")
    ] = False,
    generate: Annotated[
        int | None, typer.Option(metavar="N", help="Write N generated games into --into instead.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the first generated game; the next ones count on.", min=0)] = 0,
    difficulty: Annotated[str, typer.Option(help="Of generated games: easy, benchmark, default or hard.")] = "default",
) -> None:
    """Bring ALFWorld's official games with the official download command, and verify every one of them.

    Broken off, it goes on where it stopped; what is complete is not fetched again.

    Exit status 1 if a game is broken or a split incomplete; with --from, a split that is not there is only reported.
    """
    from eapo_gym.cli.data import alfworld

    if generate is not None:
        if into is None:
            raise typer.BadParameter("--generate needs --into, the folder to write the games to.")
        alfworld.write_generated(generate, into, seed=seed, difficulty=difficulty)
    elif not alfworld.get_data(into, origin=origin, python=python, verify_only=verify, detector=with_detector):
        raise typer.Exit(1)
