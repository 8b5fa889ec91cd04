"""Models that cannot be had are said to be so in one sentence, soon, and with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from eapo_gym.engines import hub
from eapo_gym.engines.base import EngineUnavailable
from tests.engines.tiny_models import tiny_model

transformers = pytest.importorskip("transformers")
pytest.importorskip("torch")

LOADERS = {
    "tokenizer": transformers.AutoTokenizer.from_pretrained,
    "configuration": transformers.AutoConfig.from_pretrained,
    "model": transformers.AutoModelForCausalLM.from_pretrained,
}
EVERY_LOADER = pytest.mark.parametrize("what", LOADERS)


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real client, against a port where nobody listens; by itself it would try for most of a minute."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(hub, "_hub_answers", hub._hub_answers.__wrapped__)


@EVERY_LOADER
@pytest.mark.usefixtures("no_hub")
def test_a_hub_that_cannot_be_asked(what: str):
    with pytest.raises(EngineUnavailable, match=rf"No {what} of 'Nobody/Nothing-1B'.*hf download Nobody/Nothing-1B"):
        hub.load(LOADERS[what], "Nobody/Nothing-1B", what)


@pytest.mark.usefixtures("no_hub")
def test_the_cache_serves_what_was_fetched_before(tmp_path: Path):
    """Laid out as the hub's client leaves it."""
    kept = tmp_path / "models--Somebody--Something"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs/main").write_text("abc")
    (kept / "snapshots").mkdir()
    (kept / "snapshots/abc").symlink_to(tiny_model("qwen3"))
    config = hub.load(LOADERS["configuration"], "Somebody/Something", "configuration", cache_dir=tmp_path)
    assert config.architectures == ["Qwen3ForCausalLM"]


@EVERY_LOADER
def test_folders(what: str, tmp_path: Path):
    for absent in (tmp_path / "absent", "./absent", "models/of/mine"):
        with pytest.raises(EngineUnavailable, match="There is no folder"):
            hub.load(LOADERS[what], absent, what)
    with pytest.raises(EngineUnavailable, match=f"has no {what} that can be loaded"):
        hub.load(LOADERS[what], tmp_path, what)
    assert hub.load(LOADERS[what], tiny_model("qwen3"), what) is not None


def test_code_that_comes_with_a_model_is_not_run(tmp_path: Path):
    (tmp_path / "config.json").write_text('{"model_type": "odd", "auto_map": {"AutoConfig": "odd.OddConfig"}}')
    (tmp_path / "odd.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(EngineUnavailable, match="configuration"):
        hub.load(LOADERS["configuration"], tmp_path, "configuration")
    assert not (tmp_path / "ran").exists()


def test_parameters_are_counted_without_making_them():
    config = transformers.Qwen3Config(architectures=["Qwen3ForCausalLM"], tie_word_embeddings=True)
    made = hub.load(LOADERS["model"], tiny_model("qwen3"), "model")
    assert hub.count_parameters(made.config) == sum(parameter.numel() for parameter in made.parameters())
    assert hub.count_parameters(config) > 10**9
