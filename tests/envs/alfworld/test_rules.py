"""Our statement of the household's rules: it says what the benchmark's says, and it plays."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from eapo_gym.envs.alfworld import pddl, rules
from eapo_gym.envs.alfworld.data import data_folder
from eapo_gym.envs.alfworld.generator import generate, rulebook
from eapo_gym.envs.alfworld.grammar import Each, Symbol, Text, TextGrammar, parse_grammar
from eapo_gym.envs.alfworld.rulebook import conjunctions, split_task

ARCHIVE = Path(__file__).parents[4] / "shared/data/alfworld/json_2.1.1_games.tar.xz"

Meaning = dict[str, object]


def meaning_of_domain(text: str, impossible: frozenset[str] = frozenset()) -> Meaning:
    """What the actions of a domain do, however it is put: alternatives as sets, without those that can never hold.

    An alternative never holds if it speaks of a thing of an undeclared type, or of one of the `impossible` constants.
    """
    domain = pddl.parse_domain(text)

    def ways(condition: pddl.Condition, action: pddl.Action) -> frozenset[object]:
        return frozenset(
            frozenset(way)
            for way in conjunctions(condition, action.parameters)
            if not any(
                arg in impossible if isinstance(arg, str) else arg[1] not in domain.types
                for literal in way
                for arg in literal.args
            )
        )

    return {
        name: (
            action.parameters,
            ways(action.precondition, action),
            frozenset((effect.atom, effect.value, ways(effect.condition, action)) for effect in action.effects),
        )
        for name, action in domain.actions.items()
    }


def meaning_of_grammar(text: str, actions: set[str]) -> Meaning:
    """What the actions are called and what is said of them, with all symbols written out."""
    grammar = parse_grammar(split_task(text)[0])
    return {
        "intro": written_out((Symbol("intro"),), grammar),
        **{
            symbol: written_out((Symbol(symbol),), grammar)
            for symbol in ("list_empty", "list_separator", "list_last_separator")
        },
        **{
            name: (written_out(spelling.template, grammar), written_out(spelling.feedback, grammar))
            for name, spelling in grammar.actions.items()
            if name in actions
        },
    }


def written_out(text: Text, grammar: TextGrammar) -> tuple[object, ...]:
    parts: list[object] = []
    for part in pieces(text, grammar):
        if isinstance(part, str) and parts and isinstance(parts[-1], str):
            parts[-1] += part
        else:
            parts.append(part)
    return tuple(parts)


def pieces(text: Text, grammar: TextGrammar) -> Iterator[object]:
    for part in text:
        if isinstance(part, Symbol):
            choices = []
            for alternative in grammar.alternatives(part.name):
                choices.append((alternative.condition, written_out(alternative.text, grammar)))
                if not alternative.condition:
                    break  # nothing behind it is ever chosen
            if choices[0][0]:
                yield "one of", *choices
            else:
                yield from choices[0][1]
        elif isinstance(part, Each):
            inner = written_out((part.part,), grammar) if isinstance(part.part, Symbol) else part.part
            yield "each", inner, part.query, part.listed
        else:
            yield part


def real_game() -> dict[str, str]:
    """The content of one of the benchmark's own game files."""
    path = next(data_folder().glob("json_2.1.1/*/*/*/game.tw-pddl"), None)
    if path is not None:
        return json.loads(path.read_bytes())
    if ARCHIVE.is_file():
        with tarfile.open(ARCHIVE) as archive:
            for member in archive:
                if member.name.endswith("game.tw-pddl"):
                    return json.loads(archive.extractfile(member).read())
    pytest.skip("no game file of the benchmark is here: set ALFWORLD_DATA, or run 'eapo-gym data alfworld'")


def installed_rules() -> tuple[str, str]:
    """The domain and the text grammar that the alfworld package ships."""
    find = (
        "import importlib.util as u; s = u.find_spec('alfworld'); print(s.submodule_search_locations[0] if s else '')"
    )
    reference = os.environ.get("EAPO_REFERENCE_PYTHON")
    if reference:
        answer = subprocess.run([reference, "-c", find], capture_output=True, text=True, timeout=60, check=True)
        folder = answer.stdout.strip()
    else:
        spec = importlib.util.find_spec("alfworld")
        folder = spec.submodule_search_locations[0] if spec else ""
    if not folder:
        pytest.skip("alfworld is not installed: pip install 'eapo-gym[alfworld]', or set EAPO_REFERENCE_PYTHON")
    data = Path(folder) / "data"
    return (data / "alfred.pddl").read_text(), (data / "alfred.twl2").read_text()


def test_the_domain_means_what_the_benchmark_s_game_files_mean() -> None:
    ours, theirs = meaning_of_domain(rules.domain_text()), meaning_of_domain(real_game()["pddl_domain"])
    assert ours.keys() == theirs.keys()
    for action, meaning in theirs.items():
        assert ours[action] == meaning, action


def test_the_grammar_says_what_the_benchmark_s_game_files_say() -> None:
    game = real_game()
    actions = set(pddl.parse_domain(game["pddl_domain"]).actions)
    ours = meaning_of_grammar(rules.grammar_text(), actions)
    theirs = meaning_of_grammar(game["grammar"], actions)
    assert ours.keys() == theirs.keys()
    for part, meaning in theirs.items():
        assert ours[part] == meaning, part


