"""`eapo-gym models …`: make a tiny model, and look into any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

models = typer.Typer(no_args_is_help=True, help="Make a tiny model, and look into any.")

_ARCHITECTURES = "qwen3, gemma3-text; qwen3-vl and gemma3 see images."


@models.command("tiny")
def models_tiny(
    folder: Annotated[Path, typer.Argument(help="A new or an empty folder.", file_okay=False)],
    arch: Annotated[str, typer.Option(help=_ARCHITECTURES)] = "qwen3",
    size: Annotated[str, typer.Option(help="Parameters, as in 800k, 0.2m or 30m.")] = "1m",
    env: Annotated[
        str, typer.Option(metavar="ENV", help="The environment whose texts the tokenizer is trained on.")
    ] = "eapo/ALFWorld-v0",
    vocab: Annotated[int, typer.Option(help="Most tokens of the vocabulary.", min=300)] = 2048,
    context: Annotated[int, typer.Option(help="Most tokens of a prompt with its response.", min=64)] = 4096,
    compact: Annotated[
        bool, typer.Option("--compact", help="Tags and numbers are tokens of their own: responses are half as long.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Draws the weights.", min=0)] = 0,
) -> None:
    """Write a small, randomly initialised model: to try the suite without a download, or to train from nothing.

    It is of a real architecture, so everything takes it that takes the real one. What it says means nothing.
    """
    from eapo_gym.cli.terminal import console, plain
    from eapo_gym.engines.tiny import make_tiny

    made = make_tiny(
        folder,
        arch,  # type: ignore[arg-type]  # what is none of them is told so
        size,
        texts=training_texts(env),
        vocab=vocab,
        context=context,
        compact=compact,
        seed=seed,
    )
    facts = look_into(made)
    console().print(
        plain(f"{made}: {facts['architecture']}, {facts['parameters']:,} parameters, {facts['vocabulary']:,} tokens")
    )


@models.command("show")
def models_show(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A folder, or an id on the Hugging Face hub.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """What a model is, what it can do here, and what a prompt looks like in its chat template.

    Its weights are not read.
    """
    facts = look_into(model)
    if as_json:
        print(json.dumps(facts, indent=1))
    else:
        _print(facts)


def training_texts(target: str) -> list[str]:
    """What an agent reads and writes in an environment, and the prompts of our agents for it."""
    from eapo_gym.agents.prompts import COMPACT, EAPO, PLAIN, REACT, VOTE, guide_for
    from eapo_gym.agents.prompts.templates import system_message, user_preamble
    from eapo_gym.cli.targets import make_env
    from eapo_gym.engines.tiny_text import environment_texts

    env = make_env(target, {} if ":" in target else {"schema": "native"})
    guide = guide_for(env, rollback=True)
    styles = (COMPACT, EAPO, PLAIN, REACT, VOTE)
    prompts = [f"{system_message(style, explore_hint=True)}\n{user_preamble(style, guide)}" for style in styles]
    texts = environment_texts(env)
    env.close()
    return [*texts, *prompts]


def look_into(model: str | Path) -> dict[str, Any]:
    """The facts about a model that its files tell without its weights."""
    from eapo_gym.engines.chat import Chat
    from eapo_gym.engines.hub import count_parameters, load

    chat = Chat(model)
    from transformers import AutoConfig

    config = load(AutoConfig.from_pretrained, model, "configuration")
    text = config.get_text_config()
    prompt = chat.prompt(_sample())
    return {
        "model": str(model),
        "architecture": config.architectures[0],
        "parameters": count_parameters(config),
        "precision": str(config.dtype or "unknown").removeprefix("torch."),
        "context": text.max_position_embeddings,
        "vocabulary": len(chat.tokenizer),
        "images": chat.image_id is not None,
        "system role": not chat.merges_system,
        "thinking switch": chat.has_thinking_switch(),
        "ends with": chat.tokenizer.convert_ids_to_tokens(chat.stop_ids),
        "sample": chat.render(_sample()),
        "sample tokens": len(prompt.ids),
    }


def _sample() -> list[Any]:
    from eapo_gym.engines.base import Message
    from eapo_gym.protocol import render_observation
    from eapo_gym.schema import Observation

    seen = Observation("put a mug on the desk.", "You arrive at desk 1. On the desk 1, you see a pen 2.")
    return [Message("system", "You act in a household."), Message("user", render_observation(seen))]


def _print(facts: dict[str, Any]) -> None:
    from rich.panel import Panel
    from rich.table import Table

    from eapo_gym.cli.terminal import console, plain

    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for name, fact in facts.items():
        if not name.startswith("sample"):
            table.add_row(name, plain(_said(fact)))
    out = console()
    out.print(table)
    out.print(Panel(plain(facts["sample"]), title=f"a prompt of {facts['sample tokens']} tokens", title_align="left"))


def _said(fact: object) -> str:
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    if isinstance(fact, int):
        return f"{fact:,}"
    return ", ".join(fact) if isinstance(fact, list) else str(fact)
