"""What a tiny model knows of language: texts to train a tokenizer on, tokenizers, and chat templates.

The tokenizers are of the classes that the real models use, with control tokens of the same names and roles. So whatever
handles a tiny model handles the real one too: the traps (tokens that are added but not special, system messages that
have no role of their own, images that stand for more than one token) are the same.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import gymnasium as gym

from eapo_gym.agents.experts import ExplorerAgent
from eapo_gym.envs.alfworld.env import ALFWorldEnv
from eapo_gym.envs.androidworld.env import AndroidWorldEnv
from eapo_gym.envs.webshop.env import WebShopEnv
from eapo_gym.protocol import render, render_observation
from eapo_gym.schema import Observation, Turn

Family = Literal["qwen", "gemma"]

CONTROL_TOKENS: dict[Family, tuple[str, ...]] = {
    "qwen": (
        *("<|endoftext|>", "<|im_start|>", "<|im_end|>"),
        *("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"),
    ),
    "gemma": (
        *("<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<start_of_turn>", "<end_of_turn>"),
        *("<start_of_image>", "<end_of_image>", "<image_soft_token>"),
    ),
}
"""Their ids count from 0, and nothing in a text becomes one of them."""

WORDS_OF_THEIR_OWN: dict[Family, tuple[str, ...]] = {
    "qwen": ("<think>", "</think>"),
    "gemma": ("\n\n", "\n\n\n", "\n\n\n\n"),
}
"""Tokens that are added to the vocabulary whole, and are ordinary text all the same."""

_TAGS = ("goal", "state", "explore", "memory", "action")

TAGS_AND_NUMBERS = (
    *(form.format(tag) for tag in _TAGS for form in ("<{}>", "\n<{}>", "\n<{}>\n", "\n</{}>", " </{}>")),
    " \\boxed{",
    *(f"{before}{number}" for before in (" ", "-") for number in range(1, 41)),
)
"""What the texts of this suite say most often, and tokenizers cut into pieces. As tokens they halve a response."""

CHATML = """\
{%- for message in messages -%}
  {{- '<|im_start|>' + message.role + '\\n' -}}
  {%- if message.content is string -%}
    {{- message.content -}}
  {%- else -%}
    {%- for part in message.content -%}
      {{- '<|vision_start|><|image_pad|><|vision_end|>' if part.type == 'image' else part.text -}}
    {%- endfor -%}
  {%- endif -%}
  {{- '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\\n' -}}
  {%- if enable_thinking is defined and not enable_thinking -%}
    {{- '<think>\\n\\n</think>\\n\\n' -}}
  {%- endif -%}
{%- endif -%}
"""
"""The format of Qwen's models, with their switch for thinking."""

TURNS = """\
{{- bos_token -}}
{%- set told = namespace(before='') -%}
{%- for message in messages -%}
  {%- if message.role == 'system' -%}
    {%- set told.before = (message.content if message.content is string else message.content[-1].text) + '\\n\\n' -%}
  {%- else -%}
    {{- '<start_of_turn>' + ('model' if message.role == 'assistant' else message.role) + '\\n' + told.before -}}
    {%- set told.before = '' -%}
    {%- if message.content is string -%}
      {{- message.content | trim -}}
    {%- else -%}
      {%- for part in message.content -%}
        {{- '<start_of_image>' if part.type == 'image' else part.text | trim -}}
      {%- endfor -%}
    {%- endif -%}
    {{- '<end_of_turn>\\n' -}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<start_of_turn>model\\n' -}}
{%- endif -%}
"""
"""The format of Gemma's models: what the system says goes before what the user says next."""


def environment_texts(
    env: str | gym.Env[Any, Any] = "eapo/ALFWorld-v0", *, episodes: int = 60, steps: int = 20, seed: int = 0
) -> list[str]:
    """What an agent reads and writes in an environment: observations and responses, in the tag protocol.

    `env` is a registered id, or an environment that takes its own commands as actions.
    """
    texts = []
    made = gym.make(env, schema="native") if isinstance(env, str) else env
    core: Any = made.unwrapped
    if isinstance(core, AndroidWorldEnv):
        core.observation_mode = "elements"  # pictures have no words in them, and take their time
    dice = random.Random(seed)
    core.action_space.seed(seed)
    tasks = core.tasks()
    for task in dice.sample(tasks, min(episodes, len(tasks))):
        raw, _ = made.reset(seed=seed, options={"task": task})
        turn = Turn()
        for _ in range(steps):
            seen = Observation.from_dict(raw, explore=turn.explore, memory=turn.memory or "")
            turn = _turn(core, seen, dice)
            texts += [render_observation(seen), render(turn), "\n".join(_offered(core))]
            raw, _, terminated, truncated, _ = made.step(turn.action)
            if terminated or truncated:
                break
    if isinstance(env, str):
        made.close()
    return list(dict.fromkeys(texts))