def test_the_rules_are_those_that_the_alfworld_package_ships() -> None:
    domain, grammar = installed_rules()
    # The package has dropped an alternative that the games still have, and that never holds: no receptacle is a sink.
    never = frozenset({"sinktype"})
    theirs = meaning_of_domain(domain, never)
    assert meaning_of_domain(rules.domain_text(), never) == theirs
    assert meaning_of_grammar(rules.grammar_text(), set(theirs)) == meaning_of_grammar(grammar, set(theirs))


def test_a_change_of_a_rule_changes_its_meaning() -> None:
    domain, grammar = rules.domain_text(), rules.grammar_text()
    actions = set(meaning_of_domain(domain))
    for old, new in (("(not (holdsAny ?a))))", "))"), ("SinkBasinType", "BathtubBasinType"), ("(not (isHot ?o))", "")):
        assert old in domain
        assert meaning_of_domain(domain.replace(old, new)) != meaning_of_domain(domain), old
    for old, new in (
        ("is closed.", "is shut."),
        ("opened(r:receptacle)", "openable(r:receptacle)"),
        ('", and "', '", "'),
    ):
        assert old in grammar
        assert meaning_of_grammar(grammar.replace(old, new), actions) != meaning_of_grammar(grammar, actions), old


def test_every_predicate_is_declared_and_every_symbol_is_used() -> None:
    domain, grammar = pddl.parse_domain(rules.domain_text()), parse_grammar(rules.grammar_text())
    used = {effect.atom.predicate for action in domain.actions.values() for effect in action.effects}
    used |= {atom.predicate for action in domain.actions.values() for atom in pddl.atoms(action.precondition)}
    texts = [text for spelling in grammar.actions.values() for text in (spelling.template, spelling.feedback)]
    asked = {literal.predicate for text in (*texts, (Symbol("intro"),)) for q in grammar.queries(text) for literal in q}
    assert used | {name.removeprefix("not_") for name in asked} == domain.predicates.keys()
    assert grammar.actions.keys() == domain.actions.keys()
    reached, waiting = {"list_empty", "list_separator", "list_last_separator"}, [*texts, (Symbol("intro"),)]
    while waiting:
        for part in waiting.pop():
            symbol = part.part if isinstance(part, Each) else part
            if isinstance(symbol, Symbol) and symbol.name not in reached:
                reached.add(symbol.name)
                waiting += [alternative.text for alternative in grammar.alternatives(symbol.name)]
    assert reached == grammar.symbols.keys()


def test_the_task_takes_the_placeholder_s_place() -> None:
    assert rules.grammar_text().count(rules.TASK_PLACEHOLDER) == 1
    assert split_task(rules.grammar_for("put some mug on shelf.")) == (rules.grammar_for(""), "put some mug on shelf.")


def test_things_happen_as_the_rules_say() -> None:
    """A walk through a kitchen that uses most of the rules, with what the benchmark's games answer to such commands."""
    game = next(
        made.compile()
        for made in map(generate, range(1000))
        if made.task.type == "pick_heat_then_place_in_recep"
        and made.task.object == "Potato"
        and made.plan[0] == "go to fridge 1"
        and made.task.receptacle == "GarbageCan"
    )
    state, potato = game.start(), ""

    def do(command: str) -> str:
        nonlocal state
        state, text, valid = game.step(state, command.format(potato=potato))
        assert valid == (text != "Nothing happens."), command
        return text

    assert do("examine fridge 1") == "Nothing happens."
    assert do("go to fridge 1") == "You arrive at fridge 1. The fridge 1 is closed."
    assert do("look").startswith("You are facing the fridge 1. Next to it, you see ")
    opened = do("open fridge 1")
    assert opened.startswith("You open the fridge 1. The fridge 1 is open. In it, you see a ")
    potato = next(word for word in opened.rstrip(".").replace(" and ", " ").split(", ") if "potato" in word)[-8:]
    assert do("open fridge 1") == "Nothing happens."
    assert do("examine {potato}") == "Nothing happens."  # only what is held can be
    assert do("take {potato} from fridge 1") == f"You pick up the {potato} from the fridge 1."
    assert do("examine {potato}") == f"There's nothing special about {potato}."
    assert do("inventory") == f"You are carrying: a {potato}."
    assert do("cool {potato} with fridge 1") == f"You cool the {potato} using the fridge 1."
    assert do("examine {potato}") == f"This is a cold {potato}."
    assert do("close fridge 1") == "You close the fridge 1."
    assert do("move {potato} to fridge 1") == "Nothing happens."
    do("go to microwave 1")
    assert do("heat {potato} with microwave 1") == f"You heat the {potato} using the microwave 1."
    assert do("examine {potato}") == f"This is a hot {potato}."
    do("go to sinkbasin 1")
    assert do("clean {potato} with sinkbasin 1") == f"You clean the {potato} using the sinkbasin 1."
    assert do("examine {potato}") == f"This is a hot and clean {potato}."
    do("go to garbagecan 1")
    assert not game.won(state)
    assert do("move {potato} to garbagecan 1") == f"You move the {potato} to the garbagecan 1."
    assert game.won(state)
    assert do("inventory") == "You are not carrying anything."
    assert do("help").lstrip().startswith("Available commands:\n")


def test_the_rulebook_is_read_once() -> None:
    assert rulebook() is rulebook()
