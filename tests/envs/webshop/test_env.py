"""`WebShopEnv`, in a small shop and in the embedded one."""

from __future__ import annotations

import pickle
from functools import partial
from random import Random

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

import eapo_gym
from eapo_gym import check_agent_env
from eapo_gym.envs.webshop import opening
from eapo_gym.envs.webshop.env import WebShopEnv
from eapo_gym.envs.webshop.nouns import RuleNouns
from eapo_gym.envs.webshop.opening import OpenShop, Tasks, open_shop
from eapo_gym.envs.webshop.pages import MODES, Mode
from eapo_gym.envs.webshop.store import MemoryCatalogue
from eapo_gym.errors import ContractError, EapoError, SnapshotError, UnknownName
from eapo_gym.registration import WEBSHOP
from tests.envs.webshop.original_sessions import SimpleNouns, TitleSearch
from tests.envs.webshop.small_shops import PRODUCTS, small_env


@pytest.fixture
def env() -> WebShopEnv:
    return small_env()


@pytest.mark.parametrize("mode", MODES)
def test_it_keeps_the_contract(mode: Mode):
    make = partial(small_env, observation_mode=mode, render_mode="ansi")
    check_agent_env(make(), make=make, episodes=4, steps=25, cross_process=mode == "text")


def test_gymnasium_accepts_it(env):
    check_env(env, skip_render_check=True)


def test_the_embedded_shop_is_made_by_its_id():
    env = gym.make(WEBSHOP, schema="native")
    observation, info = env.reset(seed=0)
    assert info["catalogue"].startswith("embedded v")
    assert "1,000 products" in info["catalogue"]
    assert env.spec.max_episode_steps == 60
    assert observation["goal"] in observation["state"]
    words = env.action_space.sample()
    observation, *_ = env.step(words if words.startswith("search") else "search[lamp]")
    assert "Total results" in observation["state"]
    splits = {split: len(env.unwrapped.tasks(split)) for split in ("train", "eval", "test")}
    assert (splits["test"], splits["eval"]) == (500, 1_000)
    assert splits["train"] > 1_000


def test_many_of_them_play_in_one_process():
    envs = eapo_gym.make_vec(WEBSHOP, 3, schema="native", split="test", goals=5)
    envs.reset(seed=1)
    observations, *_ = envs.step(["search[shirt]"] * 3)
    assert all("Page 1" in text for text in observations["state"])
    envs.close()


def right_purchase(env: WebShopEnv, task: str) -> list[str]:
    env.reset(options={"task": task})
    goal = env.goal
    number = env.open.shop.number(goal.asin)
    product = env.open.shop.product(number)
    actions = [f"search[{product.name}]"]
    env.step(actions[0])
    while f"click[{product.asin.lower()}]" not in env.valid_actions():
        actions.append("click[next >]")
        env.step("click[next >]")
    chosen = dict(goal.options)
    return [
        *actions,
        f"click[{product.asin.lower()}]",
        *(f"click[{value}]" for value in chosen.values()),
        "click[buy now]",
    ]


def test_the_right_product_with_the_right_options_wins(env):
    task = env.tasks()[0]
    actions = right_purchase(env, task)
    observation, info = env.reset(options={"task": task})
    assert (info["task"], info["source"], info["split"], info["won"]) == (task, "embedded", "train", False)
    assert observation["goal"] == env.goal.text
    for action in actions:
        assert not info["won"]
        _, reward, terminated, truncated, info = env.step(action)
        assert not info["invalid_action"]
    assert (reward, terminated, truncated, info["won"]) == (1.0, True, False, True)
    assert info["reward_parts"]["r_type"] == 1.0
    assert info["clickables"] == env.valid_actions() == []


def test_a_wrong_purchase_earns_less(env):
    env.reset(options={"task": env.tasks()[0]})
    env.step("search[lamp chair]")
    env.step(env.valid_actions()[-1])
    _, reward, terminated, _, info = env.step("click[buy now]")
    assert terminated
    assert info["won"] == (reward == 1.0)
    assert 0 <= reward <= 1


@pytest.mark.parametrize("action", ["", "fly", "click[mars]", "click[", "search[]", "x" * 1_000_000, "click[search]"])
def test_what_is_not_there_does_nothing(env, action):
    before, _ = env.reset(seed=0)
    mark = env.fingerprint()
    after, reward, terminated, _, info = env.step(action)
    assert (after, reward, terminated, info["invalid_action"]) == (before, 0.0, False, True)
    assert env.fingerprint() == mark