def _turn(core: Any, seen: Observation, dice: random.Random) -> Turn:
    """A response: an expert's where there is one that reads and writes, so that its words are known too."""
    # What an expert never does is read as well.
    if isinstance(core, ALFWorldEnv | WebShopEnv | AndroidWorldEnv) and dice.random() < 0.8:
        return ExplorerAgent().act(replace(seen, valid_actions=tuple(_offered(core)) or None))
    action = dice.choice(_offered(core)) if _offered(core) else core.action_space.sample()
    return Turn("What has not been tried yet?", f"Try this: {action}", seen.memory, action)


def _offered(core: Any) -> list[str]:
    return core.valid_actions() or []


def train_tokenizer(family: Family, texts: Iterable[str], vocab: int, words: Sequence[str] = ()) -> Any:
    """A tokenizer of at most `vocab` tokens, `words` among them, as a tokenizer of transformers."""
    train = _train_gemma if family == "gemma" else _train_qwen
    return train([*texts, *_ROLES], vocab, (*WORDS_OF_THEIR_OWN[family], *words))


_ROLES = ("system", "user", "assistant", "model")
"""The templates write them in every prompt."""


def _train_qwen(texts: Iterable[str], vocab: int, own: tuple[str, ...]) -> Any:
    """Byte-level BPE: any text can be written, in Unicode's composed form (NFC)."""
    from tokenizers import AddedToken, pre_tokenizers
    from tokenizers.trainers import BpeTrainer
    from transformers import Qwen2Tokenizer

    control = CONTROL_TOKENS["qwen"]
    backend = Qwen2Tokenizer().backend_tokenizer
    trainer = BpeTrainer(
        vocab_size=vocab - len(own),
        special_tokens=list(control),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    backend.train_from_iterator(_without(texts, (*control, *own)), trainer)
    tokenizer = Qwen2Tokenizer(
        *_vocabulary(backend),
        eos_token="<|im_end|>",
        extra_special_tokens=[token for token in control if token not in ("<|endoftext|>", "<|im_end|>")],
        chat_template=CHATML,
    )
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in own])
    return tokenizer


def _train_gemma(texts: Iterable[str], vocab: int, own: tuple[str, ...]) -> Any:
    """BPE over characters that falls back to bytes; spaces are written as ▁, which therefore comes back as a space."""
    from tokenizers import AddedToken, pre_tokenizers
    from tokenizers.trainers import BpeTrainer
    from transformers import GemmaTokenizer

    control = CONTROL_TOKENS["gemma"]
    octets = [f"<0x{octet:02X}>" for octet in range(256)]
    backend = GemmaTokenizer().backend_tokenizer
    backend.pre_tokenizer = pre_tokenizers.Sequence(  # for the training alone: no token holds more than a word
        [pre_tokenizers.Split("▁", "merged_with_next"), pre_tokenizers.Split("\n", "isolated")]
    )
    trainer = BpeTrainer(
        vocab_size=vocab - len(own),
        special_tokens=[*control, *octets],
        initial_alphabet=sorted({"▁", "\n", *map(chr, range(0x21, 0x7F))}),
        show_progress=False,
    )
    backend.train_from_iterator(_without(texts, (*control, *own)), trainer)
    tokenizer = GemmaTokenizer(
        *_vocabulary(backend),
        model_specific_special_tokens={
            "image_token": "<image_soft_token>",
            "boi_token": "<start_of_image>",
            "eoi_token": "<end_of_image>",
        },
        extra_special_tokens=["<start_of_turn>", "<end_of_turn>"],
        chat_template=TURNS,
    )
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in own])
    return tokenizer


def _vocabulary(backend: Any) -> tuple[dict[str, int], list[tuple[str, ...]]]:
    """The tokens and the merges of a trained BPE model, which gives them away as JSON only."""
    model = json.loads(backend.to_str())["model"]
    return model["vocab"], [tuple(pair) for pair in model["merges"]]


def _without(texts: Iterable[str], tokens: Iterable[str]) -> Iterator[str]:
    """Texts without the tokens that a text is not to be made of."""
    listed = list(tokens)
    for text in texts:
        for token in listed:
            text = text.replace(token, " ")
        yield text
