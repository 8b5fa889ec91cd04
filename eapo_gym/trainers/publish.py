"""A policy for others: a plain Hugging Face folder with a model card, and its way to the hub.

export(checkpoints.best(), "models/eapo-alfworld")         # or a Policy
push("models/eapo-alfworld", "someone/eapo-alfworld")      # private, unless told otherwise
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, Protocol

from eapo_gym.bench.setting import versions, without_secrets
from eapo_gym.bench.store import plain
from eapo_gym.errors import EapoError, MissingExtra
from eapo_gym.loggers import METRICS, read_metrics
from eapo_gym.trainers.checkpoint import Checkpoint, Checkpoints
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.failures import DiskFull, free_bytes, is_disk_full
from eapo_gym.trainers.records import read_record

CARD, TRAINING = "README.md", "training.json"

_HUB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")

_TOLD = {
    "eval/success": "success",
    "eval/low": "its 95 % interval from",
    "eval/high": "to",
    "eval/steps": "steps per episode",
    "eval/degree": "exploration degree",
    "eval/format_rate": "responses in form",
    "eval/invalid_rate": "invalid actions",
}
"""The numbers of an evaluation that a model card has."""


class PublishError(EapoError, RuntimeError):
    """A model that could not be exported or pushed."""


class Exports(Protocol):
    """What writes itself as a Hugging Face folder (`eapo_gym.trainers.policy.Policy`)."""

    def export(self, folder: Path) -> object: ...


def export(source: Exports | Checkpoint, folder: str | Path, *, run: str | Path | None = None) -> Path:
    """Write a policy, or that of a checkpoint, with a model card; the folder appears whole, or not at all.

    `run` is the folder of the training run that the card tells of; a checkpoint knows it by itself. An earlier export
    is replaced; any other folder that has something in it is not.
    """
    from eapo_gym.trainers.loading import draft_of, put_in_place

    folder = Path(folder).absolute()
    if folder.exists() and not (folder / TRAINING).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise PublishError(f"{folder} is not empty and no earlier export: choose another folder.")
    step = None
    if isinstance(source, Checkpoint):
        run, step = source.path.parent.parent if run is None else run, source.step
    facts = _facts(None if run is None else Path(run), step)
    policy = _policy_of(source, Path(run)) if isinstance(source, Checkpoint) and run is not None else source
    assert not isinstance(policy, Checkpoint)
    with draft_of(folder) as draft:
        try:
            policy.export(draft)
            if draft.exists():  # of several processes that train together the first one writes
                _write(draft / TRAINING, json.dumps(facts, indent=1) + "\n")
                _write(draft / CARD, card(folder.name, facts))
                put_in_place(draft, folder)
        except OSError as error:
            if not is_disk_full(error):
                raise
            needed = sum(file.stat().st_size for file in draft.rglob("*") if file.is_file())
            kept = None if step is None else f"the checkpoint of step {step}"
            raise DiskFull.of(f"the export to {folder}", needed, free_bytes(folder), kept) from error
    return folder


def push(folder: str | Path, repo_id: str, *, private: bool = True, endpoint: str | None = None) -> str:
    """Upload an exported folder to a model repository on the Hugging Face hub; returns the address of its commit.

    The repository is made if there is none. One that everybody can read is refused unless `private` is False.
    """
    folder = Path(folder)
    if not (folder / "config.json").is_file() or not any(folder.glob("*.safetensors")):
        raise PublishError(f"{folder} is no exported model: expected config.json and *.safetensors in it.")
    if not _HUB_ID.fullmatch(repo_id):
        raise PublishError(f"Expected a repository as owner/name, such as someone/eapo-alfworld, got {repo_id!r:.100}.")
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HfHubHTTPError, HTTPError, LocalTokenNotFoundError, OfflineModeIsEnabled
    except ImportError as error:
        raise MissingExtra.of("Pushing to the Hugging Face hub", "train") from error
    api = HfApi(endpoint=endpoint)
    try:
        api.create_repo(repo_id, private=private, exist_ok=True)
        if private and not api.model_info(repo_id).private:
            raise PublishError(
                f"Everybody can read {repo_id}, and the model was to be private: name another repository, or push "
                "with private=False."
            )
        # What begins with a dot is no part of a model: drafts, caches, a desktop's notes.
        commit = api.upload_folder(
            repo_id=repo_id, folder_path=folder, ignore_patterns=[".*", "*/.*"], commit_message=f"Upload {folder.name}"
        )
    except LocalTokenNotFoundError as error:
        raise PublishError(_NO_TOKEN.format(repo_id)) from error
    except OfflineModeIsEnabled as error:
        raise PublishError(f"{repo_id} was not pushed: HF_HUB_OFFLINE is set. Unset it.") from error
    except HfHubHTTPError as error:
        raise PublishError(_refused(repo_id, error)) from error
    except (HTTPError, ConnectionError) as error:  # of whichever HTTP client the hub's library has
        raise PublishError(
            f"{repo_id} was not pushed: {api.endpoint} did not answer ({type(error).__name__}: {error}). The folder "
            f"{folder} is as it was; push it from where there is a network."
        ) from error
    return str(commit.commit_url)


def card(name: str, facts: Mapping[str, Any]) -> str:
    """The model card: what the model is, how it was trained, what it can do, and how to load it."""
    config: Mapping[str, Any] = facts.get("config", {})
    base = config.get("model", "")
    head = ["library_name: transformers", "pipeline_tag: text-generation", "tags:", "- eapo-gym", "- agent"]
    head.append("- reinforcement-learning")
    if isinstance(base, str) and _HUB_ID.fullmatch(base):
        head.append(f"base_model: {json.dumps(base)}")
    of = f"step {facts['step']} of a run" if facts.get("step") is not None else "a run"
    method, env = (f"`{_inline(config.get(key, '(not known)'))}`" for key in ("algorithm", "env"))
    parts = [
        "---",
        *head,
        "---",
        f"# {_inline(name)}",
        f"A language-model agent, trained with eapo-gym by {method} on {env}"
        f" ({of}). No licence is stated here: that is for whoever publishes it to do, under the terms of the model that"
        " it was trained from.",
        "## How it does",
        _results(facts),
        "## How to load it",
        "As any model of transformers; what it expects as a prompt is what eapo-gym's agents write:",
        _fenced(
            "from transformers import AutoModelForCausalLM, AutoTokenizer\n\n"
            f"model = AutoModelForCausalLM.from_pretrained({_inline(name)!r})\n"
            f"tokenizer = AutoTokenizer.from_pretrained({_inline(name)!r})",
            "python",
        ),
        _fenced(
            f"eapo-gym eval --env {_inline(config.get('env', 'eapo/ALFWorld-v0'))} "
            f"--agent {_inline(config.get('agent', 'eapo'))} --model {_inline(name)}",
            "sh",
        ),
        "## How it was trained",
        _fenced(json.dumps(config, indent=1), "json"),
        "Versions: " + ", ".join(f"{_inline(key)} {_inline(value)}" for key, value in facts["versions"].items()) + ".",
    ]
    front = parts.index("---", 1) + 1
    return "\n".join(parts[:front]) + "\n\n" + "\n\n".join(parts[front:]) + "\n"


# What a card tells of


def _facts(run: Path | None, step: int | None) -> dict[str, Any]:
    """What is known of the run up to a step. Nothing of this machine's paths, and no secrets."""
    if run is None:
        return {"step": step, "config": {}, "versions": versions(), "metrics": {}}
    record = read_record(run)
    rows = read_metrics(run / METRICS) if (run / METRICS).exists() else []
    rows = [row for row in rows if step is None or row["step"] <= step]
    metrics: dict[str, Any] = {}
    for row in rows:
        if "eval/success" in row:
            metrics = {name: row[name] for name in (*_TOLD, "env_steps", "step") if name in row}
    step = rows[-1]["step"] if step is None and rows else step
    return {
        "step": step,
        "config": _without_paths(without_secrets(record["config"])),
        "versions": record.get("versions", {}),
        "data": {PurePath(name).name: digest for name, digest in record.get("data", {}).items()},
        "metrics": plain(metrics),
    }


