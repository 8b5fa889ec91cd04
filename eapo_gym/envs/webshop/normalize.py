"""The colours that the benchmark knows, for which any shade will do.

The list is a fact of the benchmark (`COLOR_SET` of its engine; Yao et al. 2022, MIT licence): the reward of a purchase
depends on which words are in it, and on their order.
"""

from __future__ import annotations

from functools import lru_cache

COLOURS = tuple(
    """
    alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown burgundy camel camo
    caramel champagne charcoal cheetah chestnut chocolate christmas coffee cognac copper coral cranberry cream crystal
    dark denim eggplant elephant espresso fuchsia gold granite grape graphite grass gray green grey heather indigo ivory
    ivy khaki lavender lemon leopard light lilac lime magenta maroon mauve merlot midnight mint mocha multicolor
    mushroom mustard natural navy nude olive orange peach pewter pink plum purple rainbow red rose royal rust sand
    sapphire seashell silver skull slate steel stone stonewash sunflower tan taupe teal tiger turquoise violet walnut
    wheat white wine yellow
    """.split()  # noqa: SIM905
)


@lru_cache(maxsize=65536)
def plain_option(value: str) -> str:
    """The first colour that the value contains as letters ("tan" also in "standard"), else the value itself."""
    return next((colour for colour in COLOURS if colour in value), value)


@lru_cache(maxsize=65536)
def plain_pair(name: str, value: str) -> str:
    """What the benchmark compares where a goal names an option and its value: the pair is looked at as a whole.

    It has a colour only where the name or the value is one, to the letter. Otherwise it is compared as it prints, so
    that the option's name counts among the words.
    """
    return next((colour for colour in COLOURS if colour in (name, value)), str((name, value)))
