from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install 'eapo-gym[train]'")
transformers = pytest.importorskip("transformers", reason="needs transformers: pip install 'eapo-gym[train]'")
pytest.importorskip("peft", reason="needs peft: pip install 'eapo-gym[train]'")
pytest.importorskip("huggingface_hub", reason="needs huggingface_hub: pip install 'eapo-gym[train]'")

from eapo_gym.loggers import open_loggers  # noqa: E402
from eapo_gym.trainers.checkpoint import Checkpoints  # noqa: E402
from eapo_gym.trainers.config import TrainConfig  # noqa: E402
from eapo_gym.trainers.failures import DiskFull  # noqa: E402
from eapo_gym.trainers.logprobs import Row  # noqa: E402
from eapo_gym.trainers.policy import Policy  # noqa: E402
from eapo_gym.trainers.publish import CARD, TRAINING, PublishError, card, export, push  # noqa: E402
from eapo_gym.trainers.records import open_run  # noqa: E402
from tests.engines.tiny_models import tiny_model  # noqa: E402
from tests.trainers.hub import TOKEN, Hub, serve  # noqa: E402

PROMPT, TARGET = (5, 6, 7, 8), (9, 10, 11)


def config(**values: Any) -> TrainConfig:
    base = {"model": str(tiny_model()), "lora_rank": 4, "learning_rate": 0.01, "env_kwargs": {"data": "/home/me/games"}}
    return TrainConfig.make(**{**base, **values})


def learn(policy: Policy) -> None:
    for each in policy.passes([Row(PROMPT, (TARGET,))], "policy"):
        policy.backward(-each.logprobs.mean())
    policy.update("policy")


def score(policy: Policy) -> np.ndarray:
    [[found]] = policy.score([Row(PROMPT, (TARGET,))], "policy")
    return found


