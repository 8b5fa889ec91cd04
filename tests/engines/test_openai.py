from __future__ import annotations

import asyncio
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("openai", reason="the package openai is not installed")

from eapo_gym.engines import open_engine, openai_client
from eapo_gym.engines.base import (
    Completion,
    EngineError,
    EngineUnavailable,
    Message,
    Override,
    Prompt,
    PromptTooLong,
    Sampling,
    Unsupported,
)
from eapo_gym.engines.openai import UNKNOWN_CONTEXT, OpenAIEngine
from tests.engines.openai_server import END, WORDS, ScriptedServer

HELLO = [Message("system", "Be brief."), Message("user", "Hello.")]
PLAIN = Sampling(max_tokens=200, logprobs=False)
KEY = "sk-a-key-that-nobody-may-see"


@pytest.fixture(scope="module")
def process() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def server(process: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """One that can do all that OpenAI's can, with nothing in its script."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(openai_client, "FIRST_WAIT", 0.005)
    process.set(**ScriptedServer().abilities)
    return process


@pytest.fixture
def engines() -> Iterator[list[OpenAIEngine]]:
    opened: list[OpenAIEngine] = []
    yield opened
    for engine in opened:
        asyncio.run(engine.close())


@pytest.fixture
def opened(server: ScriptedServer, engines: list[OpenAIEngine]) -> Any:
    """Opens an engine on the server, which can do `abilities`."""

    def open_it(abilities: dict[str, Any] | None = None, **options: Any) -> OpenAIEngine:
        server.set(**(abilities or {}))
        engine = OpenAIEngine("tree", server.url, **{"retries": 3, "timeout": 20.0, **options})
        engines.append(engine)
        return engine

    return open_it


def say(engine: OpenAIEngine, sampling: Sampling = PLAIN, messages: list[Message] = HELLO) -> Completion:
    [completion] = asyncio.run(engine.generate([engine.prompt(messages)], sampling))
    return completion


class TestAnswers:
    def test_of_a_server_without_ids(self, opened: Any, server: ScriptedServer) -> None:
        engine = opened()
        completion = say(engine, Sampling(max_tokens=200))
        assert completion.text == server.abilities["text"]
        assert (completion.prompt_ids, completion.ids, completion.finish) == ((), (), "stop")
        expected = [-0.001 * byte for byte in (*completion.text.encode(), END)]
        assert completion.logprobs == completion.sampled_logprobs == pytest.approx(expected)
        sent = server.requests()[-1]["body"]
        assert sent["messages"] == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello."},
        ]
        assert engine.stats()["response_tokens"] == len(expected)
        assert completion.tokens == (len("Be brief.Hello."), len(expected)), "as the server counts them"

    def test_of_vllm(self, opened: Any, server: ScriptedServer) -> None:
        engine = opened({"ids": True})
        completion = say(engine, Sampling(max_tokens=200))
        assert bytes(completion.prompt_ids).decode() == "Be brief.Hello."
        assert completion.ids == (*completion.text.encode(), END)
        assert len(completion.logprobs or ()) == len(completion.ids)
        assert engine.context == server.abilities["context"]

    def test_prompts_of_ids_alone(self, opened: Any, server: ScriptedServer) -> None:
        engine = opened({"ids": True})
        [completion] = asyncio.run(engine.generate([Prompt((65, 66))], PLAIN))
        assert server.requests()[-1]["body"]["prompt"] == [65, 66]
        assert completion.prompt_ids == (65, 66)
        assert completion.logprobs is None

    def test_length(self, opened: Any) -> None:
        completion = say(opened(), Sampling(max_tokens=9))
        assert (completion.text, completion.finish) == ("<action> ", "length")
        assert len(completion.logprobs or ()) == 9

    def test_null_content_is_an_empty_response(self, opened: Any, server: ScriptedServer) -> None:
        engine = opened()
        server.script({"with": {"choices": [{"finish_reason": "content_filter", "message": {"content": None}}]}})
        assert say(engine).text == ""

    @pytest.mark.parametrize("ids", [False, True])
    def test_the_text_that_stops_a_response_is_part_of_it(self, opened: Any, server: ScriptedServer, ids: bool) -> None:
        text = "a </action> b </memory> c"
        engine = opened({"ids": ids, "text": text})
        for stops, expected in (
            (("</action>",), "a </action>"),
            (("</memory>", "</action>"), "a </action>"),
            (("</memory>",), "a </action> b </memory>"),
            (("</state>",), text),
        ):
            completion = say(engine, Sampling(max_tokens=100, stop=stops))
            assert (completion.text, completion.finish) == (expected, "stop")
            assert len(completion.logprobs or ()) == len(expected) + 1 - (not ids and expected != text)

    def test_a_response_that_was_cut_off_before_its_stop(self, opened: Any) -> None:
        completion = say(opened({"text": "a </act"}), Sampling(max_tokens=4, stop=("</action>",)))
        assert (completion.text, completion.finish) == ("a </", "length")

    def test_distributions(self, opened: Any) -> None:
        engine = opened({"ids": True})
        cool = say(engine, Sampling(max_tokens=20, temperature=0.5))
        assert cool.logprobs is not None
        assert cool.sampled_logprobs is None
        assert say(engine, Sampling(max_tokens=20, min_p=0.1)).sampled_logprobs is None

    def test_score(self, opened: Any) -> None:
        engine = opened({"ids": True})
        scores = asyncio.run(engine.score([Prompt((65, 66)), Prompt((70,))], [[67, 68], []]))
        assert scores == [pytest.approx([-0.067, -0.068]), []]
        with pytest.raises(PromptTooLong, match="1000"):
            asyncio.run(engine.score([Prompt((65,))], [[67] * 999]))

    def test_many_prompts_and_the_order_of_their_answers(self, opened: Any, server: ScriptedServer) -> None:
        engine = opened({"ids": True, "text": "", "seconds": 0.02}, concurrency=5)
        prompts = [Prompt((65 + index,)) for index in range(20)]
        completions = asyncio.run(engine.generate(prompts, Sampling(max_tokens=99, seed=3)))
        assert [completion.prompt_ids for completion in completions] == [prompt.ids for prompt in prompts]
        assert len({completion.text for completion in completions}) > 15, "each prompt has a seed of its own"
        assert 2 <= server.most_at_a_time() <= 5
        again = asyncio.run(engine.generate(prompts, Sampling(max_tokens=99, seed=3)))
        assert again == completions

    def test_any_loop_and_any_thread(self, opened: Any, server: ScriptedServer) -> None:
        engine = opened({"seconds": 0.02}, concurrency=3)
        texts: list[str] = []
        threads = [threading.Thread(target=lambda: texts.append(say(engine).text)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert texts == [server.abilities["text"]] * 8
        assert server.most_at_a_time() <= 3

    def test_a_begun_response(self, opened: Any, server: ScriptedServer) -> None:
        engine = opened({"ids": True})
        prompt = engine.prompt(HELLO, prefill="<think>")
        asyncio.run(engine.generate([prompt], PLAIN))
        sent = server.requests()[-1]["body"]
        assert sent["messages"][-1] == {"role": "assistant", "content": "<think>"}
        assert sent["continue_final_message"] is True
        assert sent["add_generation_prompt"] is False

    def test_images(self, opened: Any, server: ScriptedServer) -> None:
        pillow = pytest.importorskip("PIL.Image")
        image = np.random.default_rng(0).integers(0, 256, (5, 7, 3), np.uint8)
        engine = opened()
        say(engine, messages=[Message("user", "What is it?", (image, image[::-1]))])
        content = server.requests()[-1]["body"]["messages"][0]["content"]
        assert [part["type"] for part in content] == ["image_url", "image_url", "text"]
        import base64
        import io

        head, _, data = content[0]["image_url"]["url"].partition(",")
        assert head == "data:image/png;base64"
        assert np.array_equal(np.asarray(pillow.open(io.BytesIO(base64.b64decode(data)))), image)

    def test_lone_surrogates_can_be_sent(self, opened: Any, server: ScriptedServer) -> None:
        engine = opened()
        say(engine, messages=[Message("user", "a\ud800b\x00c")])
        assert server.requests()[-1]["body"]["messages"][0]["content"] == "a?b\x00c"

    def test_prompt_and_limit_that_do_not_fit_together(self, opened: Any, server: ScriptedServer) -> None:
        """The response gets the room that there is, on both roads."""
        engine = opened({"ids": True, "text": "x" * 5000})
        [by_ids] = asyncio.run(engine.generate([Prompt((65,) * 990)], Sampling(max_tokens=500, logprobs=False)))
        by_chat = say(engine, Sampling(max_tokens=500, logprobs=False), [Message("user", "A" * 990)])
        assert len(by_ids.ids) == len(by_chat.ids) == 10
        assert by_ids.finish == by_chat.finish == "length"
        for prompt in (Prompt((65,) * 1000), engine.prompt([Message("user", "A" * 1000)])):
            with pytest.raises(PromptTooLong, match="1000"):
                asyncio.run(engine.generate([prompt], PLAIN))

    def test_fields_of_the_server_s_own(self, opened: Any, server: ScriptedServer) -> None:
        say(opened(extra_body={"temperature": 0.7, "chat_template_kwargs": {"enable_thinking": False}}))
        sent = server.requests()[-1]["body"]
        assert sent["temperature"] == 0.7
        assert sent["chat_template_kwargs"] == {"enable_thinking": False}

    def test_vllm_is_told_everything(self, opened: Any, server: ScriptedServer) -> None:
        """What it is not told it takes from the model's generation_config, and samples from another distribution."""
        say(opened({"ids": True}))
        sent = server.requests()[-1]["body"]
        assert {name: sent[name] for name in ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")} == {
            "temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0,
        }  # fmt: skip


class TestWhatAServerCannotDo:
    @pytest.mark.parametrize("strict", [False, True])
    def test_logprobs(self, opened: Any, strict: bool) -> None:
        engine = opened({"logprobs": False, "strict": strict})
        assert not engine.capabilities.logprobs
        with pytest.raises(Unsupported, match=r"Sampling\(logprobs=True\).*gives none for 'tree'.*logprobs=False"):
            say(engine, Sampling())
        assert say(engine).logprobs is None

    def test_logprobs_that_are_left_out_later(self, opened: Any, server: ScriptedServer) -> None:
        engine = opened()
        server.script({"with": {"choices": [{"message": {"content": "no more of them"}}]}})
        with pytest.raises(EngineError, match=r"gave no log-probs.*as it gave before"):
            say(engine, Sampling())

    def test_a_server_that_takes_openai_s_own_fields_alone(self, opened: Any, server: ScriptedServer) -> None:
        engine = opened({"strict": True})
        assert engine.capabilities.logprobs
        assert engine.context == UNKNOWN_CONTEXT
        assert say(engine, Sampling(max_tokens=77, seed=1)).text
        sent = server.requests()[-1]["body"]
        assert sent["max_completion_tokens"] == 77
        assert "max_tokens" not in sent

    @pytest.mark.parametrize(("behaviour", "taken"), [("heeds", True), ("ignores", False), ("refuses", False)])
    @pytest.mark.parametrize("sampling", [{"top_k": 5}, {"min_p": 0.1}])
    def test_top_k_and_min_p(
        self, opened: Any, server: ScriptedServer, behaviour: str, taken: bool, sampling: dict[str, Any]
    ) -> None:
        engine = opened({"text": "", "top_k": behaviour})
        [field] = sampling
        wanted = Sampling(max_tokens=100, logprobs=False, **sampling)
        if taken:
            assert set(say(engine, wanted).text.split()) <= set(WORDS)
            assert server.requests()[-1]["body"][field] == sampling[field]
        else:
            with pytest.raises(Unsupported, match=f"{field}.*refuses or ignores"):
                say(engine, wanted)
        tried = len(server.requests())
        if taken:
            say(engine, wanted)
            assert len(server.requests()) == tried + 1, "it is tried once"

    def test_ids_score_prefill_override_adapters(self, opened: Any) -> None:
        engine = opened()
        assert not engine.capabilities.token_ids
        assert not engine.capabilities.score
        with pytest.raises(Unsupported, match=r"score needs.*tokenizer="):
            asyncio.run(engine.score([Prompt((1,))], [[2]]))
        with pytest.raises(Unsupported, match="takes no token ids"):
            asyncio.run(engine.generate([Prompt((1,))], PLAIN))
        with pytest.raises(Unsupported, match="begun"):
            asyncio.run(engine.generate([engine.prompt(HELLO, prefill="<think>")], PLAIN))
        with pytest.raises(Unsupported, match="OverRIDE"):
            say(engine, Sampling(override=Override("task")))
        with pytest.raises(Unsupported, match="adapter"):
            say(engine, Sampling(adapter="sft"))
        with pytest.raises(Unsupported, match="tokenizer"):
            engine.encode("text")
        with pytest.raises(Unsupported):
            asyncio.run(engine.update_weights([]))

    def test_a_model_without_a_chat_template_and_no_tokenizer(self, opened: Any) -> None:
        with pytest.raises(EngineUnavailable, match="no chat template"):
            opened({"chat": False})

    @pytest.mark.parametrize("behaviour", ["sees", "ignores", "refuses"])
    def test_eyes(self, opened: Any, behaviour: str) -> None:
        pytest.importorskip("PIL", reason="images need Pillow")
        assert opened({"images": behaviour}).capabilities.images == (behaviour == "sees")

    def test_images_that_are_refused(self, opened: Any, server: ScriptedServer) -> None:
        pytest.importorskip("PIL")
        engine = opened()
        server.script({"status": 400, "body": {"error": {"message": "tree is not a multimodal model"}}})
        with pytest.raises(Unsupported, match=r"can 'tree' see.*not a multimodal"):
            say(engine, messages=[Message("user", "?", (np.zeros((2, 2, 3), np.uint8),))])


class TestFailures:
    @pytest.mark.parametrize(
        "fault",
        [
            {"status": 429, "headers": {"retry-after": "0"}},
            {"status": 429, "headers": {"retry-after-ms": "5"}},
            {"status": 429, "headers": {"retry-after": "Wed, 21 Oct 2065 07:28:00 GMT"}},
            {"status": 500, "body": "oops"},
            {"status": 503, "body": {"error": "no capacity"}},
            {"status": 408},
            {"drop": True},
            {"drop": "half"},
            {"body": "<html>Bad gateway</html>"},
            {"body": '{"choices": ['},
            {"body": "[" * 100_000},
            {"body": {"error": {"message": "overloaded"}}},
            {"body": {"choices": []}},
            {"body": {"choices": [None]}},
            {"body": "", "headers": {"content-type": "text/plain"}},
        ],
        ids=repr,
    )
    def test_what_passes_is_tried_again(self, opened: Any, server: ScriptedServer, fault: dict[str, Any]) -> None:
        engine = opened()
        server.script(fault, fault)
        before = engine.stats()["retries"]
        assert say(engine).text == server.abilities["text"]
        assert engine.stats()["retries"] == before + 2
        assert len(server.requests()) == 3

    @pytest.mark.parametrize(
        ("fault", "said"),
        [
            ({"status": 429, "body": {"error": {"message": "slow down"}}}, "status 429, model 'tree'.*slow down"),
            ({"status": 500, "body": "oops"}, "status 500.*oops"),
            ({"drop": True}, "connection to .* broke"),
            ({"body": "{"}, "broken JSON"),
            ({"body": {"error": {"message": "overloaded"}}}, "something else than choices: overloaded"),
        ],
    )
    def test_what_does_not_pass(self, opened: Any, server: ScriptedServer, fault: dict[str, Any], said: str) -> None:
        engine = opened(retries=2)
        server.script(*[fault] * 9)
        with pytest.raises(EngineError, match=said) as caught:
            say(engine)
        assert not isinstance(caught.value, (EngineUnavailable, PromptTooLong, Unsupported))
        assert len(server.requests()) == 3
        server.script()
        assert say(engine).text, "the next request may do better"

    @pytest.mark.parametrize(
        ("fault", "kind", "said"),
        [
            ({"status": 401}, EngineUnavailable, "status 401, model 'tree'.*api_key"),
            ({"status": 403}, EngineUnavailable, "status 403"),
            ({"status": 404}, EngineUnavailable, "no such model or no such address.*ends in /v1"),
            ({"status": 429, "body": {"error": {"code": "insufficient_quota"}}}, EngineUnavailable, "no quota"),
            ({"status": 413}, PromptTooLong, "too much"),
            ({"status": 400, "body": {"error": {"code": "context_length_exceeded"}}}, PromptTooLong, "too much"),
            ({"status": 400, "body": {"detail": "The input is longer than 512"}}, PromptTooLong, "longer than 512"),
            ({"status": 400, "body": {"error": {"message": "bad seed"}}}, EngineError, "refused the request.*bad seed"),
            ({"status": 422, "body": {"detail": [{"loc": ["body"]}]}}, EngineError, "refused the request.*loc"),
            ({"status": 418}, EngineError, "status 418"),
        ],
    )
    def test_what_is_not_tried_again(
        self, opened: Any, server: ScriptedServer, fault: dict[str, Any], kind: type, said: str
    ) -> None:
        engine = opened()
        server.script(*[fault] * 3)
        with pytest.raises(EngineError, match=said) as caught:
            say(engine)
        assert isinstance(caught.value, kind)
        assert isinstance(caught.value, EngineUnavailable) == (kind is EngineUnavailable)
        assert server.url in str(caught.value)
        # A prompt that is too long with its limit may fit without.
        assert len(server.requests()) == (2 if kind is PromptTooLong else 1)

    def test_a_server_that_wants_to_be_left_alone_for_long(self, opened: Any, server: ScriptedServer) -> None:
        engine = opened()
        server.script({"status": 429, "headers": {"retry-after": "3600"}})
        with pytest.raises(EngineError, match="429"):
            say(engine)
        assert len(server.requests()) == 1

    def test_a_body_that_never_ends(self, opened: Any, server: ScriptedServer) -> None:
        """Each byte comes in time, and all of them would take minutes."""
        engine = opened(timeout=0.3, retries=1)
        server.script({"trickle": 0.1}, {"trickle": 0.1})
        with pytest.raises(EngineError, match="no whole answer within"):
            say(engine)
        server.script({"trickle": 0.1})
        assert say(engine).text

    def test_patience_bounds_all_tries_together(self, opened: Any, server: ScriptedServer) -> None:
        engine = opened(retries=1000)
        engine.server.patience = 0.5
        server.script(*[{"status": 500}] * 1000)
        with pytest.raises(EngineError, match=r"status 500|within"):
            say(engine)
        assert 1 <= len(server.requests()) < 100

    def test_nobody_there(self, opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(openai_client, "FIRST_WAIT", 0.005)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        with pytest.raises(EngineUnavailable, match=f"{url} cannot be reached.*'tree'"):
            OpenAIEngine("tree", url)

    def test_a_server_that_dies(self, monkeypatch: pytest.MonkeyPatch, engines: list[OpenAIEngine]) -> None:
        monkeypatch.setattr(openai_client, "FIRST_WAIT", 0.005)
        with ScriptedServer() as mortal:
            engine = OpenAIEngine("tree", mortal.url, retries=3)
            engines.append(engine)
            assert say(engine).text
        with pytest.raises(EngineUnavailable, match="cannot be reached"):
            say(engine)

    def test_close_fails_what_is_under_way(self, opened: Any) -> None:
        engine = opened()

        async def close_while_waiting() -> None:
            prompts = [engine.prompt(HELLO)] * 50
            waiting = asyncio.ensure_future(engine.generate(prompts, PLAIN))
            await asyncio.sleep(0.01)
            await engine.close()
            await engine.close()
            with pytest.raises(EngineUnavailable, match="was closed"):
                await waiting
            with pytest.raises(EngineUnavailable, match="was closed"):
                await engine.generate(prompts, PLAIN)

        asyncio.run(close_while_waiting())

    def test_giving_up_frees_the_places(self, opened: Any, server: ScriptedServer) -> None:
        engine = opened(concurrency=2)
        server.set(seconds=1.0)

        async def give_up() -> None:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(engine.generate([engine.prompt(HELLO)] * 4, PLAIN), 0.1)
            server.set(seconds=0.0)
            await asyncio.wait_for(engine.generate([engine.prompt(HELLO)] * 2, PLAIN), 20)

        asyncio.run(give_up())

    def test_one_failure_ends_the_others(self, opened: Any, server: ScriptedServer) -> None:
        engine = opened(concurrency=1)
        server.script({"status": 401})
        with pytest.raises(EngineUnavailable):
            asyncio.run(engine.generate([engine.prompt(HELLO)] * 20, PLAIN))
        assert len(server.requests()) < 5


class TestTheKey:
    def test_is_sent_and_never_shown(self, opened: Any, server: ScriptedServer, capfd: Any) -> None:
        engine = opened({"key": KEY}, api_key=KEY)
        say(engine)
        assert server.requests()[-1]["key"] == f"Bearer {KEY}"
        server.script({"status": 401, "body": {"error": {"message": f"Incorrect key\n{KEY}\x1b[31m"}}})
        with pytest.raises(EngineUnavailable) as caught:
            say(engine)
        assert "Incorrect key ***" in str(caught.value)
        assert "\x1b" not in str(caught.value)
        shown = [str(caught.value), repr(engine), repr(vars(engine)), repr(vars(engine.server)), str(engine.stamp())]
        assert KEY not in "".join([*shown, *capfd.readouterr()])
        with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
            pickle.dumps(engine)

    def test_of_the_environment(self, opened: Any, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        say(opened({"key": KEY}))
        assert server.requests()[-1]["key"] == f"Bearer {KEY}"

    def test_is_not_needed_by_servers_of_one_s_own(self, opened: Any, server: ScriptedServer) -> None:
        say(opened())
        assert KEY not in str(server.requests()[-1])

    def test_wrong(self, opened: Any) -> None:
        with pytest.raises(EngineUnavailable, match="api_key or OPENAI_API_KEY"):
            opened({"key": KEY}, api_key="sk-wrong")

    def test_no_server_and_no_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(EngineUnavailable, match=r"base_url.*OPENAI_API_KEY"):
            open_engine("openai", "tree")

    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    def test_nothing_follows_a_redirect(self, opened: Any, server: ScriptedServer, status: int) -> None:
        engine = opened(api_key=KEY)
        with ScriptedServer() as other:
            server.script({"status": status, "headers": {"location": f"{other.url}/chat/completions?key=1"}})
            with pytest.raises(EngineUnavailable, match=f"redirects to {other.url}.*base_url") as caught:
                say(engine)
            assert other.requests() == []
            assert "key=1" not in str(caught.value)

    def test_a_password_in_the_address_is_not_shown(self, server: ScriptedServer, engines: list[OpenAIEngine]) -> None:
        engine = OpenAIEngine("tree", server.url.replace("http://", "http://me:secret@"))
        engines.append(engine)
        assert "secret" not in repr(engine) + str(engine.stamp())

    def test_a_certificate_that_nobody_vouches_for(self, tmp_path: Path) -> None:
        if subprocess.run(["openssl", "version"], capture_output=True, check=False).returncode:
            pytest.skip("openssl is not installed")
        import ssl

        pem = tmp_path / "own.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", pem, "-out", tmp_path / "crt"],
            check=True, capture_output=True,
        )  # fmt: skip
        pem.write_bytes(pem.read_bytes() + (tmp_path / "crt").read_bytes())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        heard: list[bytes] = []

        def serve(listener: socket.socket) -> None:
            while True:
                try:
                    raw, _ = listener.accept()
                except OSError:
                    return
                with raw:
                    try:
                        heard.append(context.wrap_socket(raw, server_side=True).recv(100))
                    except (ssl.SSLError, OSError):
                        heard.append(b"")

        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=serve, args=(listener,), daemon=True).start()
            with pytest.raises(EngineUnavailable, match="no certificate that can be trusted"):
                OpenAIEngine("tree", f"https://127.0.0.1:{listener.getsockname()[1]}/v1", api_key=KEY)
        assert set(heard) <= {b""}, "nothing was said to it"


