"""Tiny models of the real architectures, randomly initialised: to try the suite, and to learn from nothing.

    make_tiny("models/tiny", "qwen3", size="1m")

writes a folder that transformers and vLLM load like any other: a model, a tokenizer that was trained on an
environment's own text, and a chat template. What such a model says means nothing until it is trained.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import shutil
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from eapo_gym.engines.hub import count_parameters, model_class, no_progress_bar
from eapo_gym.engines.tiny_text import TAGS_AND_NUMBERS, Family, environment_texts, train_tokenizer
from eapo_gym.errors import EapoError, MissingExtra, UnknownName

Architecture = Literal["qwen3", "qwen3-vl", "gemma3", "gemma3-text"]
"""gemma3 and qwen3-vl see images, the other two are text models."""

NOTE = "tiny.json"
"""Stands in every folder that was written here, and says how it was made."""

_WIDTHS = (*range(32, 512, 16), *range(512, 2049, 64))


class TinyModelError(EapoError, ValueError):
    """A tiny model that cannot be made as it was asked for."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """What decides the size of a model."""

    hidden: int
    inner: int = 0
    """The width of the feed-forward layers; 0 is three times `hidden`."""

    @property
    def layers(self) -> int:
        return max(3, min(12, self.hidden // 32))

    @property
    def head(self) -> int:
        return 32 if self.hidden < 512 else 64

    @property
    def heads(self) -> int:
        """A power of two, so that it divides the width."""
        return max(4, 1 << (self.hidden // self.head).bit_length() - 1)

    @property
    def spread(self) -> float:
        """Standard deviation of the weights: 0.02 is for models of some hundreds, narrow ones would start out mute."""
        return float(0.5 / self.hidden**0.5)

    def text(self, context: int) -> dict[str, Any]:
        """The part of a configuration that all of the architectures have."""
        return {
            "hidden_size": self.hidden,
            "intermediate_size": self.inner or 3 * self.hidden,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.heads // 2,
            "head_dim": self.head,
            "max_position_embeddings": context,
            "initializer_range": self.spread,
            "tie_word_embeddings": True,
        }

    @property
    def eyes(self) -> int:
        """The width of what sees."""
        return max(32, self.hidden // 2 // 32 * 32)


def make_tiny(
    folder: str | Path,
    architecture: Architecture = "qwen3",
    size: str = "0.2m",
    *,
    texts: Sequence[str] | None = None,
    env: str = "eapo/ALFWorld-v0",
    vocab: int = 2048,
    context: int = 4096,
    compact: bool = False,
    seed: int = 0,
) -> Path:
    """Write a tiny model into `folder`, and return it.

    `size` is the number of parameters ("0.2m", "30m", "800k"). The tokenizer is trained on `texts`, by default on what
    is read and written in `env`, and has at most `vocab` tokens: fewer where the texts do not need as many. `compact`
    makes tags and numbers tokens of their own, which halves responses, for models that learn from nothing. The same
    arguments give the same files. A folder that has them already is left as it is, and no other is written over.
    """
    folder = Path(folder)
    if architecture not in get_args(Architecture):
        raise UnknownName.of("architecture", architecture, get_args(Architecture))
    recipe = {
        "architecture": architecture, "parameters": _count(size), "vocab": vocab, "context": context, "seed": seed,
        "texts": env if texts is None else _digest(texts), **({"compact": True} if compact else {}),
    }  # fmt: skip
    if _is_there(folder, recipe):
        return folder
    _need_packages()
    if texts is None:
        texts = environment_texts(env)
    family: Family = "qwen" if architecture.startswith("qwen") else "gemma"
    tokenizer = train_tokenizer(family, texts, vocab, TAGS_AND_NUMBERS if compact else ())
    if len(tokenizer) > vocab:
        raise TinyModelError(
            f"vocab: expected at least {len(tokenizer)}, without which not all can be said; got {vocab}."
        )
    make_config = _ARCHITECTURES[architecture]
    shape = _fit(lambda shape: make_config(shape, tokenizer, context), int(_count(size)), size)
    draft = folder.absolute().with_name(f".{folder.name}.{secrets.token_hex(4)}")
    draft.mkdir(parents=True)
    try:
        _write(draft, make_config(shape, tokenizer, context), tokenizer, seed)
        (draft / NOTE).write_text(json.dumps(recipe, indent=2) + "\n", encoding="utf-8")
        try:
            draft.rename(folder)  # over an empty folder too
        except OSError:
            if not _is_there(folder, recipe):  # another process may have made the very same in the meantime
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def _is_there(folder: Path, recipe: dict[str, Any]) -> bool:
    """True if this very model is there already; anything else that is there is somebody's, and stays."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return False
    note = folder / NOTE
    found = json.loads(note.read_text(encoding="utf-8")) if note.is_file() else None
    if found == recipe:
        return True
    what = f"holds a tiny model of another kind ({found})" if found else "holds something else"
    raise TinyModelError(f"{folder} {what}: expected an empty or a new folder. Name another one, or remove it.")


