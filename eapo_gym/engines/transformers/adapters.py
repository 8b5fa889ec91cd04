"""The weights of a model that is being used: LoRA adapters in PEFT's format, and replacements for the weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
        self._layers: list[Any] = []
        if is_wrapped:
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
        kind = str(getattr(PeftConfig.from_pretrained(folder).peft_type, "value", ""))
        if kind != "LORA":
            raise EngineError(f"The adapter in {folder} is of kind {kind}: expected LORA.")
        if self._wrapped is None:
            self._wrapped = PeftModel.from_pretrained(self.model, folder, adapter_name=name)
        else:
            if name in self.names:
                self._wrapped.delete_adapter(name)
            self._wrapped.load_adapter(folder, adapter_name=name)
        self._find_layers()
        self._versions[name] += 1

    def _find_layers(self) -> None:
        from peft.tuners.tuners_utils import BaseTunerLayer

        self._layers = [module for module in self.model.modules() if isinstance(module, BaseTunerLayer)]

    @contextmanager
    def using(self, name: str | None) -> Iterator[None]:
        """Within this context the model is that of the adapter, or the one without any; afterwards it is as before.

        PEFT's own `set_adapter` also decides which adapters are trained, which is the trainer's business if the model
        is shared with one; so only the two attributes are set that say which adapter runs.
        """
        before = [(layer._active_adapter, layer._disable_adapters) for layer in self._layers]
        for layer in self._layers:
            layer._disable_adapters = name is None
            if name is not None:
                layer._active_adapter = [name]
        try:
            yield
        finally:
            for layer, (active, disabled) in zip(self._layers, before, strict=True):
                layer._active_adapter, layer._disable_adapters = active, disabled


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
