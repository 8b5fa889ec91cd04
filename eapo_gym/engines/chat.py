"""From messages to token ids: a model's own chat template and tokenizer, and texts that cannot forge anything.

    chat = Chat("Qwen/Qwen3-1.7B")
    prompt = chat.prompt([Message("system", "…"), Message("user", "…")])

**Untrusted text.** A page or a game may show `<|im_end|>`. Encoded as it stands, it would end the message, and what
follows would speak in another role. Here it becomes the ordinary tokens of its letters: control tokens come from the
template alone, and every prompt is checked for that.

**Thinking.** Models that think write `<think> … </think>` before their answer, which is what the tag protocol calls its
think section. So by default the template is left as its authors set it, and the model's own thought is that section.
`thinking=False` puts an empty thought into the prompt, where the template knows how to (Qwen3's does): the response
then begins after it. Templates that open the thought themselves, in the prompt, have the opening taken off, since the
section would otherwise lack its beginning: a response holds all that the model says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from eapo_gym.engines.base import EngineError, EngineUnavailable, Message, Prompt, Unsupported
from eapo_gym.engines.hub import load
from eapo_gym.errors import MissingExtra

_OPENED_THOUGHT = re.compile(r"<think>\s*\Z")
_TAGS = ("<think>", "</think>")
"""Tokens of their own in some tokenizers. They are part of responses, and control nothing."""

_PROBE = "qzx"
"""A text that no template has words of its own for."""

_KNOWN_STRUCTURES = 1024


class Chat:
    """The chat template and the tokenizer of a model: a folder, a hub's id, or a tokenizer of transformers.

    `config` is the model's configuration, for a tokenizer whose model is loaded already: it says whether the model
    sees images. Use does not change a chat, so threads may share it.
    """

    tokenizer: Any
    stop_ids: tuple[int, ...]
    """The tokens that end a response."""

    control_ids: frozenset[int]
    """The tokens that no text can hold: those that begin and end messages, stand for images, and the like."""

    image_id: int | None = None
    """Stands for an image in the ids of a prompt; None for models that see none."""

    merges_system: bool
    """The template has no system role: what the system says is put before what the user says."""

    def __init__(self, model: str | Path | Any, *, thinking: bool | None = None, config: Any = None) -> None:
        named = isinstance(model, (str, Path))
        self.name = os.fspath(model) if named else str(getattr(model, "name_or_path", "") or type(model).__name__)
        self.tokenizer = _open_tokenizer(model) if named else model
        if not getattr(self.tokenizer, "chat_template", None):
            raise EngineUnavailable(
                f"The tokenizer of {self.name} has no chat template, so it is not a chat model: choose its "
                "instruction-tuned sister, or put a chat_template.jinja into its folder."
            )
        special = {id_: str(token) for id_, token in self.tokenizer.added_tokens_decoder.items() if token.special}
        special |= dict(zip(self.tokenizer.all_special_ids, self.tokenizer.all_special_tokens, strict=True))
        self._special = {token: id_ for id_, token in special.items() if token not in _TAGS}
        self._forged = re.compile("|".join(map(re.escape, sorted(self._special, key=len, reverse=True))) or r"(?!)")
        self.control_ids = frozenset(self._special.values()) - self._unknown()
        self._spelled = {token: self._spell(token) for token in self._special}
        self._structures: dict[Any, tuple[int, ...]] = {}

        self._options = {} if thinking is None else {"enable_thinking": thinking}
        self._opened = ""
        self.merges_system = False
        self._learn_template(thinking)
        config = _optional("AutoConfig", model) if named and config is None else config
        self.stop_ids = self._find_stops(config, _optional("GenerationConfig", model) if named else None)
        if config is None or hasattr(config, "vision_config"):
            self.image_id = self._find_image(getattr(config, "image_token_id", None))

    # What engines ask for

    def prompt(self, messages: Sequence[Message], *, prefill: str = "") -> Prompt:
        """The ids of the messages, and of the response's beginning."""
        images = tuple(image for message in messages for image in message.images)
        if images and self.image_id is None:
            raise Unsupported(f"{self.name} sees no images: expected messages of text alone, or an image-text model.")
        texts = [_encodable(message.text) for message in messages]
        ids = self._ids(messages, texts, _encodable(prefill))
        structure = self._structure(messages, texts)
        if tuple(filter(self.control_ids.__contains__, ids)) != structure:
            raise EngineError(
                f"The chat template of {self.name} lets the text of a message change the structure of the prompt: "
                "expected control tokens that depend on roles and images alone. Use another template."
            )
        return Prompt(tuple(ids), images, tuple(messages))

    def encode(self, text: str) -> list[int]:
        """The ids of a text that stands within a message; none of them is a control token."""
        text = _encodable(text)
        if self._forged.search(text) is None:
            return self._encode(text)
        ids: list[int] = []
        end = 0
        for match in self._forged.finditer(text):
            ids += self._encode(text[end : match.start()]) + self._spelled[match[0]]
            end = match.end()
        return ids + self._encode(text[end:])

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids, without control tokens."""
        text: str = self.tokenizer.decode(
            [id_ for id_ in ids if id_ not in self.control_ids],
            skip_special_tokens=False,
            clean_up_tokenization_spaces=False,
        )
        return text

    def render(self, messages: Sequence[Message], *, prefill: str = "") -> str:
        """The prompt as text, for people to read: control tokens and texts that look like them cannot be told apart."""
        return self._render(messages, [message.text for message in messages]) + prefill

    def has_thinking_switch(self) -> bool:
        """Whether the template knows `thinking`."""
        user = {"role": "user", "content": "u"}
        on, off = (self._apply([user], enable_thinking=thinking) for thinking in (True, False))
        return on != off

    # From messages to ids

    def _ids(self, messages: Sequence[Message], texts: list[str], prefill: str) -> list[int]:
        if not any(map(self._forged.search, (*texts, prefill))):
            return self._encode(self._render(messages, texts) + prefill)
        # Control tokens that stand in texts go through the template as marks, and are spelled out afterwards. So the
        # template sees each text as it is but for them: some of them look for things in it, and take them out.
        fence = _absent(*texts, prefill, str(self.tokenizer.chat_template))
        tokens = list(self._special)
        numbers = {token: f"{fence}{number}{fence}" for number, token in enumerate(tokens)}
        marked = [self._forged.sub(lambda match: numbers[match[0]], text) for text in (*texts, prefill)]
        rendered = self._render(messages, marked[:-1]) + marked[-1]
        pieces = re.split(f"{fence}(\\d+){fence}", rendered)
        ids = self._encode(pieces[0])
        for number, piece in zip(pieces[1::2], pieces[2::2], strict=True):
            ids += self._spelled[tokens[int(number)]] + self._encode(piece)
        return ids

    def _render(self, messages: Sequence[Message], texts: Sequence[str]) -> str:
        """The messages with other texts in their place, through the template."""
        turns = [(message.role, len(message.images), text) for message, text in zip(messages, texts, strict=True)]
        if self.merges_system:
            turns = _merge_system(turns)
        rendered = self._apply([{"role": role, "content": _content(images, text)} for role, images, text in turns])
        return rendered.removesuffix(self._opened)

    def _apply(self, conversation: list[dict[str, Any]], *, generate: bool = True, **options: Any) -> str:
        from jinja2 import TemplateError

        try:
            rendered: str = self.tokenizer.apply_chat_template(
                conversation, tokenize=False, add_generation_prompt=generate, **{**self._options, **options}
            )
        except (TemplateError, TypeError) as error:  # TypeError: it adds texts, and was given a list with an image
            raise EngineError(f"The chat template of {self.name} refuses the messages: {error}") from error
        return rendered

    def _structure(self, messages: Sequence[Message], texts: Sequence[str]) -> tuple[int, ...]:
        """The control tokens that roles and images call for, found with texts that hold nothing."""
        filled = [bool(text.strip()) for text in texts]
        shape = tuple((message.role, len(message.images), full) for message, full in zip(messages, filled, strict=True))
        if shape not in self._structures:
            if len(self._structures) >= _KNOWN_STRUCTURES:
                self._structures.clear()
            ids = self._encode(self._render(messages, ["x" if full else "" for full in filled]))
            self._structures[shape] = tuple(filter(self.control_ids.__contains__, ids))
        return self._structures[shape]

    def _encode(self, text: str) -> list[int]:
        # Not verbose: a prompt that is too long is for the engine to judge.
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False, verbose=False) if text else []
        return ids

    def _spell(self, token: str) -> list[int]:
        """A control token's name as ordinary text."""
        ids: list[int] = self.tokenizer.encode(token, add_special_tokens=False, split_special_tokens=True)
        if len(token) > 1 and not self.control_ids.isdisjoint(ids):  # it is a word of the vocabulary too
            return self._encode(token[:1]) + self._encode(token[1:])
        return ids

    # What the template and the tokenizer are like

    def _unknown(self) -> set[int]:
        """What stands for letters that a tokenizer does not know: texts may hold it."""
        tokenizer = self.tokenizer
        others = {tokenizer.eos_token_id, tokenizer.pad_token_id, tokenizer.bos_token_id}
        return {tokenizer.unk_token_id} - others - {None}

    def _learn_template(self, thinking: bool | None) -> None:
        user = {"role": "user", "content": "u"}
        if thinking is not None and not self.has_thinking_switch():
            raise Unsupported(
                f"The chat template of {self.name} has no switch for thinking: leave the option thinking out."
            )
        opened = _OPENED_THOUGHT.search(self._apply([user]))
        self._opened = opened[0] if opened else ""
        try:
            self.merges_system = _PROBE not in self._apply([{"role": "system", "content": _PROBE}, user])
        except EngineError:
            self.merges_system = True

    def _find_stops(self, *configs: Any) -> tuple[int, ...]:
        """What the template ends a response with, and what the model's files say."""
        text = [{"role": "user", "content": "u"}, {"role": "assistant", "content": _PROBE}]
        after = self._encode(self._apply(text, generate=False).rpartition(_PROBE)[2])
        stops = [id_ for id_ in after if id_ in self.control_ids][:1]
        for config in (*configs, self.tokenizer):
            ids = getattr(config, "eos_token_id", None)
            stops += [ids] if isinstance(ids, int) else ids or []
        return tuple(dict.fromkeys(stops))

    def _find_image(self, preferred: int | None) -> int | None:
        """What the template writes for an image: the model's own token for images, if there are others around it."""
        try:
            with_, without = (
                self._encode(self._apply([{"role": "user", "content": _content(images, "u")}])) for images in (1, 0)
            )
        except EngineError:  # the template takes texts alone
            return None
        written = [id_ for id_ in with_ if id_ in self.control_ids and id_ not in without]
        return preferred if preferred in written else written[0] if len(written) == 1 else None


