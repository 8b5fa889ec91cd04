"""What the engine adds to vLLM's workers: weights that can be replaced, and a check that they were.

On a CPU, vLLM packs the weights of linear layers into a form of its own when it loads a model, and drops the originals.
New weights then either cannot be loaded, or are loaded and never used. So the layers are told to keep and use them.
"""

from __future__ import annotations

from typing import Any

import torch
from safetensors.torch import load_file
from vllm.lora.punica_wrapper.punica_cpu import PunicaWrapperCPU
from vllm.model_executor.layers import utils as layer_utils
from vllm.platforms import current_platform


def _keep_weights(layer: Any, remove_weight: bool) -> None:
    layer.cpu_linear = torch.nn.functional.linear


_PLAIN = ("UnquantizedLinearMethod", "UnquantizedEmbeddingMethod")
"""How layers compute whose weights are not quantised."""

_SEEING = ("visual", "vision", "multi_modal")
"""Parts of the names of weights that only images meet."""


def _add_lora_logits(self: Any, logits: Any, hidden: Any, *args: Any, **kwargs: Any) -> None:
    """LoRA on the output layer, for rows that are sampled from.

    Log-probs of a prompt have one row for each of its tokens, for which vLLM has no adapters at hand here: it would end
    in an error about shapes, and take the engine down. Adapters of the output layer are refused for that reason.
    """
    if len(hidden) == len(self.sampler_indices):
        _lora_logits(self, logits, hidden, *args, **kwargs)


if current_platform.is_cpu():
    layer_utils.dispatch_cpu_unquantized_gemm = _keep_weights
    _lora_logits = PunicaWrapperCPU.add_lora_logits
    PunicaWrapperCPU.add_lora_logits = _add_lora_logits


class WorkerExtension:
    """Mixed into every worker; the names are long since a worker has many."""

    model_runner: Any

    def eapo_load_weights(self, file: str) -> list[str]:
        """Load the tensors of a safetensors file, and return the names of those that the model has no place for."""
        model = self.model_runner.get_model()
        homeless = []
        for name, tensor in load_file(file).items():
            # One by one, to learn of each whether it was taken: models pass over some of what they do not know.
            try:
                taken = model.load_weights([(name, tensor)])
            except (AssertionError, KeyError, ValueError):  # and refuse some names and shapes, each in its own way
                taken = set()
            if not taken and not self._is_tied(name):
                homeless.append(name)
        return homeless

    def _is_tied(self, name: str) -> bool:
        """True for an output layer that is the input embedding, which comes under its own name."""
        return name.endswith("lm_head.weight") and self.model_runner.model_config.hf_text_config.tie_word_embeddings

    def eapo_weight_sums(self) -> list[float]:
        """The sum of each parameter that a prompt of text meets, and the sum of its absolute values."""
        sums = []
        for name, weight in self.model_runner.get_model().named_parameters():
            if not any(part in name for part in _SEEING):
                values = weight.detach()
                sums += [float(values.sum(dtype=torch.float64)), float(values.abs().sum(dtype=torch.float64))]
        return sums

    def eapo_stale_layers(self) -> list[str]:
        """Linear layers that compute with other weights than those that they show, as packed copies do."""
        stale = []
        for name, layer in self.model_runner.get_model().named_modules():
            weight: Any = getattr(layer, "weight", None)
            method: Any = getattr(layer, "quant_method", None)
            if type(method).__name__ not in _PLAIN or not isinstance(weight, torch.Tensor):
                continue
            if weight.ndim != 2:
                stale.append(name)
                continue
            probe = torch.linspace(-1, 1, weight.shape[1], dtype=weight.dtype, device=weight.device)[None]
            difference = method.apply(layer, probe, None) - torch.nn.functional.linear(probe, weight)
            # What rounding can do, however the terms are added up.
            allowed = weight.shape[1] ** 0.5 * torch.finfo(weight.dtype).eps
            if not bool((difference.abs() <= allowed * weight.abs().sum(dim=1)).all()):
                stale.append(name)
        return stale