def plain_score(folder: Path) -> np.ndarray:
    """What transformers alone makes of the folder."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.no_grad():
        logprobs = model(torch.tensor([[*PROMPT, *TARGET]])).logits.float().log_softmax(-1)[0]
    places = range(len(PROMPT) - 1, len(PROMPT) + len(TARGET) - 1)
    return np.array([float(logprobs[place, token]) for place, token in zip(places, TARGET, strict=True)])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[np.ndarray]]:
    """A run with two checkpoints, and what the policy of each of them said."""
    folder = tmp_path_factory.mktemp("run") / "eapo"
    settings = config()
    said = []
    with ExitStack() as held:
        open_run(settings, folder, {"id": settings.env}, writes=True, held=held)
    policy = Policy.load(settings, roles=("policy", "q"))
    checkpoints = Checkpoints(folder / "checkpoints", 2)
    with open_loggers("", folder) as loggers:
        for step, success in ((10, 0.625), (20, 0.25)):
            learn(policy)
            said.append(score(policy))
            loggers.log({"env_steps": 100.0 * step, "eval/success": success, "eval/steps": float("nan")}, step)
            checkpoints.save(step, {"policy": policy.state()}, score=success)
    return folder, said


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# Exporting


@pytest.mark.parametrize("which", [0, 1])
def test_the_policy_of_a_checkpoint_is_a_folder_for_transformers(
    run: tuple[Path, list[np.ndarray]], tmp_path: Path, which: int
) -> None:
    folder, said = run
    checkpoints = Checkpoints(folder / "checkpoints", 2)
    chosen = checkpoints.latest() if which else checkpoints.best()
    assert chosen is not None
    out = export(chosen, tmp_path / "models" / "mine")
    assert np.allclose(plain_score(out), said[which], atol=1e-4)
    assert not np.allclose(said[0], said[1], atol=1e-3)
    assert transformers.AutoTokenizer.from_pretrained(out).encode("look")
    assert {"config.json", "model.safetensors", CARD, TRAINING} <= set(files(out))
    text = (out / CARD).read_text()
    assert ("62.5" in text or "0.625" in text) is (which == 0)
    assert f"step {(10, 20)[which]}" in text
    assert [path.name for path in out.parent.iterdir()] == ["mine"]


def test_a_policy_can_be_exported_without_a_run(tmp_path: Path) -> None:
    policy = Policy.load(config(), roles=("policy",))
    learn(policy)
    out = export(policy, tmp_path / "mine")
    assert np.allclose(plain_score(out), score(policy), atol=1e-4)
    assert "not evaluated" in (out / CARD).read_text()


def test_a_card_tells_of_the_run_and_nothing_of_this_machine(
    run: tuple[Path, list[np.ndarray]], tmp_path: Path
) -> None:
    folder, _ = run
    latest = Checkpoints(folder / "checkpoints", 2).latest()
    assert latest is not None
    out = export(latest, tmp_path / "mine")
    text = (out / CARD).read_text()
    yaml = pytest.importorskip("yaml", reason="needs PyYAML: pip install pyyaml")
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["library_name"] == "transformers"
    assert "license" not in front
    assert '"algorithm": "eapo"' in text
    assert f"torch {torch.__version__}" in text
    assert "No licence is stated" in text
    for written in (text, (out / TRAINING).read_text()):
        assert "/home/me" not in written
        assert str(tiny_model().parent) not in written
        assert '"data": "games"' in written
    facts = json.loads((out / TRAINING).read_text())
    assert facts["step"] == 20
    assert facts["metrics"]["eval/success"] == 0.25


def test_a_card_cannot_be_broken_out_of() -> None:
    nasty = "```\n# Buy\n<script>\n---\nlicense: mit"
    text = card(
        nasty,
        {"config": {"env": nasty, "algorithm": nasty, "agent": nasty, "model": nasty}, "versions": {nasty: nasty}},
    )
    assert text.count("\n---\n") == 1
    before, _, after = text.partition("````json\n")
    assert "<script>" not in before
    assert "\n# Buy" not in text
    assert after.count("````\n") == 1


def test_a_card_names_a_base_of_the_hub() -> None:
    assert 'base_model: "Qwen/Qwen3-1.7B"' in card("mine", {"config": {"model": "Qwen/Qwen3-1.7B"}, "versions": {}})
    assert "base_model" not in card("mine", {"config": {"model": "model"}, "versions": {}})


class Writes:
    """A policy as far as exporting goes."""

    def __init__(self, text: str = "{}") -> None:
        self.text = text

    def export(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "config.json").write_text(self.text)
        (folder / "model.safetensors").write_bytes(b"weights" * 100)


class NoRoom(Writes):
    def export(self, folder: Path) -> None:
        super().export(folder)
        raise OSError(28, "No space left on device")


class Fails(Writes):
    def export(self, folder: Path) -> None:
        super().export(folder)
        raise RuntimeError("no such weights")


def test_an_earlier_export_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    out = export(Writes("1"), tmp_path / "mine")
    assert export(Writes("2"), tmp_path / "mine") == out
    assert (out / "config.json").read_text() == "2"
    other = tmp_path / "other"
    other.mkdir()
    export(Writes(), other)  # an empty folder may be meant
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "chapter.tex").write_text("years")
    with pytest.raises(PublishError, match="is not empty and no earlier export"):
        export(Writes(), thesis)
    assert list(files(thesis)) == ["chapter.tex"]


@pytest.mark.parametrize(("kind", "raised"), [(NoRoom, DiskFull), (Fails, RuntimeError)])
def test_an_export_that_fails_leaves_the_earlier_one(
    tmp_path: Path, kind: type[Writes], raised: type[Exception]
) -> None:
    out = export(Writes("1"), tmp_path / "mine")
    with pytest.raises(raised):
        export(kind("2"), out)
    assert (out / "config.json").read_text() == "1"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


# Pushing


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    out = export(Writes(), tmp_path / "mine")
    (out / ".cache").mkdir()
    (out / ".cache" / "secret").write_text("not for others")
    return out


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    from huggingface_hub import constants

    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # its storage has a protocol of its own
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serve(Hub(public=("me/open",))) as served:
        yield served


def test_a_push_brings_all_files_to_a_private_repository(exported: Path, hub: Hub) -> None:
    address = push(exported, "me/mine", endpoint=hub.endpoint)
    assert address.startswith(f"{hub.endpoint}/me/mine/commit/")
    assert hub.private["me/mine"] is True
    assert hub.repos["me/mine"] == {path.name: path.read_bytes() for path in exported.iterdir() if path.is_file()}
    push(exported, "me/mine", endpoint=hub.endpoint)  # once more, to one that is there


def test_a_push_for_everybody_must_be_meant(exported: Path, hub: Hub) -> None:
    with pytest.raises(PublishError, match="Everybody can read me/open"):
        push(exported, "me/open", endpoint=hub.endpoint)
    assert hub.repos["me/open"] == {}
    push(exported, "me/open", private=False, endpoint=hub.endpoint)
    assert "model.safetensors" in hub.repos["me/open"]


def test_without_a_token(exported: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(PublishError, match=r"Log in \(hf auth login\), or set HF_TOKEN"):
        push(exported, "me/mine", endpoint=hub.endpoint)


def test_with_a_token_that_may_not(exported: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_reads")
    with pytest.raises(PublishError, match="the token may not write there"):
        push(exported, "me/mine", endpoint=hub.endpoint)


def test_a_hub_with_a_bad_day(exported: Path, hub: Hub) -> None:
    hub.broken = True
    with pytest.raises(PublishError, match=r"the hub answered 500: .*bad day"):
        push(exported, "me/mine", endpoint=hub.endpoint)


def test_without_a_network(exported: Path, hub: Hub) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(PublishError, match=f"{endpoint} did not answer"):
            push(exported, "me/mine", endpoint=endpoint)


@pytest.mark.parametrize("name", ["mine", "", "me/", "/mine", "me/mine/more", "me/mi ne", "https://hub/me/mine"])
def test_a_name_that_is_none(exported: Path, name: str) -> None:
    with pytest.raises(PublishError, match="as owner/name"):
        push(exported, name)


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="is no exported model"):
        push(tmp_path, "me/mine")
