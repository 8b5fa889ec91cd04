"""Weights and optimisers as plain tensors on the CPU, and back; also where they are spread over processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch.distributed.tensor import DTensor, distribute_tensor

from eapo_gym.errors import EapoError


class BadState(EapoError, ValueError):
    """A saved state that belongs to another model or other settings."""


def whole(tensor: Any) -> Any:
    """A copy of all of it on the CPU."""
    tensor = tensor.detach()
    if isinstance(tensor, DTensor):
        tensor = tensor.full_tensor()
    return tensor.to("cpu", copy=True)


def placed_like(value: Any, parameter: Any) -> Any:
    """A copy of a whole tensor, where and as the parameter is."""
    if isinstance(parameter, DTensor):
        return distribute_tensor(value.to(parameter.device), parameter.device_mesh, parameter.placements)
    return value.to(parameter.device, copy=True)


def of_optimizer(optimizer: Any) -> dict[str, Any]:
    """What it has gathered of each parameter, by the parameter's number, and its settings."""
    state = optimizer.state_dict()
    gathered = {i: {name: whole(value) for name, value in of_one.items()} for i, of_one in state["state"].items()}
    return {"state": gathered, "param_groups": deepcopy(state["param_groups"])}


def for_optimizer(state: Mapping[str, Any], parameters: Sequence[Any]) -> dict[str, Any]:
    """What `of_optimizer` returned, for `load_state_dict`: what is as large as a parameter goes where that is."""
    placed = {
        i: {
            name: placed_like(value, parameters[i]) if value.shape == parameters[i].shape else value.clone()
            for name, value in of_one.items()
        }
        for i, of_one in state["state"].items()
    }
    return {"state": placed, "param_groups": deepcopy(state["param_groups"])}


def check_weights(role: str, given: Mapping[str, Any], own: Mapping[str, torch.Tensor]) -> None:
    """Refuse weights that have other names or shapes than these."""
    differing = sorted(set(given) ^ set(own)) or [name for name in own if given[name].shape != own[name].shape]
    if differing:
        raise BadState(
            f"The state of {role!r} belongs to another model or to other adapters: {len(differing)} weights differ "
            f"({', '.join(differing[:3])}); expected the model, tuning, lora_rank and lora_targets of its run."
        )