@pytest.mark.parametrize("action", [3, None, b"search[x]", ["search[x]"]])
def test_what_is_no_text_is_an_error(env, action):
    env.reset(seed=0)
    with pytest.raises(TypeError, match=r"expected a command \(str\) such as 'click\[buy now\]', got"):
        env.step(action)


def test_listed_clicks_do_something_and_others_do_not(env):
    rng, seen = Random(0), set()
    for seed in range(30):
        env.reset(seed=seed)
        assert env.valid_actions() is None, "on the search page one searches, and searches cannot be listed"
        env.step(rng.choice(["search[lamp]", "search[red chair]", "search[nothing of that kind]"]))
        for _ in range(15):
            valid = env.valid_actions()
            if not valid:
                break
            absent = sorted(seen - set(valid))
            mark = env.fingerprint()
            if absent:
                assert env.step(rng.choice(absent))[4]["invalid_action"]
                assert env.fingerprint() == mark
            assert not env.step(rng.choice(valid))[4]["invalid_action"]
            seen.update(valid)


@pytest.mark.parametrize("mode", MODES)
def test_a_way_back_leads_back(mode: Mode):
    env, rng, undone = small_env(observation_mode=mode), Random(1), set()
    for seed in range(40):
        env.reset(seed=seed)
        for _ in range(20):
            valid = env.valid_actions() or ["search[lamp]", "search[red chair]"]
            action = rng.choice(valid)
            mark, kind = env.fingerprint(), env.state.kind
            back = env.inverse(action)
            env.step(action)
            if env.valid_actions() == []:
                assert back == []
                break
            there = env.snapshot()
            for way in back:
                env.step(way)
                assert env.fingerprint() == mark
                env.restore(there)
                undone.add((kind, env.state.kind))
    expected = {("search", "results"), ("results", "results"), ("item", "results"), ("item", "sub"), ("sub", "item")}
    # Where visits show, what was visited for the first time cannot be made unseen, nor can a new search be.
    seen_for_good = {("results", "search"), ("results", "item")}
    assert expected | (set() if mode == "text_rich" else seen_for_good) <= undone


def test_an_option_is_selected_again_and_never_given_up(env):
    env.reset(seed=0)
    env.step("search[chair]")
    env.step(f"click[{PRODUCTS[1].asin}]")
    assert env.inverse("click[red]") == []
    env.step("click[red]")
    assert env.inverse("click[blue]") == ["click[red]"]
    assert env.inverse("click[red]") == [], "it changes nothing"
    assert env.inverse("click[features]") == ["click[< prev]"]
    env.step("click[features]")
    assert env.inverse("click[< prev]") == ["click[features]"]


def test_the_order_of_options_and_visits_count_only_where_they_show():
    def marks(mode: Mode) -> tuple[bool, bool]:
        env = small_env(observation_mode=mode)

        def mark(*actions: str) -> str:
            env.reset(options={"task": env.tasks()[0]})
            for action in ("search[chair]", *actions):
                env.step(action)
            return env.fingerprint()

        item = f"click[{PRODUCTS[1].asin}]"
        order = mark(item, "click[red]", "click[small]") == mark(item, "click[small]", "click[red]")
        return order, mark(item, "click[< prev]") == mark()

    assert {mode: marks(mode) for mode in MODES} == {
        "text": (True, True),
        "html": (True, True),
        "text_rich": (True, False),
        "url": (False, True),
    }


def test_a_snapshot_is_restored_elsewhere(env):
    env.reset(seed=4)
    for action in ("search[chair]", f"click[{PRODUCTS[1].asin}]", "click[red]"):
        observation, *_ = env.step(action)
    saved, seen = env.snapshot(), (env.fingerprint(), env.valid_actions(), env.describe())
    sent = pickle.loads(pickle.dumps(saved))
    other = small_env()
    for snapshot, into in ((saved, env), (sent, other)):
        into.reset(seed=9)
        assert into.restore(snapshot)[0] == observation
        assert (into.fingerprint(), into.valid_actions(), into.describe()) == seen
    bought_observation, *_, bought_info = env.step("click[buy now]")
    bought = env.snapshot()
    env.reset(seed=1)
    assert env.restore(bought) == (bought_observation, bought_info)
    with pytest.raises(SnapshotError, match="expected a snapshot of a WebShop environment, got dict"):
        env.restore({})
    with pytest.raises(SnapshotError, match=r"split='train', and this environment plays .* split='test'"):
        small_env(split="test").restore(saved)


