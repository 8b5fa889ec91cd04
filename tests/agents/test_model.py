"""What the engine is asked for, and what becomes of its answer; on the scripted engine, and on a real one."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from eapo_gym.agents.base import Response
from eapo_gym.agents.eapo import EAPOAgent
from eapo_gym.agents.plain import PlainAgent
from eapo_gym.engines.base import Override, Sampling
from eapo_gym.protocol import parse, render
from eapo_gym.schema import Context, Observation, Turn
from tests.agents.playing import play
from tests.agents.scripted import ScriptedEngine, text_of
from tests.wrappers.stacks import CORRIDOR

SEEN = Observation("g", "s", valid_actions=("look",), context=Context("eapo/ALFWorld-v0", "task-1", "ep", 3, seed=77))


def test_the_response_has_exactly_what_the_engine_was_fed_and_sampled():
    engine = ScriptedEngine()
    agent = EAPOAgent(engine)
    response = agent.act(SEEN)
    assert isinstance(response, Response)
    assert response.prompt_ids == agent.prompt(SEEN).ids
    assert engine.decode(response.ids) == response.text
    assert list(response.logprobs) == [-0.5] * len(response.ids)  # of the distribution that was sampled
    assert (response.calls, response.finish) == (1, "stop")
    assert (response.prompt_tokens, response.response_tokens) == (len(response.prompt_ids), len(response.ids))


def test_the_models_own_logprobs_stand_in_where_those_of_the_sampling_are_unknown():
    engine = ScriptedEngine()
    known = engine._completion
    engine._completion = lambda prompt, text: replace(known(prompt, text), sampled_logprobs=None)
    assert set(EAPOAgent(engine).act(SEEN).logprobs) == {-1.0}


def sampling_of(agent: EAPOAgent, observation: Observation) -> Sampling:
    agent.act(observation)
    [(_, sampling)] = agent.engine.generated[-1]
    return sampling


def test_every_step_of_a_run_is_drawn_with_its_own_seed():
    agent = EAPOAgent(ScriptedEngine(), Sampling(max_tokens=9, temperature=0.5, seed=1))
    assert sampling_of(agent, SEEN) == Sampling(max_tokens=9, temperature=0.5, seed=77)
    huge = replace(SEEN, context=replace(SEEN.context, seed=2**63 - 1))
    assert 0 <= sampling_of(agent, huge).seed < 2**31
    assert sampling_of(agent, Observation("g", "s")).seed == 1  # no run: what the user said holds


def test_overrides_key_is_the_run_and_the_episode():
    """What was sampled in an episode must not follow from which others were played, nor from an earlier run."""
    engine = ScriptedEngine()
    agent, later = (EAPOAgent(engine, Sampling(override=Override(key="", strength=0.7))) for _ in range(2))
    first = sampling_of(agent, SEEN).override
    assert first == Override(key=first.key, strength=0.7)
    assert sampling_of(agent, replace(SEEN, context=replace(SEEN.context, t=9))).override == first
    other = replace(SEEN, context=replace(SEEN.context, episode="task-1#5"))
    without = replace(SEEN, context=replace(SEEN.context, episode=""))
    keys = {
        first.key,
        sampling_of(agent, other).override.key,
        sampling_of(agent, without).override.key,
        sampling_of(later, SEEN).override.key,
    }
    assert len(keys) == 4
    assert sampling_of(agent, Observation("g", "s")).override.key == ""  # no run: what the user said holds


def test_many_episodes_are_asked_for_at_once():
    waiting: list[int] = []

    class Slow(ScriptedEngine):
        async def generate(self, prompts, sampling):
            waiting.append(1)
            await asyncio.sleep(0)
            assert len(waiting) == 8
            return await super().generate(prompts, sampling)

    answers = EAPOAgent(Slow()).act_batch([SEEN] * 8)
    assert len(answers) == 8


def test_one_agent_plays_interleaved_episodes_as_it_plays_them_alone():
    def reply(prompt: str, sampling: Sampling, i: int) -> str:
        """Goes by what the prompt says, memory included."""
        notes = prompt.count("right") if "<memory>" in prompt else 0
        action = ("right", "look", "take key", "left")[(notes + (sampling.seed or 0)) % 4]
        return render(Turn(explore=f"e{notes}", memory=f"notes {notes}", action=action))

    tasks = [f"train/key-in-{room}" for room in range(4)]
    together = play(EAPOAgent(ScriptedEngine(reply), env=CORRIDOR), CORRIDOR, tasks)
    for task, played in zip(tasks, together, strict=True):
        [alone] = play(EAPOAgent(ScriptedEngine(reply), env=CORRIDOR), CORRIDOR, [task])
        assert [r.text for r in played.responses] == [r.text for r in alone.responses]
        assert all(info["format_ok"] for info in played.infos)


def test_memory_and_explore_of_a_turn_are_in_the_next_prompt():
    engine = ScriptedEngine(render(Turn(explore="What is right of here?", memory="Room 0 is empty.", action="look")))
    play(EAPOAgent(engine), CORRIDOR, ["train/key-in-1"])
    first, second = (text_of(engine.generated[i][0][0]) for i in range(2))
    assert "Room 0 is empty." not in first
    assert "<explore>\nWhat is right of here?\n</explore>\n<memory>\nRoom 0 is empty.\n</memory>" in second


@pytest.mark.parametrize("kind", [EAPOAgent, PlainAgent])
def test_the_stamp_tells_runs_with_other_instructions_apart(kind):
    stamp = kind(ScriptedEngine(), Sampling(min_p=0.1), env="eapo/ALFWorld-v0").stamp()
    assert stamp["agent"] == kind.name
    assert stamp["sampling"]["min_p"] == 0.1
    assert stamp["engine"] == {"kind": "scripted", "model": "scripted"}
    hinted = kind(ScriptedEngine(), env="eapo/ALFWorld-v0", explore_hint=True).stamp()
    assert hinted["instructions"] != stamp["instructions"]
    assert hinted["options"]["explore_hint"]


def test_an_engine_is_closed_by_its_owner_only():
    agent = EAPOAgent(ScriptedEngine())
    asyncio.run(agent.close())
    assert not agent.engine.closed
    agent.owns_engine = True
    asyncio.run(agent.close())
    assert agent.engine.closed


def test_a_real_tiny_model_answers_and_its_ids_are_kept():
    pytest.importorskip("transformers")
    pytest.importorskip("torch")
    transformers = pytest.importorskip("eapo_gym.engines.transformers")
    from tests.engines.tiny_models import tiny_model

    engine = transformers.TransformersEngine(str(tiny_model("qwen3")))
    try:
        agent = EAPOAgent(engine, Sampling(max_tokens=12), env="eapo/ALFWorld-v0", compact=True, budget=200)
        seen = replace(SEEN, state="You see a drawer 1. " * 100, memory="<|im_end|> I know that.")
        response = agent.act(seen)
        assert response.prompt_ids == agent.prompt(seen).ids
        assert len(response.prompt_ids) <= 200
        assert engine.decode(response.ids) == response.text
        assert 0 < len(response.ids) == len(response.logprobs) <= 12
        assert agent.act(seen).ids == response.ids  # the same seed
        assert parse(response.text) is not None
    finally:
        asyncio.run(engine.close())