def _need_packages() -> None:
    try:
        import tokenizers  # noqa: F401
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise MissingExtra.of("A tiny model", "transformers") from error


def _digest(texts: Sequence[str]) -> str:
    return f"sha256:{hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()}"


def _count(size: str) -> int:
    """The number that a size such as "0.2m" or "800k" stands for."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([km])", size.strip().lower())
    if match is None:
        raise TinyModelError(f"size: expected a number of parameters such as 800k, 0.2m or 30m, got {size!r}.")
    return round(float(match[1]) * {"k": 1_000, "m": 1_000_000}[match[2]])


def _fit(make_config: Callable[[_Shape], Any], wanted: int, size: str) -> _Shape:
    """The widest shape that has at most `wanted` parameters, its feed-forward layers then widened to reach them."""
    if (least := count_parameters(make_config(_Shape(_WIDTHS[0], inner=8)))) > wanted:
        raise TinyModelError(f"size: {size} is too small, with this tokenizer the least is {least / 1e6:.2f}m.")
    at = bisect_right(_WIDTHS, wanted, key=lambda width: count_parameters(make_config(_Shape(width))))
    if at == len(_WIDTHS):
        raise TinyModelError(f"size: {size} is not tiny, a model as large as that is to be configured with care.")
    shape = _Shape(_WIDTHS[max(0, at - 1)], inner=8)
    base = count_parameters(make_config(shape))
    each = (count_parameters(make_config(replace(shape, inner=16))) - base) // 8
    return replace(shape, inner=8 + (wanted - base) // each // 8 * 8)


# The architectures


def _qwen3(shape: _Shape, tokenizer: Any, context: int) -> Any:
    from transformers import Qwen3Config

    return Qwen3Config(
        architectures=["Qwen3ForCausalLM"],
        vocab_size=len(tokenizer),
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
        **_ids(tokenizer),
        **shape.text(context),
    )


def _qwen3_vl(shape: _Shape, tokenizer: Any, context: int) -> Any:
    from transformers import Qwen3VLConfig

    third = shape.head // 6
    rope = {
        "rope_type": "default",
        "rope_theta": 10_000.0,
        "mrope_section": [shape.head // 2 - 2 * third, third, third],
        "mrope_interleaved": True,
    }
    return Qwen3VLConfig(
        architectures=["Qwen3VLForConditionalGeneration"],
        text_config={"vocab_size": len(tokenizer), "rope_parameters": rope, **_ids(tokenizer), **shape.text(context)},
        vision_config={
            "depth": 2,
            "hidden_size": shape.eyes,
            "intermediate_size": 2 * shape.eyes,
            "num_heads": 2,
            "patch_size": 16,
            "out_hidden_size": shape.hidden,
            "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0],
            "initializer_range": shape.spread,
        },
        tie_word_embeddings=True,
        **_image_ids(tokenizer, image="<|image_pad|>", video="<|video_pad|>")
        | _image_ids(tokenizer, vision_start="<|vision_start|>", vision_end="<|vision_end|>"),
    )


def _gemma3_text(shape: _Shape, tokenizer: Any, context: int) -> Any:
    from transformers import Gemma3TextConfig

    return Gemma3TextConfig(
        architectures=["Gemma3ForCausalLM"],
        vocab_size=len(tokenizer),
        **_ids(tokenizer),
        **_gemma3_layers(shape, context),
    )


def _gemma3(shape: _Shape, tokenizer: Any, context: int) -> Any:
    from transformers import Gemma3Config

    return Gemma3Config(
        architectures=["Gemma3ForConditionalGeneration"],
        text_config={"vocab_size": len(tokenizer), **_ids(tokenizer), **_gemma3_layers(shape, context)},
        vision_config={
            "model_type": "siglip_vision_model",
            "hidden_size": shape.eyes,
            "intermediate_size": 2 * shape.eyes,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": _GEMMA_EDGE,
            "patch_size": 14,
            "vision_use_head": False,
        },
        mm_tokens_per_image=_GEMMA_TOKENS,
        boi_token_index=tokenizer.boi_token_id,
        eoi_token_index=tokenizer.eoi_token_id,
        image_token_index=tokenizer.image_token_id,
        initializer_range=shape.spread,
        tie_word_embeddings=True,
        **_ids(tokenizer),
    )


def _gemma3_layers(shape: _Shape, context: int) -> dict[str, Any]:
    kinds = ["full_attention" if layer % 2 else "sliding_attention" for layer in range(shape.layers)]
    return {
        **shape.text(context),
        "layer_types": kinds,
        "sliding_window": min(512, context),
        "query_pre_attn_scalar": shape.head,
    }


_ARCHITECTURES: dict[Architecture, Callable[[_Shape, Any, int], Any]] = {
    "qwen3": _qwen3,
    "qwen3-vl": _qwen3_vl,
    "gemma3": _gemma3,
    "gemma3-text": _gemma3_text,
}

_GEMMA_EDGE, _GEMMA_TOKENS = 112, 16


def _ids(tokenizer: Any) -> dict[str, int | None]:
    return {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id} | {
        "pad_token_id": tokenizer.pad_token_id
    }


def _image_ids(tokenizer: Any, **tokens: str) -> dict[str, int]:
    return {f"{name}_token_id": tokenizer.convert_tokens_to_ids(token) for name, token in tokens.items()}


# The files


def _write(folder: Path, config: Any, tokenizer: Any, seed: int) -> None:
    import torch
    from transformers import GenerationConfig

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = model_class(config)(config).to(torch.float32)
        _initialise(model, layers=config.get_text_config().num_hidden_layers)
    ends = [tokenizer.convert_tokens_to_ids(token) for token in _ENDS if token in tokenizer.get_vocab()]
    model.generation_config = GenerationConfig(**{**_ids(tokenizer), "eos_token_id": ends}, do_sample=True)
    with no_progress_bar():
        model.save_pretrained(folder)
    tokenizer.model_max_length = config.get_text_config().max_position_embeddings
    tokenizer.save_pretrained(folder)
    for name, content in _PROCESSORS.get(config.architectures[0], {}).items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


_ENDS = ("<|im_end|>", "<|endoftext|>", "<end_of_turn>", "<eos>")
"""Tokens that end a response; a turn's own first."""