def _auto(name: str) -> Any:
    try:
        import jinja2  # noqa: F401
        import transformers
    except ImportError as error:
        raise MissingExtra.of("A chat template", "transformers") from error
    return getattr(transformers, name)


def _open_tokenizer(model: str | Path) -> Any:
    return load(_auto("AutoTokenizer").from_pretrained, model, "tokenizer")


def _optional(kind: str, model: str | Path) -> Any:
    """A configuration, or None: a folder may hold a tokenizer alone, for an engine whose model is elsewhere."""
    try:
        return load(_auto(kind).from_pretrained, model, "configuration")
    except EngineUnavailable:
        return None


def _content(images: int, text: str) -> str | list[dict[str, str]]:
    """Templates of text models take nothing but texts."""
    return [{"type": "image"}] * images + [{"type": "text", "text": text}] if images else text


def _merge_system(turns: list[tuple[Any, int, str]]) -> list[tuple[Any, int, str]]:
    """For templates without a system role: what the system says goes before what the user says next."""
    merged: list[tuple[Any, int, str]] = []
    told = ""
    for role, images, text in turns:
        if role == "system":
            told += text + "\n\n"
        elif role == "user":
            merged.append((role, images, told + text))
            told = ""
        else:
            merged.append((role, images, text))
    return [*merged, ("user", 0, told.strip())] if told else merged


def _encodable(text: str) -> str:
    """Text that tokenizers take: a lone half of a surrogate pair is no character."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _absent(*texts: str) -> str:
    """A character that stands in none of the texts; those for private use hardly ever do."""
    return next(char for char in map(chr, range(0xE000, 0x110000)) if not any(char in text for text in texts))
