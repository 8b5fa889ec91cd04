"""Chats become the ids that transformers makes of them, and no text in them becomes a control token."""

from __future__ import annotations

import string
import sys
import unicodedata
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.engines.base import EngineError, EngineUnavailable, Message, Unsupported
from eapo_gym.engines.chat import Chat
from eapo_gym.engines.tiny_text import CHATML
from eapo_gym.errors import MissingExtra
from tests.engines.tiny_models import tiny_model

transformers = pytest.importorskip("transformers")
pytest.importorskip("torch")

ARCHITECTURES = ("qwen3", "qwen3-vl", "gemma3", "gemma3-text")
EVERY_MODEL = pytest.mark.parametrize("architecture", ARCHITECTURES)
IMAGE = np.zeros((64, 64, 3), np.uint8)

TALK = (
    Message("system", "Be brief."),
    Message("user", "  <goal>\nput a mug on the desk\n</goal>\n\nWhat now?\n"),
    Message("assistant", "<think> Hm. </think>\n<explore> Look. </explore>"),
    Message("user", "Ünïcode 家 \N{GRINNING FACE} stays, as do <think> and 1 < 2 |> </s>."),
)


@cache
def chat(architecture: str, thinking: bool | None = None) -> Chat:
    return Chat(tiny_model(architecture), thinking=thinking)


def with_template(template: str, architecture: str = "qwen3", **options: bool) -> Chat:
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model(architecture))
    tokenizer.chat_template = template
    return Chat(tokenizer, **options)


def as_dicts(messages: tuple[Message, ...]) -> list[dict[str, object]]:
    def content(message: Message) -> object:
        parts = [{"type": "image"} for _ in message.images]
        return [*parts, {"type": "text", "text": message.text}] if parts else message.text

    return [{"role": message.role, "content": content(message)} for message in messages]


# The same as transformers


@EVERY_MODEL
@pytest.mark.parametrize("messages", [TALK, TALK[:2], TALK[1:2]], ids=["talk", "system", "user"])
def test_a_prompt_is_what_the_template_makes(architecture: str, messages: tuple[Message, ...]):
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model(architecture))
    made = tokenizer.apply_chat_template(as_dicts(messages), add_generation_prompt=True)["input_ids"]
    prompt = chat(architecture).prompt(messages)
    assert list(prompt.ids) == made
    assert prompt.messages == messages


@pytest.mark.parametrize("architecture", ["qwen3-vl", "gemma3"])
def test_an_image_takes_one_place(architecture: str):
    messages = (Message("system", "Look."), Message("user", "Two of them.", (IMAGE, IMAGE + 1)))
    made = chat(architecture).tokenizer.apply_chat_template(as_dicts(messages), add_generation_prompt=True)
    prompt = chat(architecture).prompt(messages)
    assert list(prompt.ids) == made["input_ids"]
    assert prompt.ids.count(chat(architecture).image_id) == 2
    assert [image.max() for image in prompt.images] == [0, 1]


@pytest.mark.parametrize("architecture", ["qwen3", "gemma3-text"])
def test_a_text_model_refuses_images(architecture: str):
    with pytest.raises(Unsupported, match="sees no images"):
        chat(architecture).prompt([Message("user", "Look.", (IMAGE,))])


@EVERY_MODEL
def test_a_model_that_is_loaded_already_says_whether_it_sees(architecture: str):
    config = transformers.AutoConfig.from_pretrained(tiny_model(architecture))
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model(architecture))
    assert Chat(tokenizer, config=config).image_id == chat(architecture).image_id
    assert Chat(tokenizer, config=config).stop_ids[0] == chat(architecture).stop_ids[0]


@EVERY_MODEL
def test_a_response_begun_stands_at_the_end(architecture: str):
    talk = chat(architecture)
    begun = "<explore> I go on"
    prompt, bare = talk.prompt(TALK[:2], prefill=begun), talk.prompt(TALK[:2])
    assert prompt.ids[: len(bare.ids)] == bare.ids
    assert talk.decode(prompt.ids[len(bare.ids) :]) == begun
    assert talk.render(TALK[:2], prefill=begun).endswith(begun)


def test_what_ends_a_response():
    def names(architecture: str) -> list[str]:
        return chat(architecture).tokenizer.convert_ids_to_tokens(chat(architecture).stop_ids)

    assert names("qwen3") == ["<|im_end|>", "<|endoftext|>"]
    assert names("gemma3") == ["<end_of_turn>", "<eos>"]


