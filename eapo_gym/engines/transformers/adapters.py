"""The weights of a model that is being used: LoRA adapters in PEFT's format, and replacements for the weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from eapo_gym.engines.base import EngineError
from eapo_gym.errors import MissingExtra, UnknownName


class Adapters:
    """The LoRA adapters that were put into a model. Their layers stand in the model itself, several in one layer."""

    def __init__(self, model: Any) -> None:
        """`model` may be a PEFT model, whose adapters are then there already."""
        is_wrapped = hasattr(model, "peft_config") and hasattr(model, "get_base_model")
        self._wrapped = model if is_wrapped else None
        self.model = model.get_base_model() if is_wrapped else model
        self._versions: Counter[str] = Counter()
        self._layers: list[tuple[Any, Container[str] | None]] = []
        """Layers that adapters change, with the names of those that they know if they take no others."""

        if is_wrapped:
            for name, config in model.peft_config.items():
                _refuse_bias(f"The adapter {name!r}", config)
            self._find_layers()

    @property
    def names(self) -> list[str]:
        return list(self._wrapped.peft_config) if self._wrapped is not None else []

    def check(self, name: str | None) -> None:
        if name is not None and name not in self.names:
            raise UnknownName.of("adapter", name, self.names, "Load it with engine.load_adapter(name, folder).")

    def version(self, name: str | None) -> int:
        """Grows whenever an adapter is loaded again."""
        return self._versions[name] if name is not None else 0

    def load(self, name: str, folder: str) -> None:
        """Put an adapter into the model, in the place of an earlier one of this name."""
        try:
            from peft import PeftConfig, PeftModel
        except ImportError as error:
            raise MissingExtra.of("LoRA adapters", "train") from error
        if not (Path(folder) / "adapter_config.json").is_file():
            raise EngineError(f"{folder} holds no adapter: expected a folder with PEFT's adapter_config.json.")
        config = PeftConfig.from_pretrained(folder)
        kind = str(getattr(config.peft_type, "value", ""))
        if kind != "LORA":
            raise EngineError(f"The adapter in {folder} is of kind {kind}: expected LORA.")
        _refuse_bias(f"The adapter in {folder}", config)
        try:
            if self._wrapped is None:
                self._wrapped = PeftModel.from_pretrained(self.model, folder, adapter_name=name)
            else:
                if name in self.names:
                    self._wrapped.delete_adapter(name)
                self._wrapped.load_adapter(folder, adapter_name=name)
        except Exception as error:
            if self._wrapped is not None and name in self.names:  # layers without their weights
                self._wrapped.delete_adapter(name)
            problem = f"{type(error).__name__}: {error}"
            raise EngineError(f"PEFT could not load the adapter in {folder}: {problem}") from error
        finally:
            self._find_layers()
            self._versions[name] += 1

    def _find_layers(self) -> None:
        from peft.tuners.trainable_tokens import TrainableTokensLayer
        from peft.tuners.tuners_utils import BaseTunerLayer
        from peft.utils.other import AuxiliaryTrainingWrapper

        self._layers = []
        for module in self.model.modules():
            # Modules that adapters have copies of (`modules_to_save`), or some rows of (`trainable_token_indices`).
            if isinstance(module, AuxiliaryTrainingWrapper):
                self._layers.append((module, module._adapters))
            elif isinstance(module, TrainableTokensLayer):
                self._layers.append((module, module.trainable_tokens_delta))
            elif isinstance(module, BaseTunerLayer):
                self._layers.append((module, None))

    @contextmanager
    def using(self, name: str | None) -> Iterator[None]:
        """Within this context the model is that of the adapter, or the one without any; afterwards it is as before.

        PEFT's own `set_adapter` also decides which adapters are trained, which is the trainer's business if the model
        is shared with one; so only the two attributes are set that say which adapter runs.
        """
        layers = self._layers
        before = [(layer._active_adapter, layer._disable_adapters) for layer, _ in layers]
        for layer, known in layers:
            layer._disable_adapters = name is None
            if name is not None:
                layer._active_adapter = [name] if known is None or name in known else []
        try:
            yield
        finally:
            for (layer, _), (active, disabled) in zip(layers, before, strict=True):
                layer._active_adapter, layer._disable_adapters = active, disabled


def _refuse_bias(adapter: str, config: Any) -> None:
    bias = getattr(config, "bias", "none")
    if bias != "none":
        raise EngineError(
            f"{adapter} was trained with bias={bias!r}, which changes the model that others use: expected bias='none'."
        )


def replace_weights(own: Mapping[str, Any], new: Iterable[tuple[str, Any]]) -> None:
    """Copy new weights over the old; all names and shapes are checked before the first is copied."""
    checked: list[tuple[Any, Any]] = []
    for name, value in new:
        if name not in own:
            raise UnknownName.of("weight", name, own)
        value = torch.as_tensor(value)
        if value.shape != own[name].shape:
            raise EngineError(
                f"The weight {name} has shape {tuple(value.shape)}: expected {tuple(own[name].shape)}; nothing changed."
            )
        checked.append((own[name], value))
    with torch.no_grad():
        for old, value in checked:
            old.copy_(value)
