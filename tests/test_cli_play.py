from pathlib import Path

import pytest

from tests.command_line import ROOT, run, run_apart, set_up_machine

TOY = "tests.toys:Corridor"
TASK = ("--task", "train/key-in-1")


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    set_up_machine(monkeypatch, tmp_path)


def play(*lines: str, target: str = TOY, options: tuple[str, ...] = TASK) -> str:
    result = run("play", target, *options, input="\n".join(lines) + "\n")
    assert result.exit_code == 0, result.output
    return result.output


def test_a_game_is_played_by_number_and_by_command() -> None:
    # 1 light lamp, 2 look, 3 right
    output = play("3", "take key", "right", "right", "unlock door")
    assert "Goal: Unlock the door." in output
    assert "You are in room 1. You see a lamp that is off and a key." in output
    assert "Solved with step 5." in output
    assert "solved, 5 steps, exploration degree 0.00" in output


def test_a_game_is_played_from_a_pipe_without_a_terminal() -> None:
    result = run_apart("play", TOY, *TASK, input="right\ntake key\nright\nright\nunlock door\n")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "Solved with step 5." in result.stdout


def test_the_end_of_the_input_ends_the_game() -> None:
    result = run_apart("play", TOY, *TASK, input="right")
    assert result.returncode == 0, result.stderr
    assert "not solved, 1 steps" in result.stdout


def test_every_line_tells_visits_and_steps() -> None:
    output = play("look", "right", "left")
    assert "step 1 · κ 1" in output
    assert "step 2 · κ 0" in output
    assert "step 3 · κ 2" in output


def test_rollback_takes_back_and_says_where_it_cannot() -> None:
    output = play("right", "rollback", "light lamp", "rollback")
    assert "rollback held" in output
    assert "rollback did not hold: nothing takes back 'light lamp'" in output


def test_rollback_by_restore_takes_back_anything() -> None:
    output = play("light lamp", "rollback", options=(*TASK, "--rollback", "restore"))
    assert "rollback held" in output


def test_a_near_miss_is_pointed_out_and_costs_no_step() -> None:
    output = play("take keys", "unlock dor", "rihgt")
    assert "expected one like 'take key'" in output
    assert "Did you mean 'right'? That is number 3." in output
    assert "step 1" not in output


def test_a_known_command_that_is_not_possible_here_is_sent_with_a_mark() -> None:
    output = play("right", "take kye", "!unlock door", "take key")
    assert "Did you mean 'take key'?" in output
    assert "Nothing happens." in output
    assert "step 3 · κ 0" in output


def test_a_person_keeps_notes() -> None:
    output = play("memory the key is in 1", "memory lamp off", "memory", "memory = only this", "memory", "memory clear")
    assert output.count("| the key is in 1") == 3
    assert output.count("| only this") == 2
    assert output.rstrip().splitlines()[-3].strip() == "(no notes)"


def test_numbers_that_are_none_and_empty_lines_do_nothing() -> None:
    output = play("0", "99", "", "help", "valid")
    assert "There is no action 0: expected a number from 1 to 3." in output
    assert "There is no action 99" in output
    assert "take back the last change" in output
    assert "step 1" not in output


def test_after_the_end_another_game_begins_on_request() -> None:
    way = ["right", "take key", "right", "right", "unlock door"]
    output = play(*way, "right", "again", "look", "next", "quit")
    assert "The episode is over: again, next or quit." in output
    assert output.count("train/key-in-1 ") >= 2
    assert "step 1 · κ 1" in output


def test_the_oracle_gives_hints_where_there_is_one() -> None:
    assert "No oracle knows this environment." in play("hint")
    output = play("hint", target="alfworld", options=("--seed", "3", "--split", "valid"))
    assert "to go)" in output


def test_hints_lead_through_a_game() -> None:
    from eapo_gym.cli.playing import hint, make_playable

    env = make_playable("alfworld", {"split": "valid"}, "inverse")
    _, info = env.reset(seed=5)
    for _ in range(30):
        _, _, terminated, _, info = env.step(hint(env).partition("   ")[0])
        if terminated:
            break
    assert info["won"]
    assert hint(env) == "The task is done."


def test_the_same_seed_draws_the_same_task() -> None:
    first, second = (play("quit", target="alfworld", options=("--seed", "11")) for _ in range(2))
    assert first == second


def test_the_environments_own_help_is_reached_by_its_mark() -> None:
    assert "Available commands" in play("!help", target="alfworld", options=("--seed", "1"))


def test_text_of_an_environment_cannot_steer_the_terminal(tmp_path: Path) -> None:
    module = tmp_path / "hostile.py"
    module.write_text(
        "from tests.toys import Corridor\n"
        "class Hostile(Corridor):\n"
        "    def describe(self):\n"
        "        return '[red]markup[/] \\x1b[2J\\x07 [unclosed'\n"
    )
    output = play("look", target=f"{module}:Hostile")
    assert "[red]markup[/]" in output
    assert "[unclosed" in output
    assert "\x1b" not in output


@pytest.mark.parametrize("target", [TOY, f"{ROOT}/tests/toys.py:Corridor"])
def test_arguments_reach_an_environment_of_ones_own(target: str) -> None:
    output = play("quit", target=target, options=("--split", "test", "--kwargs", "rooms=2"))
    assert "embedded/test" in output
    assert "test/key-in-" in output
