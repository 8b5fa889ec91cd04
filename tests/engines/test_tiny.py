"""Tiny models are those of the real architectures, of the promised size, and the same every time."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eapo_gym.engines import tiny
from eapo_gym.engines.tiny import NOTE, TinyModelError, make_tiny
from eapo_gym.errors import MissingExtra, UnknownName
from tests.engines.tiny_models import tiny_model

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")

CLASSES = {
    "qwen3": "Qwen3ForCausalLM",
    "qwen3-vl": "Qwen3VLForConditionalGeneration",
    "gemma3": "Gemma3ForConditionalGeneration",
    "gemma3-text": "Gemma3ForCausalLM",
}
EVERY_MODEL = pytest.mark.parametrize("architecture", CLASSES)
TEXTS = ["You see a mug 1 on the desk 1. You are not carrying anything.", "go to desk 1", "take mug 1 from desk 1"] * 3


def load(folder: Path, architecture: str) -> torch.nn.Module:
    sees = architecture in ("qwen3-vl", "gemma3")
    auto = transformers.AutoModelForImageTextToText if sees else transformers.AutoModelForCausalLM
    model, report = auto.from_pretrained(folder, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    return model.eval()


def digests(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


@EVERY_MODEL
@pytest.mark.parametrize(("size", "promised"), [("0.2m", 200_000), ("700k", 700_000), ("3m", 3_000_000)])
def test_size(architecture: str, size: str, promised: int):
    model = load(tiny_model(architecture, size), architecture)
    assert type(model).__name__ == CLASSES[architecture]
    assert sum(parameter.numel() for parameter in model.parameters()) == pytest.approx(promised, rel=0.05)


@EVERY_MODEL
def test_it_can_be_learnt_from(architecture: str):
    """It starts out almost as unsure as can be, knows its context, and every weight that words go through learns."""
    model = load(tiny_model(architecture), architecture)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model(architecture))
    ids = torch.tensor([tokenizer.encode("You arrive at desk 1. On the desk 1, you see a mug 1.")])
    out = model(input_ids=ids, labels=ids)
    unsure = torch.log(torch.tensor(float(len(tokenizer))))
    assert abs(out.loss.item() - unsure.item()) < 1
    out.loss.backward()
    sight = ("vision", "visual", "multi_modal")
    idle = [
        name
        for name, parameter in model.named_parameters()
        if not any(word in name for word in sight) and (parameter.grad is None or not parameter.grad.any())
    ]
    assert idle == []
    other = model(input_ids=ids.flip(1))
    assert (other.logits[0, -1] - out.logits[0, -1]).abs().max() > 1e-3


@EVERY_MODEL
def test_it_generates_until_it_ends(architecture: str):
    model = load(tiny_model(architecture), architecture)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model(architecture))
    ends = tokenizer.convert_tokens_to_ids(
        ["<|im_end|>", "<|endoftext|>"] if architecture.startswith("qwen") else ["<end_of_turn>", "<eos>"]
    )
    assert model.generation_config.eos_token_id == ends
    torch.manual_seed(0)
    ids = torch.tensor([tokenizer.encode("go to desk 1")] * 4)
    said = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=8, temperature=1.0)
    assert said.shape[1] == ids.shape[1] + 8
    assert len({tuple(row) for row in said.tolist()}) > 1


@pytest.fixture(scope="module")
def made_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where another process has made one of each; Python hashes differently there."""
    where = tmp_path_factory.mktemp("elsewhere")
    code = (
        "from eapo_gym.engines.tiny import make_tiny\n"
        f"for architecture in {list(CLASSES)}: make_tiny(architecture, architecture, texts={TEXTS!r}, seed=3)"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", code], cwd=where, check=True, env=env, timeout=200)
    return where


@EVERY_MODEL
def test_the_same_arguments_give_the_same_bytes(architecture: str, made_elsewhere: Path, tmp_path: Path):
    here = make_tiny(tmp_path / "here", architecture, texts=TEXTS, seed=3)  # type: ignore[arg-type]
    assert digests(here) == digests(made_elsewhere / architecture)

    other = make_tiny(tmp_path / "other", architecture, texts=TEXTS, seed=4)  # type: ignore[arg-type]
    differ = {name for name, digest in digests(other).items() if digests(here)[name] != digest}
    assert differ == {"model.safetensors", NOTE}


def test_nobody_elses_randomness_is_touched(tmp_path: Path):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    make_tiny(tmp_path / "model", texts=TEXTS)
    assert torch.equal(torch.rand(3), expected)


def test_what_is_there_stays(tmp_path: Path):
    folder = make_tiny(tmp_path / "model", texts=TEXTS)
    before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    assert make_tiny(folder, texts=TEXTS) == folder
    for wrong in ({"seed": 1}, {"size": "0.3m"}, {"architecture": "gemma3"}, {"context": 64}):
        with pytest.raises(TinyModelError, match="tiny model of another kind"):
            make_tiny(folder, texts=TEXTS, **wrong)  # type: ignore[arg-type]
    assert {file.name: file.stat().st_mtime_ns for file in folder.iterdir()} == before

    somebodys = tmp_path / "somebodys"
    somebodys.mkdir()
    (somebodys / "thesis.txt").write_text("…")
    with pytest.raises(TinyModelError, match="holds something else"):
        make_tiny(somebodys, texts=TEXTS)
    with pytest.raises(TinyModelError, match="holds something else"):
        make_tiny(somebodys / "thesis.txt", texts=TEXTS)
    assert [file.name for file in somebodys.iterdir()] == ["thesis.txt"]


def test_a_folder_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*args: object, **kwargs: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(transformers.Qwen2Tokenizer, "save_pretrained", fail)
    with pytest.raises(OSError, match="disk full"):
        make_tiny(tmp_path / "model", texts=TEXTS)
    assert list(tmp_path.iterdir()) == []


def test_two_may_make_the_same_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write, folder = tiny._write, tmp_path / "model"

    def overtaken(*args: object) -> None:
        monkeypatch.setattr(tiny, "_write", write)
        make_tiny(folder, texts=TEXTS)
        write(*args)

    monkeypatch.setattr(tiny, "_write", overtaken)
    assert make_tiny(folder, texts=TEXTS) == folder
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_an_empty_folder_is_filled(tmp_path: Path):
    assert (make_tiny(tmp_path, texts=TEXTS) / NOTE).is_file()


def test_the_context_is_told_to_all(tmp_path: Path):
    folder = make_tiny(tmp_path / "model", "gemma3", texts=TEXTS, context=128)
    assert json.loads((folder / "config.json").read_text())["text_config"]["max_position_embeddings"] == 128
    assert transformers.AutoTokenizer.from_pretrained(folder).model_max_length == 128


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"size": "big"}, "expected a number of parameters"),
        ({"size": "2k"}, "too small"),
        ({"size": "90000m"}, "not tiny"),
        ({"vocab": 100}, "vocab: expected at least"),
    ],
)
def test_what_cannot_be_made(wrong: dict[str, object], said: str, tmp_path: Path):
    with pytest.raises(TinyModelError, match=said):
        make_tiny(tmp_path / "model", texts=TEXTS, **wrong)  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="Did you mean 'qwen3'"):
        make_tiny(tmp_path / "model", "qwen", texts=TEXTS)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_without_torch_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"eapo-gym\[transformers\]"):
        make_tiny(tmp_path / "model")