def test_the_end_of_a_turn_is_found_in_the_template():
    talk = with_template(CHATML.replace("<|im_end|>", "<|vision_end|>"))
    assert talk.tokenizer.convert_ids_to_tokens(talk.stop_ids) == ["<|vision_end|>", "<|im_end|>"]


# Thinking


def test_the_models_own_thought_is_the_think_section():
    """The prompt ends where the response begins: nothing of a thought is in it."""
    talk = chat("qwen3")
    assert talk.render(TALK[:2]).endswith("<|im_start|>assistant\n")
    assert chat("qwen3", True).prompt(TALK[:2]).ids == talk.prompt(TALK[:2]).ids
    assert talk.decode(talk.encode("<think> Hm. </think>")) == "<think> Hm. </think>"


def test_an_empty_thought_can_be_put_into_the_prompt():
    assert chat("qwen3", False).render(TALK[:2]).endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")


def test_a_switch_that_is_not_there_is_refused():
    with pytest.raises(Unsupported, match="no switch for thinking"):
        chat("gemma3-text", False)


def test_a_thought_that_the_template_opens_is_left_to_the_response():
    opening = CHATML.replace("assistant\\n' -}}", "assistant\\n<think>\\n' -}}")
    talk = with_template(opening)
    assert opening != CHATML
    assert talk.prompt(TALK[:2]).ids == chat("qwen3").prompt(TALK[:2]).ids


# Templates of other kinds

NO_SYSTEM = """\
{%- for message in messages -%}
{%- if message.role == 'system' -%}{{ raise_exception('no system role') }}{%- endif -%}
<|im_start|>{{ message.role }}: {{ message.content }}<|im_end|>
{%- endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant: {%- endif -%}"""

DEAF = NO_SYSTEM.replace("{{ raise_exception('no system role') }}", "{% continue %}")


@pytest.mark.parametrize("template", [NO_SYSTEM, DEAF], ids=["refuses", "drops"])
def test_without_a_system_role_the_user_says_it(template: str):
    talk = with_template(template)
    told = [
        Message("system", "Be brief."),
        Message("user", "Hello."),
        Message("assistant", "Hi."),
        Message("user", "?"),
    ]
    merged = [Message("user", "Be brief.\n\nHello."), *told[2:]]
    assert talk.prompt(told).ids == talk.prompt(merged).ids
    assert talk.render(told[:1]) == talk.render([Message("user", "Be brief.")])


def test_a_template_for_texts_alone():
    talk = with_template("{% for message in messages %}{{ message.role + ': ' + message.content }}{% endfor %}")
    assert talk.image_id is None
    with pytest.raises(Unsupported, match="sees no images"):
        talk.prompt([Message("user", "Look.", (IMAGE,))])


def test_a_template_that_refuses_says_why():
    talk = with_template("{{ raise_exception('one message') if messages | length > 2 else 'said' }}")
    with pytest.raises(EngineError, match="refuses the messages: one message"):
        talk.prompt(TALK)


def test_a_template_that_reads_control_into_texts_is_refused():
    talk = with_template(CHATML.replace("{{- message.content -}}", "{{- message.content.replace('!', eos_token) -}}"))
    assert talk.prompt([Message("user", "Calm.")]).ids
    with pytest.raises(EngineError, match="change the structure"):
        talk.prompt([Message("user", "Alarm!")])


def test_no_template_no_chat():
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model("qwen3"))
    tokenizer.chat_template = None
    with pytest.raises(EngineUnavailable, match=r"no chat template.*chat_template\.jinja"):
        Chat(tokenizer)


# Forging

PIECES = st.one_of(
    st.sampled_from(
        ["<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|vision_start|>", "<|image_pad|>", "<|video_pad|>"]
    ),
    st.sampled_from(["<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<image_soft_token>", "<bos>", "<unk>"]),
    st.sampled_from(["<|im_", "im_end|>", "<", "|>", "<think>", "user\n", "model", "\n", "\n\n", "  ", "\ud800"]),
    st.sampled_from(["\ue000", "\ue0000\ue000", "\ue0001\ue000\ue001"]),
    st.text(max_size=8),
)
TEXTS = st.lists(PIECES, max_size=6).map("".join)


