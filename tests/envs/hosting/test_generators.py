"""The random generator of an environment that lives elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eapo_gym.envs.branching import branch, resume
from eapo_gym.envs.hosting import HostedEnv
from eapo_gym.envs.hosting.generators import Loan
from eapo_gym.errors import HostingError
from tests.toys import Corridor

BARE = f"{Path(__file__).with_name('bare.py')}:Bare"


@pytest.fixture(scope="module")
def corridor():
    with HostedEnv("tests.toys:Corridor", {"rooms": 50}) as env:
        yield env


def tasks(env, count=8):
    return [env.reset()[1]["task"] for _ in range(count)]


def test_a_branch_takes_the_random_generator_along(corridor):
    corridor.reset(seed=5)
    saved = branch(corridor)
    after = [corridor.reset()[1]["task"] for _ in range(8)]
    resume(corridor, saved)
    assert [corridor.reset()[1]["task"] for _ in range(8)] == after


def test_what_is_drawn_on_the_host_is_drawn_in_the_tenant(corridor):
    local = Corridor(50)
    for env in (local, corridor):
        env.reset(seed=8)
    assert corridor.np_random.integers(1 << 60, size=5).tolist() == local.np_random.integers(1 << 60, size=5).tolist()
    assert tasks(corridor) == tasks(local)


def test_a_call_that_could_not_be_sent_takes_nothing_with_it(corridor):
    local = Corridor(50)
    for env in (local, corridor):
        env.reset(seed=8)
        env.np_random.random()
        with pytest.raises(TypeError):
            env.step(object())
    assert tasks(corridor) == tasks(local)


def test_a_generator_can_be_put_in(corridor):
    local = Corridor(50)
    for env in (local, corridor):
        env.reset(seed=8)
        env.np_random = np.random.Generator(np.random.PCG64(99))
        assert env.np_random_seed == -1
    assert tasks(corridor) == tasks(local)
    assert corridor.np_random_seed == -1


def test_the_seed_is_known_until_the_generator_is_replaced(corridor):
    corridor.reset(seed=123)
    assert corridor.np_random_seed == 123


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox])
def test_a_loan_draws_what_the_lender_would(kind):
    lender = np.random.Generator(kind(5))
    loan = Loan.of({"state": lender.bit_generator.state, "seed": None})
    assert loan.seed == -1
    assert loan.generator.integers(1 << 60, size=5).tolist() == lender.integers(1 << 60, size=5).tolist()


def test_what_is_no_generator_of_numpy_is_refused():
    for name in ("Generator", "default_rng", "NoSuch"):
        with pytest.raises(HostingError, match="expected one of NumPy's bit generators"):
            Loan.of({"state": {"bit_generator": name}, "seed": 1})


def test_where_the_tenant_has_none_the_host_has_one_of_its_own():
    with HostedEnv(BARE) as env:
        env.reset(seed=4)
        first = env.np_random.integers(1 << 60)
        env.step("count")
        second = env.np_random.integers(1 << 60)
        env.reset(seed=4)
        assert env.np_random.integers(1 << 60) == first != second
