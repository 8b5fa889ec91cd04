"""Models for training: loaded with adapters or in copies, checked, and written as plain folders."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

try:
    import torch
    import transformers
except ImportError as error:
    from eapo_gym.errors import MissingExtra

    raise MissingExtra.of("Training", "train") from error

from safetensors import SafetensorError
from torch.distributed.tensor import DTensor

from eapo_gym.engines.base import EngineUnavailable, Unsupported
from eapo_gym.engines.chat import Chat
from eapo_gym.engines.hub import load
from eapo_gym.errors import MissingExtra
from eapo_gym.protocol import render
from eapo_gym.schema import Turn
from eapo_gym.trainers.checkpoint import sync_folder
from eapo_gym.trainers.config import BadConfig, TrainConfig
from eapo_gym.trainers.failures import is_out_of_memory
from eapo_gym.trainers.logprobs import LogProbs, Row

_IMAGE_FILES = ("preprocessor_config.json", "processor_config.json", "video_preprocessor_config.json")
"""How a model's images are read; they are no part of the tokenizer's files."""


# Loading


def precision(config: TrainConfig, device: Any) -> str:
    """What the model computes in."""
    if config.precision == "auto":
        return "bfloat16" if device.type == "cuda" else "float32"
    return {"fp32": "float32", "bf16": "bfloat16"}[config.precision]


def base_of(model: Any) -> Any:
    """The model of transformers, in which PEFT's layers may stand."""
    return model.get_base_model() if hasattr(model, "peft_config") else model


def with_adapters(
    config: TrainConfig, name: str, device: Any, roles: Sequence[str], trained: Sequence[str]
) -> dict[str, Any]:
    """One frozen model for all the roles, with an adapter for each that is trained."""
    dtype = precision(config, device)
    model = _load(config, name, device, dtype).requires_grad_(False)
    wrapped = _add_adapters(config, model, device, trained) if trained else model
    if dtype == "bfloat16":
        _compute_in_bf16(model, device)
    return dict.fromkeys(roles, wrapped)


def copies(config: TrainConfig, name: str, device: Any, roles: Sequence[str], trained: Sequence[str]) -> dict[str, Any]:
    """A model for each of the roles. Those that are trained have weights in single precision, whatever they compute in:
    a step of 1e-6 is nothing to a weight in bf16."""
    dtype = precision(config, device)
    first = _load(config, name, device, "float32" if trained else dtype)
    first.requires_grad_(False)
    models = {}
    for i, role in enumerate(roles):
        with _fitting(config, name, device):
            models[role] = model = deepcopy(first) if i + 1 < len(roles) else first
            if role not in trained:
                model.to(getattr(torch, dtype))
        if role in trained:
            # What sees is kept as it is.
            for part in (model.get_decoder(), model.get_output_embeddings()):
                part.requires_grad_(True)
    if dtype == "bfloat16":
        for model in models.values():
            _compute_in_bf16(model, device)
    return models


def _load(config: TrainConfig, name: str, device: Any, dtype: str) -> Any:
    settings: Any = load(transformers.AutoConfig.from_pretrained, name, "configuration")
    sees = hasattr(settings, "vision_config")
    kind = transformers.AutoModelForImageTextToText if sees else transformers.AutoModelForCausalLM
    for part in (settings, settings.get_text_config()):
        for field, value in vars(part).items():
            if field.endswith(("dropout", "pdrop")) and isinstance(value, (int, float)):
                setattr(part, field, 0.0)
    with _fitting(config, name, device):
        model: Any = load(
            kind.from_pretrained, name, "model", config=settings, dtype=getattr(torch, dtype),
            attn_implementation="sdpa",
        )  # fmt: skip
        model = model.to(device).eval()
    if config.gradient_checkpointing:
        # It was renamed. The re-entrant kind would end the gradient at embeddings that are frozen.
        enable = getattr(model, "activation_checkpointing_enable", None) or model.gradient_checkpointing_enable
        enable({"use_reentrant": False})
    return model