@pytest.fixture(scope="module")
def folder() -> Path:
    from tests.engines.tiny_models import tiny_model

    return tiny_model("qwen3")


class TestWithATokenizer:
    def test_prompts_are_counted_and_sent_as_ids(self, opened: Any, server: ScriptedServer, folder: Path) -> None:
        engine = opened({"ids": True, "chat": False, "context": 10_000}, tokenizer=str(folder))
        prompt = engine.prompt(HELLO)
        assert prompt.ids
        [completion] = asyncio.run(engine.generate([prompt], PLAIN))
        assert tuple(server.requests()[-1]["body"]["prompt"]) == prompt.ids == completion.prompt_ids
        assert completion.text == engine.decode(completion.ids)
        assert engine.capabilities.score
        assert engine.decode(engine.encode("take key 1")) == "take key 1"

    def test_prompts_are_messages_where_ids_are_not_taken(
        self, opened: Any, server: ScriptedServer, folder: Path
    ) -> None:
        engine = opened({}, tokenizer=str(folder))
        assert say(engine).text == server.abilities["text"]
        assert server.requests()[-1]["path"] == "/v1/chat/completions"
        assert not engine.capabilities.token_ids

    def test_of_another_model(self, opened: Any, folder: Path) -> None:
        with pytest.raises(EngineUnavailable, match="is not that of 'tree'"):
            opened({"ids": True}, tokenizer=str(folder))