def _initialise(model: Any, layers: int) -> None:
    """What the architectures' own initialisation leaves to do."""
    import torch

    spread = model.config.get_text_config().initializer_range
    for name, parameter in model.named_parameters():
        # What layers add to the residual stream is scaled down, so that it is as wide at the end as at the beginning.
        if name.endswith(("self_attn.o_proj.weight", "mlp.down_proj.weight")):
            parameter.data.mul_((2 * layers) ** -0.5)
        # Gemma's way from image to text begins as zeros, through which nothing is seen.
        if name.endswith("mm_input_projection_weight"):
            torch.nn.init.normal_(parameter, std=spread)


_GREY = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
_QWEN_PATCHES = {"patch_size": 16, "temporal_patch_size": 2, "merge_size": 2}

_PROCESSORS: dict[str, dict[str, dict[str, Any]]] = {
    "Qwen3VLForConditionalGeneration": {
        "preprocessor_config.json": {
            "image_processor_type": "Qwen2VLImageProcessor",
            "processor_class": "Qwen3VLProcessor",
            "size": {"shortest_edge": 64 * 64, "longest_edge": 512 * 512},
            **_QWEN_PATCHES,
            **_GREY,
        },
        "video_preprocessor_config.json": {
            "video_processor_type": "Qwen3VLVideoProcessor",
            "processor_class": "Qwen3VLProcessor",
            "size": {"shortest_edge": 64 * 64, "longest_edge": 512 * 512},
            **_QWEN_PATCHES,
            **_GREY,
        },
    },
    "Gemma3ForConditionalGeneration": {
        "preprocessor_config.json": {
            "image_processor_type": "Gemma3ImageProcessor",
            "processor_class": "Gemma3Processor",
            "image_seq_length": _GEMMA_TOKENS,
            "size": {"height": _GEMMA_EDGE, "width": _GEMMA_EDGE},
            **_GREY,
        },
        "processor_config.json": {"processor_class": "Gemma3Processor", "image_seq_length": _GEMMA_TOKENS},
    },
}
"""How images become pixels, by architecture: as in the real models' folders, with small pictures."""
