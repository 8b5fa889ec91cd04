"""What somebody may be asked to buy: in a template's words, and in words like those of people."""

from __future__ import annotations

from eapo_gym.envs.webshop.generator.dice import Dice
from eapo_gym.envs.webshop.generator.families import Draft
from eapo_gym.envs.webshop.generator.kinds import Role
from eapo_gym.envs.webshop.generator.wording import (
    ASPECTS,
    HUMAN_DEMANDS,
    HUMAN_OPENERS,
    HUMAN_REASONS,
    OPTION_PHRASES,
    PARAPHRASES,
    TEMPLATE_OPENERS,
)
from eapo_gym.envs.webshop.products import Instruction


def template(draft: Draft, dice: Dice) -> Instruction:
    """Asks for the kind of product and most of its attributes; a goal adds options and price behind."""
    asked = _asked(draft, dice, share=0.9, most=6)
    text = f"{dice.pick(TEMPLATE_OPENERS)} {_noun_phrase(draft.kind.query, asked)}"
    return Instruction(text, tuple(value for _, value in asked))


def human(draft: Draft, dice: Dice) -> tuple[Instruction, ...]:
    """None, one, or two, no two of them alike."""
    count = dice.weighted({0: 4, 1: 3, 2: 3})
    made = [_human(draft, dice) for _ in range(count)]
    return tuple({instruction.text: instruction for instruction in made}.values())


def _human(draft: Draft, dice: Dice) -> Instruction:
    asked = _asked(draft, dice, share=0.4, most=3)
    wanted = []
    for name, values in draft.options.items():
        value = dice.pick(values)
        if name == draft.titled and draft.asks_for_last:
            wanted.append((name, values[-1]))
        elif dice.chance(0.7):
            wanted.append((name, value))
    write = dice.pick((_in_one_sentence, _in_one_sentence, _in_two_sentences))
    text = write(draft, asked, wanted, dice)
    return Instruction(text, tuple(value for _, value in asked), tuple(value for _, value in wanted))


def _asked(draft: Draft, dice: Dice, share: float, most: int) -> list[tuple[str, str]]:
    """Attributes to ask for: the one that siblings differ in, and some others."""
    others = [attribute for n, attribute in enumerate(draft.attributes) if n != draft.pivot and dice.chance(share)]
    return [draft.attributes[draft.pivot], *others][:most]


def _noun_phrase(noun: str, asked: list[tuple[str, str]]) -> str:
    """As in "gluten free, low sugar cookies with chia seeds for school lunches"."""
    is_, with_, for_ = _of_role(asked, "is"), _of_role(asked, "with"), _of_role(asked, "for")
    phrase = f"{', '.join(is_)} {noun}" if is_ else noun
    if with_:
        phrase += f" with {' and '.join(with_)}"
    return f"{phrase} for {' and '.join(for_)}" if for_ else phrase


def _of_role(asked: list[tuple[str, str]], role: Role) -> list[str]:
    return [value for aspect, value in asked if ASPECTS[aspect].role == role]


# As people write


def _in_one_sentence(draft: Draft, asked: list[tuple[str, str]], wanted: list[tuple[str, str]], dice: Dice) -> str:
    plain, said_otherwise = [], []
    for aspect, value in asked:
        if value in PARAPHRASES and dice.chance(0.5):
            said_otherwise.append(PARAPHRASES[value])
        else:
            plain.append((aspect, value))
    thing = _counted(draft.kind.ask, _noun_phrase(draft.form[1].lower(), plain))
    options = [OPTION_PHRASES[name].format(v=value) for name, value in wanted]
    return " ".join([dice.pick(HUMAN_OPENERS), thing, *options, " and ".join(said_otherwise)]).strip()


def _in_two_sentences(draft: Draft, asked: list[tuple[str, str]], wanted: list[tuple[str, str]], dice: Dice) -> str:
    thing = _counted(draft.kind.ask, draft.form[1].lower())
    demands = " and ".join(value for _, value in asked)
    text = f"{dice.pick(HUMAN_OPENERS)} {thing}, {dice.pick(HUMAN_REASONS)}. {dice.pick(HUMAN_DEMANDS)} {demands}"
    options = [OPTION_PHRASES[name].format(v=value) for name, value in wanted]
    return f"{text}, {' and '.join(options)} please" if options else text


def _counted(ask: str, phrase: str) -> str:
    if ask not in ("a", "an"):
        return f"{ask} {phrase}"
    sounds_open = phrase[0] in "aeiou" and not phrase.startswith(("one", "us"))
    return f"{'an' if sounds_open else 'a'} {phrase}"
