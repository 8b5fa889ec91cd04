"""Everything that a training run can be told, in one dataclass: a field, its default, and a line on what it does.

    config = TrainConfig.load("configs/alfworld_eapo.yaml", ["algorithm=grpo", "seed=1"])

A configuration begins with the values of its `algorithm` (`eapo_gym.trainers.presets`); the YAML file changes some of
them, and `key=value` arguments change them last.
"""

from __future__ import annotations

import ast
import inspect
import sys
import typing
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from eapo_gym.errors import EapoError, MissingExtra, UnknownName
from eapo_gym.trainers.presets import PRESETS

Algorithm = str
"""The name of a preset."""

_LEAST_TEMPERATURE = 1e-4
"""Engines take none below it, but for 0."""


class BadConfig(EapoError, ValueError):
    """A setting that cannot be, or that does not go with another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """The settings of a training run."""

    algorithm: Algorithm = "eapo"
    """A preset: grpo, dapo, gigpo, lamer, eapo, or one of EAPO's ablations. Its values are the defaults of this run."""

    model: str = ""
    """A folder with a model, or a hub's id; for RL from a rollback-SFT model, the folder that `eapo-gym sft` wrote."""

    seed: int = 0
    """Decides everything that is drawn: tasks, weights of adapters, tokens."""

    # What is played

    env: str = "eapo/ALFWorld-v0"
    """A registered id, or "module:Class" of an `AgentEnv`."""

    env_kwargs: dict[str, Any] = field(default_factory=dict)
    """Arguments of the environment, such as `source: official`."""

    split: str = "train"
    """The split whose tasks are trained on."""

    max_tasks: int | None = None
    """Train on so many tasks of the split, taken evenly; null for all."""

    max_steps: int = 50
    """The most actions of an episode."""

    max_idle: int | None = None
    """End an episode that is trained on after so many invalid actions in a row; null lets it go on."""

    rollback: Literal["inverse", "restore", "none"] = "inverse"
    """How the command `rollback` takes an action back; "restore" is an oracle that only simulations have."""

    agent: Literal["eapo", "plain"] = "eapo"
    """The prompt: with exploration and memory, or plain."""

    agent_options: dict[str, Any] = field(default_factory=dict)
    """Options of the agent, such as `compact: true` for small models."""

    # Before RL

    sft_data: tuple[str, ...] = ()
    """JSONL or Parquet files of demonstrations and rollback pairs to fine-tune on first; empty to start RL at once."""

    sft_epochs: float = 1.0
    """How often the fine-tuning sees its data; may be a fraction."""

    sft_learning_rate: float | None = None
    """Of the fine-tuning; null for `learning_rate`."""

    sft_batch: int = 64
    """Examples in one update of the fine-tuning."""

    sft_max_steps: int | None = None
    """The most updates of the fine-tuning, whatever its epochs; null for no such limit."""

    sft_held_out: float = 0.05
    """The share of the tasks whose examples are left out of the fine-tuning, to measure its loss on."""

    rollback_sft: bool = True
    """Use the rollback pairs of `sft_data`; without them it has only the demonstrations (the ablation)."""

    # Rollouts

    tasks_per_step: int = 8
    """N: tasks that are played in one step of training."""

    group_size: int = 16
    """G: trajectories of each of them."""

    temperature: float = 1.0
    """Of the sampling."""

    max_tokens: int = 4096
    """The most tokens of one response."""

    sampler: Literal["shared", "transformers", "vllm"] = "shared"
    """What samples: the trainer's own model, or an engine with a copy of the weights, updated after each step."""

    engine_options: dict[str, Any] = field(default_factory=dict)
    """Options of the engine, such as `max_batch`."""

    parallel: int = 256
    """The most episodes that are played at a time."""

    deterministic: bool | None = None
    """Sample all responses of a round together, so that the same seed gives the same run to the bit; null: on a CPU."""

    episode_timeout: float | None = None
    """Seconds that an episode may take; a straggler is cut off, and counted."""

    response_timeout: float | None = 600.0
    """Seconds that one response may take."""

    step_timeout: float | None = 120.0
    """Seconds that one step of the environment may take."""

    retries: int = 1
    """How often an episode is begun again when the environment failed."""

    dynamic_sampling: bool = False
    """Draw other tasks for those whose trajectories all earned the same (DAPO)."""

    dynamic_rounds: int = 3
    """The most rounds of drawing in one step."""

    episodes_per_trajectory: int = 1
    """Episodes of a task that are played in sequence, with reflections in between (LaMer)."""

    gamma_episode: float = 0.6
    """Discount from one episode to the one before (LaMer)."""

    # Rewards

    task_credit: Literal["episodic", "discounted"] = "discounted"
    """What each step of a successful episode earns: 1, or `gamma_task` to the power of the steps that were left."""

    gamma_task: float = 0.95
    """Discount of success."""

    gamma_explore: float = 0.9
    """Discount of what an exploration finds out, per step."""

    format_weight: float = 0.5
    """Weight of the format reward (alpha 1)."""

    explore_weight: float = 1.0
    """Weight of the exploratory reward (alpha 2)."""

    explore_reward: Literal["q_phi", "online", "none"] = "q_phi"
    """The reward model, rollouts from branches of the episode, or nothing."""

    score: Literal["output", "input"] = "output"
    """Which exploration and memory are scored: those of the response, or those of its prompt (the paper's equation)."""

    density: Literal["lift", "token_mean", "sequence", "log_prob"] = "lift"
    """What becomes of their log-prob: see docs/algorithm.md."""

    online_rollouts: int = 4
    """Rollouts from each branch, for each of the two online rewards."""

    online_restore: bool = False
    """Where no action takes an action back, let the online reward restore the state instead."""

    overlong_buffer: int | None = 0
    """The last so many tokens before `max_tokens` cost up to 1 (DAPO's soft penalty); null for a fifth of them."""

    # The reward model

    q_learning_rate: float | None = None
    """Of the reward model; null for `learning_rate`."""

    q_objective: Literal["reinforce", "weighted_mle"] = "reinforce"
    """How it is trained: by the policy gradient of its objective, or towards its closed-form optimum."""

    q_beta: float = 1.0
    """Weight of the return against the distance from the prior."""

    q_kl: float = 1.0
    """Weight k of the distance from the prior within the signal."""

    q_baseline: Literal["task", "none"] = "task"
    """What is subtracted from the returns."""

    q_clip: float = 0.2
    """Clip of the ratio of the reward model to the policy that wrote."""

    # Groups and advantages

    grouping: Literal["state_depth", "state", "trajectory", "gigpo"] = "state_depth"
    """Who is compared: the same state at the same visit, the same state, whole trajectories, or both as in GiGPO."""

    singleton: Literal["zero", "raw", "task"] = "task"
    """The advantage of who is alone in a group: none, its own reward, or against the task's steps of about its time."""

    std_floor: float = 0.05
    """Rewards of a group are divided by their standard deviation, or by this if that is less."""

    step_weight: float = 1.0
    """Weight of the step's advantage beside the episode's (GiGPO)."""

    # The objective

    clip_low: float = 0.2
    """The ratio to the sampling policy counts down to 1 - this."""

    clip_high: float = 0.2
    """The ratio to the sampling policy counts up to 1 + this."""

    kl_weight: float = 0.01
    """Weight of the distance from the reference model (lambda)."""

    loss_mean: Literal["response", "token"] = "response"
    """Average over the tokens of each response and then over responses, or over all tokens alike."""

    tis_cap: float = 2.0
    """Where another engine samples: the most that a token counts for being likelier in the trainer than in it."""

    epochs: int = 1
    """Passes over the transitions of a step."""

    minibatches: int = 1
    """Updates in each pass."""

    # Optimisation

    tuning: Literal["lora", "full"] = "lora"
    """Train adapters on the frozen model, or all of its weights."""

    lora_rank: int = 64
    """Rank of the adapters."""

    lora_alpha: int = 128
    """Scale of the adapters, as a multiple of 1 / rank."""

    lora_targets: str = "all-linear"
    """Layers that get adapters: "all-linear", or names with commas."""

    learning_rate: float | None = None
    """Of the policy; null for 1e-4 with LoRA and 1e-6 without."""

    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """How the learning rates go on after the warm-up."""

    warmup: int = 0
    """Steps in which the learning rates rise."""

    weight_decay: float = 0.0
    """AdamW's."""

    beta2: float = 0.999
    """AdamW's memory of how large gradients were; less of it for runs of few updates."""

    grad_clip: float = 1.0
    """The longest that a gradient may be."""

    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """Of the computation; auto is bf16 on a GPU and fp32 on a CPU."""

    gradient_checkpointing: bool = False
    """Compute activations again instead of keeping them: less memory, more time."""

    microbatch_tokens: int = 16384
    """Tokens, padding included, that go through the model at a time. Less of them takes less memory."""

    max_bad_updates: int = 3
    """So many updates in a row may be skipped for not being finite, before the run stops."""

    # The run

    steps: int = 1000
    """Steps of training."""

    env_steps: int | None = None
    """End with the step that brings the environment's steps to so many: a budget that all algorithms can share."""

    eval_every: int = 20
    """Steps from one evaluation to the next; 0 for none at all."""

    eval_split: str = "valid"
    """The split that is evaluated on."""

    eval_tasks: int | None = None
    """So many tasks of it, taken evenly; null for all."""

    eval_temperature: float | None = None
    """Of the evaluation's sampling; null for that of training."""

    save_every: int = 10
    """Steps from one checkpoint to the next."""

    keep_last: int = 2
    """Checkpoints that are kept, beside the best one."""

    loggers: str = ""
    """Trackers besides metrics.jsonl: tensorboard, wandb, mlflow, with commas."""

    def __post_init__(self) -> None:
        for item in fields(self):
            _check_type(item.name, getattr(self, item.name), _types()[item.name])
        if self.algorithm not in PRESETS:
            raise UnknownName.of("algorithm", self.algorithm, PRESETS)
        at_least = {
            1: "max_steps tasks_per_step group_size max_tokens parallel dynamic_rounds episodes_per_trajectory "
            "online_rollouts epochs minibatches lora_rank lora_alpha microbatch_tokens max_bad_updates steps "
            "save_every keep_last sft_batch",
            0: "seed retries format_weight explore_weight q_beta q_kl q_clip std_floor step_weight "
            "clip_low clip_high kl_weight warmup weight_decay eval_every temperature",
        }
        for least, names in at_least.items():
            for name in names.split():
                if getattr(self, name) < least:
                    raise BadConfig(f"{name}: expected {least} or more, got {getattr(self, name)}.")
        if not 0 <= self.beta2 < 1:
            raise BadConfig(f"beta2: expected a number from 0 to below 1, got {self.beta2}.")
        for name in ("gamma_task", "gamma_explore", "gamma_episode"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadConfig(f"{name}: expected a discount from 0 to 1, got {getattr(self, name)}.")
        for name in ("tis_cap", "grad_clip", "std_floor", "sft_epochs"):
            if getattr(self, name) <= 0:
                raise BadConfig(f"{name}: expected a number above 0, got {getattr(self, name)}.")
        for name in (
            "learning_rate",
            "q_learning_rate",
            "sft_learning_rate",
            "episode_timeout",
            "response_timeout",
            "step_timeout",
            "sft_max_steps",
            "max_tasks",
            "max_idle",
            "env_steps",
            "eval_tasks",
        ):
            if (value := getattr(self, name)) is not None and value <= 0:
                raise BadConfig(f"{name}: expected a number above 0 or null, got {value}.")
        if self.eval_temperature and self.eval_temperature < _LEAST_TEMPERATURE:
            raise BadConfig(
                f"eval_temperature: expected 0 (the likeliest token), a number from {_LEAST_TEMPERATURE} on, or null; "
                f"got {self.eval_temperature}."
            )
        if not 0 <= self.sft_held_out < 1:
            raise BadConfig(f"sft_held_out: expected a share from 0 to below 1, got {self.sft_held_out}.")
        if self.temperature < _LEAST_TEMPERATURE:
            raise BadConfig(
                f"temperature: expected a number from {_LEAST_TEMPERATURE} on, got {self.temperature}: a policy that "
                "draws nothing learns nothing."
            )
        if self.sampler == "vllm" and self.temperature != 1:
            raise BadConfig(
                f"temperature: expected 1 with sampler=vllm, which tells log-probs at that alone; got "
                f"{self.temperature}. Set temperature=1, or another sampler."
            )
        if not 0 <= self.overlong_tokens < self.max_tokens:
            raise BadConfig(f"overlong_buffer: expected 0 or more, and less than max_tokens ({self.max_tokens:,}).")
        if self.group_size == 1:
            raise BadConfig("group_size: expected 2 or more: a trajectory alone has nothing to be compared with.")

    # What follows from others

    @property
    def overlong_tokens(self) -> int:
        """The tokens that the penalty on over-long responses is spread over."""
        return self.max_tokens // 5 if self.overlong_buffer is None else self.overlong_buffer

    @property
    def policy_rate(self) -> float:
        """The learning rate of the policy."""
        return self.learning_rate or (1e-4 if self.tuning == "lora" else 1e-6)

    @property
    def q_rate(self) -> float:
        """The learning rate of the reward model."""
        return self.q_learning_rate or self.policy_rate

    @property
    def sft_rate(self) -> float:
        """The learning rate of the fine-tuning before RL."""
        return self.sft_learning_rate or self.policy_rate

    # From files and arguments

    @classmethod
    def make(cls, **values: Any) -> TrainConfig:
        """With the values of the preset, and these instead of some of them."""
        check_names(values)
        algorithm = values.get("algorithm", "eapo")
        if algorithm not in PRESETS:
            raise UnknownName.of("algorithm", algorithm, PRESETS)
        merged = {**PRESETS[algorithm], **values}
        return cls(**{name: _as_type(name, value, _types()[name]) for name, value in merged.items()})

    @classmethod
    def load(cls, path: str | Path | None, overrides: Sequence[str] = ()) -> TrainConfig:
        """From a YAML file, if there is one, and `key=value` arguments."""
        values = {} if path is None else read_yaml(Path(path))
        return cls.make(**parse_overrides(overrides, values))

    def to_json(self) -> dict[str, Any]:
        """All values, as plain data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def read_yaml(path: Path) -> dict[str, Any]:
    """The settings in a file; their names are checked."""
    yaml = _yaml()
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadConfig(f"{path}: there is no such file; expected a YAML file with settings.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadConfig(f"{path} is not YAML: {' '.join(str(error).split())}.") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise BadConfig(f"{path}: expected settings as `key: value`, got {type(values).__name__}.")
    check_names(values)
    return values


def parse_overrides(overrides: Sequence[str], settled: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """`["seed=1", "agent_options={compact: true}"]` as values, over what is settled; behind the `=` stands YAML.

    `agent_options.compact=true` sets one entry of a mapping and leaves the others.
    """
    values: dict[str, Any] = dict(settled or {})
    for text in overrides:
        name, found, given = text.partition("=")
        name = name.strip()
        if not found:
            raise BadConfig(f"Expected a setting as key=value, such as seed=1; got {text!r:.80}.")
        yaml = _yaml()
        try:
            value = yaml.safe_load(given) if given.strip() else ""
        except yaml.YAMLError as error:
            raise BadConfig(f"{name}: {given!r:.80} is not YAML: {' '.join(str(error).split())}.") from error
        name, _, part = name.partition(".")
        if part:
            whole = values.get(name) or {}
            if not isinstance(whole, Mapping):
                raise BadConfig(f"{name}.{part}: expected {name} to be a mapping, and it is {whole!r:.80}.")
            values[name] = {**whole, part: value}
        else:
            values[name] = value
    check_names(values)
    return values


def check_names(values: Mapping[str, Any]) -> None:
    """Refuse settings that there are not."""
    for name in values:
        if name not in _types():
            raise UnknownName.of("setting", name, _types(), "eapo-gym train --help-config lists them all.")


@cache
def docs() -> dict[str, str]:
    """What each setting does: the line below it in this file."""
    [definition] = ast.parse(inspect.getsource(TrainConfig)).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for entry, after in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(entry, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            assert isinstance(entry.target, ast.Name)
            found[entry.target.id] = " ".join(str(after.value.value).split())
    return found


@cache
def _types() -> dict[str, Any]:
    return typing.get_type_hints(TrainConfig)


def _as_type(name: str, value: Any, kind: Any) -> Any:
    """What YAML has no way to say: tuples, and floats such as 1e-4, which it takes for text."""
    if get_origin(kind) is tuple:
        if isinstance(value, str):
            return (value,) if value else ()
        return tuple(value) if isinstance(value, list) else value
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    if float in kinds and isinstance(value, (str, int)) and not isinstance(value, bool):
        try:
            return float(value)
        except (ValueError, OverflowError):
            return value
    return value


def _check_type(name: str, value: Any, kind: Any) -> None:
    if not _is(value, kind):
        raise BadConfig(f"{name}: expected {_said(kind)}, got {value!r:.80}.")


def _is(value: Any, kind: Any) -> bool:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return any(_is(value, each) for each in get_args(kind))
    if origin is Literal:
        return value in get_args(kind) and not isinstance(value, bool)
    if origin is tuple:
        return isinstance(value, tuple) and all(isinstance(item, get_args(kind)[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(isinstance(key, str) for key in value)
    if kind is type(None):
        return value is None
    if kind is float:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and abs(value) <= sys.float_info.max  # neither infinite, nor NaN
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)


_WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", type(None): "null"}


def _said(kind: Any) -> str:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return " or ".join(_said(each) for each in get_args(kind))
    if origin is Literal:
        return "one of " + ", ".join(get_args(kind))
    if origin is tuple:
        return "a list of texts"
    if origin is dict:
        return "a mapping"
    return _WORDS[kind]


def _yaml() -> Any:
    try:
        import yaml
    except ImportError as error:
        raise MissingExtra.of("A training configuration", "train") from error
    return yaml