@contextmanager
def _fitting(config: TrainConfig, name: str, device: Any) -> Iterator[None]:
    """Loading and copying, for which there may be too little memory."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        what = f"{name} does not fit in the memory of {device}"
        if config.tuning == "full":
            what += ", in which it has a copy for each role"
        fewer = ", or tuning=lora, which keeps one copy" if config.tuning == "full" else ""
        raise EngineUnavailable(f"{what}: take a smaller one{fewer}.") from error


def _compute_in_bf16(model: Any, device: Any) -> None:
    """Put it into the model, so that an engine that shares it computes as the trainer does."""
    decoder = model.get_decoder()
    decoder.forward = torch.autocast(device.type, torch.bfloat16)(decoder.forward)


def _add_adapters(config: TrainConfig, model: Any, device: Any, names: Sequence[str]) -> Any:
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError as error:
        raise MissingExtra.of("LoRA", "train") from error
    targets = [target.strip() for target in config.lora_targets.split(",") if target.strip()]
    blind = _outside_of_the_decoder(model)

    def settings() -> Any:
        return LoraConfig(
            r=config.lora_rank,
            lora_alpha=config.lora_alpha,
            target_modules="all-linear" if targets == ["all-linear"] else targets,
            exclude_modules=blind,
            bias="none",
            task_type="CAUSAL_LM",
        )

    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(config.seed)
        try:
            wrapped = get_peft_model(model, settings(), adapter_name=names[0])
            for name in names[1:]:
                wrapped.add_adapter(name, settings())
        except ValueError as error:
            linear = {n.rpartition(".")[2] for n, m in model.named_modules() if isinstance(m, torch.nn.Linear)}
            raise BadConfig(
                f"lora_targets: {type(model).__name__} takes no adapters in {config.lora_targets!r}: expected "
                f"all-linear, or some of {', '.join(sorted(linear))}."
            ) from error
    embedding = model.get_input_embeddings()
    output = model.get_output_embeddings()
    tied = getattr(output, "weight", None) is getattr(embedding, "weight", 0)
    if tied and any(hasattr(layer, "base_layer") for layer in (embedding, output)):
        raise BadConfig(
            f"lora_targets: {config.lora_targets!r} names the output layer or the embedding, which are one in "
            f"{type(model).__name__}: leave them out."
        )
    for name, parameter in wrapped.named_parameters():
        parameter.requires_grad_("lora_" in name)
    return wrapped


def _outside_of_the_decoder(model: Any) -> str | None:
    """A pattern of what sees, in an image-text model: it is kept as it is, and engines take no adapters for it."""
    if not hasattr(model.config, "vision_config"):
        return None
    decoder = model.get_decoder()
    names = [name for name, child in model.model.named_children() if child is not decoder]
    return rf"(.*\.)?({'|'.join(map(re.escape, names))})\..*"


# Checks


def check_tags(chat: Chat) -> None:
    """Refuse a tokenizer that changes a response in the form of the protocol."""
    text = render(Turn(think="a b", explore="Look {there}.", memory="It is 1.", action="open drawer 1"))
    back = chat.decode(chat.encode(text))
    if back != text:
        raise Unsupported(
            f"The tokenizer of {chat.name} does not give back a response that it has encoded: expected {text!r}, got "
            f"{back!r}. Take a model whose tokenizer keeps every character, such as one of bytes."
        )


def check_arithmetic(module: LogProbs, without_adapters: AbstractContextManager[None]) -> None:
    """Refuse a model that does something to its logits that is not known here."""
    device = next(module.model.parameters()).device
    row = Row((1, 2, 3, 4), ((5, 6, 7, 8),))
    with torch.no_grad(), without_adapters:
        own = module(module.collate([row]).to(device))
        ids = torch.tensor([row.prompt + row.targets[0]], device=device)
        logits = module.model(input_ids=ids, use_cache=False).logits[0, 3:-1].float()
        its = logits.log_softmax(-1).gather(1, ids[0, 4:, None])[:, 0]
    if not torch.allclose(own, its, atol=1e-3 if module.model.dtype == torch.float32 else 0.1):
        raise Unsupported(
            f"{type(module.model).__name__} has log-probs of its own making, that differ by "
            f"{float((own - its).abs().max()):.2g} from those of its output layer: expected a model whose logits are "
            "the output layer's, soft-capped at most."
        )


# Writing


def weights_of(model: Any, adapter: str | None = None) -> Iterator[tuple[str, Any]]:
    """The weights as in the model's own state dict, with the adapter added to them."""
    base = base_of(model)
    layers = dict(base.named_modules())
    for name, weight in base.state_dict().items():
        if ".lora_" in name:
            continue
        owner, inside, last = name.rpartition(".base_layer.")
        if isinstance(weight, DTensor):
            weight = weight.full_tensor()
        if inside and last == "weight" and adapter is not None:
            weight = (weight.float() + layers[owner].get_delta_weight(adapter).float()).to(weight.dtype)
        yield (f"{owner}.{last}" if inside else name), weight


def write_folder(folder: Path, model: Any, weights: Mapping[str, Any], tokenizer: Any, source: str) -> None:
    """The folder appears whole, in the place of an older one."""
    with draft_of(folder) as draft:
        draft.mkdir()
        _save(model, draft, weights)
        tokenizer.save_pretrained(draft)
        _copy_image_files(source, draft)
        put_in_place(draft, folder)


@contextmanager
def draft_of(folder: Path) -> Iterator[Path]:
    """A place beside a folder to write what shall become it (`put_in_place`); nothing of it is left afterwards."""
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def put_in_place(draft: Path, folder: Path) -> None:
    """Bring a draft to the disk and name it as the folder. An older one steps aside, and comes back if this fails."""
    folder = folder.absolute()
    for path in (*draft.rglob("*"), draft):
        _sync(path)
    aside = draft.with_name(f"{draft.name}.old")
    try:
        if folder.exists():
            folder.rename(aside)
        draft.rename(folder)
        sync_folder(folder.parent)
    finally:
        if aside.exists() and not folder.exists():
            aside.rename(folder)
        shutil.rmtree(aside, ignore_errors=True)


def _sync(path: Path) -> None:
    if path.is_dir():
        sync_folder(path)
        return
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _save(model: Any, folder: Path, weights: Mapping[str, Any]) -> None:
    try:
        model.save_pretrained(folder, state_dict=weights)
    except SafetensorError as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        # The system's errors come as texts alone, and a full disk is to be told from other troubles.
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(folder)) from error


def _copy_image_files(source: str, folder: Path) -> None:
    from transformers.utils import cached_file

    for name in _IMAGE_FILES:
        found = cached_file(source, name, local_files_only=True, _raise_exceptions_for_missing_entries=False)
        if found is not None:
            shutil.copyfile(os.fspath(found), folder / name)