def _policy_of(checkpoint: Checkpoint, run: Path) -> Exports:
    """The policy as it was at a checkpoint of a run."""
    from eapo_gym.trainers.policy import Policy

    # A run that fine-tuned first went on from what came of that.
    tuned = run / "sft" / "model"
    config = TrainConfig.make(**read_record(run)["config"])
    state = Checkpoints(checkpoint.path.parent, config.keep_last).load(checkpoint)["policy"]
    policy = Policy.load(config, tuned if config.sft_data and tuned.is_dir() else None, roles=tuple(state))
    policy.load_state(state)
    return policy


def _without_paths(value: Any) -> Any:
    """Of a path on this machine, its last part: the rest is nobody's business."""
    if isinstance(value, Mapping):
        return {str(key): _without_paths(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_paths(item) for item in value]
    if isinstance(value, str) and (PurePath(value).is_absolute() or value.startswith(("~", "./", "../"))):
        return PurePath(value).name
    return value


def _results(facts: Mapping[str, Any]) -> str:
    metrics: Mapping[str, Any] = facts.get("metrics", {})
    if "eval/success" not in metrics:
        return "It was not evaluated during training."
    config: Mapping[str, Any] = facts.get("config", {})
    lines = [f"| on `{_inline(config.get('eval_split', ''))}`, at step {int(metrics['step'])} | |", "| --- | --- |"]
    lines += [f"| {said} | {float(metrics[name]):.4g} |" for name, said in _TOLD.items() if name in metrics]
    if "env_steps" in metrics:
        lines.append(f"| environment steps of training | {float(metrics['env_steps']):,.0f} |")
    return "\n".join(lines)


def _inline(value: object) -> str:
    """A text that cannot leave the line or the code span in which it stands."""
    return re.sub(r"[^\w./:+-]+", "-", str(value))[:100]


def _fenced(text: str, language: str) -> str:
    """A block of code that nothing within it can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


# The hub

_NO_TOKEN = (
    "{} was not pushed: the hub wants to know who you are. Log in (hf auth login), or set HF_TOKEN to a token that may "
    "write."
)


def _refused(repo_id: str, error: Any) -> str:
    status = error.response.status_code
    if status == 401:
        return _NO_TOKEN.format(repo_id)
    if status == 403:
        return f"{repo_id} was not pushed: the token may not write there. Take one that may, or a repository of yours."
    said = " ".join(str(getattr(error, "server_message", None) or error).split())
    return f"{repo_id} was not pushed: the hub answered {status}: {said:.300}"


# Files


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