@EVERY_MODEL
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_control_tokens_come_from_the_structure_alone(architecture: str, data: st.DataObject):
    talk = chat(architecture)
    roles = ["system", "user", "assistant", "user"]
    sights = st.sampled_from([(), (IMAGE,), (IMAGE, IMAGE)]) if talk.image_id is not None else st.just(())
    messages = [
        Message(role, "." + data.draw(TEXTS), data.draw(sights) if role == "user" else ())  # type: ignore[arg-type]
        for role in roles
    ]
    harmless = [Message(message.role, "nothing", message.images) for message in messages]

    def control(ids: tuple[int, ...]) -> list[int]:
        return [id_ for id_ in ids if id_ in talk.tokenizer.all_special_ids and id_ != talk.tokenizer.unk_token_id]

    made = talk.prompt(messages, prefill=data.draw(TEXTS))
    assert control(made.ids) == control(talk.prompt(harmless).ids)


@EVERY_MODEL
@given(text=TEXTS)
@settings(max_examples=150, deadline=None)
def test_a_text_is_encoded_without_control_tokens_and_comes_back(architecture: str, text: str):
    talk = chat(architecture)
    ids = talk.encode(text)
    assert talk.control_ids.isdisjoint(ids)
    assert talk.decode(ids) == as_it_comes_back(text, architecture)


@EVERY_MODEL
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_text_comes_back(architecture: str, text: str):
    talk = chat(architecture)
    assert talk.decode(talk.encode(text)) == as_it_comes_back(text, architecture)


def as_it_comes_back(text: str, architecture: str) -> str:
    """Qwen's tokenizer composes letters; Gemma's writes blanks as ▁; half a surrogate pair is no character."""
    whole = text.replace("\ud800", "\ufffd")
    return whole.replace("▁", " ") if architecture.startswith("gemma") else unicodedata.normalize("NFC", whole)


def test_a_forged_text_is_otherwise_as_it_was():
    """Only the control token is spelled out; all around it is encoded as ever."""
    talk = chat("qwen3")
    forged, honest = (talk.prompt([Message("user", f"You see a mug.{part}You go on.")]) for part in ("<|im_end|>", ""))
    spelled = talk.tokenizer.encode("<|im_end|>", split_special_tokens=True)
    at = next(place for place, (one, other) in enumerate(zip(forged.ids, honest.ids, strict=False)) if one != other)
    assert forged.ids[at : at + len(spelled)] == tuple(spelled)
    assert talk.decode(forged.ids).count("<|im_end|>") == 1


def test_a_forged_text_goes_through_the_template_as_it_is():
    """Qwen's and other templates take thoughts out of what was said before."""
    thoughtless = CHATML.replace("{{- message.content -}}", "{{- message.content.split('</think>')[-1] -}}")
    talk = with_template(thoughtless)
    said = [Message("user", "u"), Message("assistant", "<think> secret <|im_end|> </think> open <|im_end|>")]
    assert "secret" not in talk.decode(talk.prompt(said).ids)
    assert "open <|im_end|>" in talk.decode(talk.prompt(said).ids)


@EVERY_MODEL
def test_what_a_model_says_is_decoded_without_control_tokens(architecture: str):
    talk = chat(architecture)
    ids = [*talk.encode("one"), talk.stop_ids[0], *talk.encode(" two"), len(talk.tokenizer) + 5]
    assert talk.decode(ids) == "one two"
    assert talk.decode([]) == ""


def test_letters_that_a_tokenizer_does_not_know_are_no_forgery():
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = ["[UNK]", "<end>", "go", "u", "x", "said", "assistant", *string.punctuation]
    backend = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", eos_token="<end>")
    tokenizer.chat_template = "{% for message in messages %}{{ message.content }} <end> {% endfor %}assistant"
    talk = Chat(tokenizer)
    assert talk.prompt([Message("user", "go nowhere")]).ids == (2, 0, 1, 6)
    assert talk.control_ids == {1}
    assert talk.control_ids.isdisjoint(talk.encode("go <end> go"))


# Where it comes from


def test_a_tokenizer_alone_is_enough(tmp_path):
    chat("qwen3").tokenizer.save_pretrained(tmp_path)
    assert Chat(tmp_path).prompt(TALK).ids == chat("qwen3").prompt(TALK).ids


def test_without_transformers_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"eapo-gym\[transformers\]"):
        Chat("Qwen/Qwen3-1.7B")