@pytest.fixture(scope="module")
def transformers_server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`transformers serve` with a tiny model; a process with a port of its own."""
    for package in ("fastapi", "uvicorn"):
        pytest.importorskip(package, reason=f"transformers serve needs {package}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tmp_path_factory.mktemp("home")
    process = subprocess.Popen(
        [sys.executable, "-m", "transformers.cli.transformers", "serve", str(folder), "--port", str(port),
         "--host", "127.0.0.1", "--device", "cpu"],
        env={**os.environ, "HF_HOME": str(home), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL, stderr=(home / "log").open("w"),
    )  # fmt: skip
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, (home / "log").read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def engine(transformers_server: str, folder: Path) -> Iterator[OpenAIEngine]:
    engine = OpenAIEngine(str(folder), transformers_server, tokenizer=str(folder), retries=1)
    yield engine
    asyncio.run(engine.close())


class TestTransformersServe:
    """A server that others wrote: it gives neither log-probs nor ids, and ignores or refuses fields as it likes."""

    def test_what_it_can(self, engine: OpenAIEngine) -> None:
        can = engine.capabilities
        assert (can.token_ids, can.logprobs, can.score, can.images) == (False, False, False, False)

    def test_many_at_a_time(self, engine: OpenAIEngine) -> None:
        prompts = [engine.prompt([Message("user", f"take key {number}")]) for number in range(8)]
        sampling = Sampling(max_tokens=8, temperature=0, logprobs=False)
        together = asyncio.run(engine.generate(prompts, sampling))
        [alone] = asyncio.run(engine.generate(prompts[3:4], sampling))
        assert together[3].text == alone.text
        assert len(together) == 8
        assert any(completion.text for completion in together)
        assert {completion.finish for completion in together} <= {"stop", "length"}

    def test_what_it_lacks_is_refused(self, engine: OpenAIEngine) -> None:
        with pytest.raises(Unsupported, match="log-probs"):
            say(engine, Sampling(max_tokens=4))
        with pytest.raises(Unsupported, match="top_k"):
            say(engine, Sampling(max_tokens=4, top_k=2, logprobs=False))
        with pytest.raises(Unsupported, match="min_p"):
            say(engine, Sampling(max_tokens=4, min_p=0.2, logprobs=False))
        with pytest.raises(Unsupported, match="score"):
            asyncio.run(engine.score([engine.prompt(HELLO)], [[1]]))

    def test_another_model(self, transformers_server: str) -> None:
        with pytest.raises(EngineUnavailable, match="pinned to"):
            OpenAIEngine("other", transformers_server, retries=0)