def test_before_the_first_reset_nobody_is_in_the_shop(env):
    for ask in (env.snapshot, env.fingerprint, env.describe, partial(env.step, "search[x]")):
        with pytest.raises(ContractError, match="call reset"):
            ask()


def test_what_there_is_not_is_named(env, monkeypatch, tmp_path):
    for wrong, message in (
        ({"split": "vaild"}, "Unknown split 'vaild'"),
        ({"observation_mode": "txt"}, "Unknown observation_mode 'txt'.*Did you mean 'text'"),
        ({"render_mode": "human"}, "render_mode"),
        ({"goals": ["train/x"]}, "Unknown goal"),
    ):
        with pytest.raises(UnknownName, match=message):
            small_env(**wrong)
    with pytest.raises(UnknownName, match=r"Unknown source 'offical'.*Did you mean 'official'"):
        WebShopEnv(source="offical")
    with pytest.raises(UnknownName, match="kind of goals"):
        WebShopEnv(kind="humane")
    for goals in (0, 10**9, [], "train/1"):
        with pytest.raises(ValueError, match="goals: expected a number"):
            small_env(goals=goals)
    with pytest.raises(UnknownName, match="task"):
        env.reset(options={"task": "test/0"})
    monkeypatch.setenv("WEBSHOP_DATA", str(tmp_path))
    with pytest.raises(EapoError, match="eapo-gym data webshop"):
        WebShopEnv(source="official")


def test_goals_selects():
    env = small_env(goals=3)
    assert env.tasks() == small_env().tasks()[:3]
    assert len(env.tasks("test")) == len(small_env(split="test").tasks())
    chosen = small_env(goals=env.tasks()[1:2])
    assert chosen.tasks() == env.tasks()[1:2]
    assert chosen.reset(seed=5)[1]["task"] == env.tasks()[1]
    assert chosen.catalogue() != env.catalogue()


def test_ids_of_goals_are_made_when_they_are_asked_for():
    """A full catalogue has millions of goals: there is no list of them until somebody wants one."""
    env = small_env()
    tasks = env.open.tasks("test")
    listed = [f"test/{place}" for place in range(len(tasks))]
    assert list(tasks) == env.tasks("test") == listed
    assert (tasks[0], tasks[-1], tasks[1:3]) == (listed[0], listed[-1], tuple(listed[1:3]))
    assert all(task in tasks for task in listed)
    odd = ("test/", "test", "", "test/00", "test/+1", "test/ 1", "test/１", "train/0", "test/-1", 0, None)
    assert not any(task in tasks for task in (*odd, f"test/{len(tasks)}", f"test/{'9' * 5_000}"))
    with pytest.raises(IndexError):
        tasks[len(tasks)]
    assert len(Tasks("train", range(10**12))) == 10**12
    assert "train/999999999999" in Tasks("train", range(10**12))


def test_a_reset_for_a_goal_makes_no_list_of_all(monkeypatch):
    env = small_env()
    task = env.tasks()[3]
    monkeypatch.setattr(WebShopEnv, "tasks", lambda self, split=None: pytest.fail("all goals were listed"))
    assert env.reset(options={"task": task})[1]["task"] == task
    assert env.reset(seed=0)[1]["task"] in env._selected


def test_the_catalogues_name_says_which_goals():
    """Whole splits and lists of the same goals have the same name; it changes with what is asked for."""
    env = small_env(split="test")
    same, part, train = small_env(split="test", goals=env.tasks()), small_env(split="test", goals=2), small_env()
    assert same.catalogue() == env.catalogue()
    dearer = OpenShop(MemoryCatalogue(PRODUCTS, "small", seed=1, nouns=SimpleNouns()), TitleSearch(PRODUCTS))
    others = {each.catalogue() for each in (env, part, train, WebShopEnv(split="test", shop=dearer))}
    assert len(others) == 4


def test_what_finds_the_nouns_of_the_embedded_catalogue(monkeypatch, request):
    request.addfinalizer(opening._embedded.cache_clear)
    request.addfinalizer(opening._embedded_products.cache_clear)
    assert open_shop("embedded").shop.nouns_label == "rules v1"
    monkeypatch.setattr(opening, "find_nouns", lambda which: SimpleNouns() if which == "spacy" else RuleNouns())
    env = WebShopEnv(nouns="spacy")
    assert env.reset(seed=0)[1]["nouns"] == SimpleNouns.label
    assert WebShopEnv().reset(seed=0)[1]["nouns"] == "rules v1"
    with pytest.raises(ValueError, match="the ones it was built with"):
        WebShopEnv(source="official", nouns="rules")
