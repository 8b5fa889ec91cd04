"""How pages and people say things: sentences about attributes, and what is said in their stead."""

from __future__ import annotations

from eapo_gym.envs.webshop.generator.kinds import Aspect

ASPECTS = {
    "assembly": Aspect(
        "is",
        (
            "Setting up: {a}, as two of us found out with a stopwatch.",
            "We call it {a} and mean it.",
            "From box to use in minutes, {a} by design.",
        ),
    ),
    "back": Aspect(
        "is",
        (
            "Turn it over and you see why it stays put: {a}.",
            "The underside is {a} for safe steps.",
            "Below, {a}, so that it does not wander.",
        ),
    ),
    "base": Aspect(
        "with",
        (
            "Everything rests on {a}.",
            "A firm stand, thanks to {a}.",
            "Underneath you find {a} that takes the load.",
        ),
    ),
    "body": Aspect(
        "with",
        (
            "The body has {a}, which catches the eye by day as well.",
            "It stands out through {a}.",
            "Chosen for looks and for weight: {a}.",
        ),
    ),
    "care": Aspect(
        "is",
        (
            "Care label: {a}.",
            "Looking after it is simple: {a}, nothing more.",
            "To keep it fresh, {a} as the tag says.",
        ),
    ),
    "closure": Aspect(
        "with",
        (
            "It closes with {a} and stays closed.",
            "Thanks to {a} it is on and off in no time.",
            "The detail that people mention most is {a}.",
        ),
    ),
    "collar": Aspect(
        "with",
        (
            "A neat {a} frames the face.",
            "The {a} keeps its shape after washing.",
            "Finished with {a}.",
        ),
    ),
    "comfort": Aspect(
        "with",
        (
            "Hours later you will be thankful for {a}.",
            "Comfort comes from {a}.",
            "With {a} it is kind to the body.",
        ),
    ),
    "connection": Aspect(
        "with",
        (
            "It connects through {a}.",
            "There is {a}, so it works with what you have.",
            "No hunt for adapters: {a} is on board.",
        ),
    ),
    "content": Aspect(
        "with",
        (
            "What makes it different is {a}.",
            "Made with {a}, and you can taste it.",
            "Look at the list and you find {a} near the top.",
        ),
    ),
    "control": Aspect(
        "is",
        (
            "Handling is easy: {a}.",
            "Use it your way, {a} and all.",
            "It comes with {a} as a standard.",
        ),
    ),
    "cover": Aspect(
        "with",
        (
            "The surface you touch is {a}.",
            "Covered in {a} of good weight.",
            "We chose {a}, since it wears so well.",
        ),
    ),
    "diet": Aspect(
        "is",
        (
            "Yes, it is {a}.",
            "Suits your table, {a} as it is.",
            "Made on a line of its own, so that {a} is a fact and no slogan.",
        ),
    ),
    "effect": Aspect(
        "is",
        (
            "People come back for one reason: it is {a}.",
            "Known for being {a}.",
            "We aimed for {a} and tested until it was so.",
        ),
    ),
    "ethics": Aspect(
        "is",
        (
            "It goes without saying, but we say it: {a}.",
            "A clear conscience comes along, since it is {a}.",
            "Certified on the label: {a}.",
        ),
    ),
    "fabric": Aspect(
        "with",
        (
            "Made from {a} that feels good to the touch.",
            "The material is {a}, chosen for how it falls.",
            "We use {a} of a good weight.",
        ),
    ),
    "feature": Aspect(
        "is",
        (
            "A detail that counts: {a}.",
            "You asked for {a}, and here it is.",
            "Where others save, we did not: {a}.",
        ),
    ),
    "fit": Aspect(
        "is",
        (
            "The cut is {a}, so take your usual size.",
            "Cut for {a}, with room where you need it.",
            "If you like {a}, you have found it.",
        ),
    ),
    "frame": Aspect(
        "with",
        (
            "Built with {a} that does not give way.",
            "Its strength comes from {a}.",
            "You can tell {a} from a copy when you lift it.",
        ),
    ),
    "free": Aspect(
        "is",
        (
            "What is left out matters, too: {a}.",
            "It is {a}, as it should be.",
            "Read the small print and see that it is {a}.",
        ),
    ),
    "glass": Aspect(
        "with",
        (
            "The pane is {a} of even thickness.",
            "With {a} it is safe and pleasant to look at.",
            "We work with {a} only.",
        ),
    ),
    "hair": Aspect(
        "for",
        (
            "Made with {a} in mind.",
            "If you have {a}, this one is yours.",
            "It does the most for {a}.",
        ),
    ),
    "heel": Aspect(
        "with",
        (
            "It stands on a {a}.",
            "The {a} is glued and nailed.",
            "With a {a} that suits pavements.",
        ),
    ),
    "ingredient": Aspect(
        "with",
        (
            "The heart of the recipe is {a}.",
            "Enriched with {a}.",
            "A generous share of {a} does the work.",
        ),
    ),
    "jacket": Aspect(
        "with",
        (
            "Outside it has a {a} that lasts.",
            "The {a} stands up to being stepped on.",
            "Wrapped in a {a}.",
        ),
    ),
    "leg": Aspect(
        "with",
        (
            "The line is drawn by the {a}.",
            "A {a} goes with any shoe.",
            "Cut with a {a} that flatters.",
        ),
    ),
    "lining": Aspect(
        "with",
        (
            "Inside there is {a}, right to the edges.",
            "The {a} makes the difference on cold days.",
            "Lined throughout: {a}.",
        ),
    ),
    "look": Aspect(
        "is",
        (
            "The look is {a}, without overdoing it.",
            "A touch of {a} for your rooms.",
            "Drawn in the spirit of {a}.",
        ),
    ),
    "material": Aspect(
        "with",
        (
            "Made with {a} throughout.",
            "It owes its feel to {a}.",
            "We tried many materials and stayed with {a}.",
        ),
    ),
    "neck": Aspect(
        "with",
        (
            "The {a} leaves room for a necklace.",
            "A {a} gives it its character.",
            "Finished with a clean {a}.",
        ),
    ),
    "occasion": Aspect(
        "for",
        (
            "A good choice for {a}.",
            "Our customers love it for {a}.",
            "Keep one at hand for {a}.",
        ),
    ),
    "packing": Aspect(
        "is",
        (
            "How it comes: {a}.",
            "The packaging is {a}, to keep every bite fresh.",
            "Packed with thought: {a}.",
        ),
    ),
    "picture": Aspect(
        "is",
        (
            "What you see is {a}.",
            "The picture speaks for itself: {a}.",
            "Its strongest side is {a}.",
        ),
    ),
    "plug": Aspect(
        "is",
        (
            "The end that matters: {a}.",
            "It comes with {a} for a sure hold.",
            "Look closely at the contacts: {a}.",
        ),
    ),
    "power": Aspect(
        "with",
        (
            "It gets its energy through {a}.",
            "With {a} you are never left in the dark.",
            "It offers {a} as well.",
        ),
    ),
    "print": Aspect(
        "is",
        (
            "Each one is {a}.",
            "You can see that it is {a} when you come close.",
            "Made the long way: {a}.",
        ),
    ),
    "protection": Aspect(
        "is",
        (
            "It can take a lot: {a}.",
            "Accidents happen, so we made it {a}.",
            "Tested and found {a}.",
        ),
    ),
    "rise": Aspect(
        "with",
        (
            "Cut with a {a}.",
            "The {a} sits where it should.",
            "You get the {a} that so many ask for.",
        ),
    ),
    "room": Aspect(
        "for",
        (
            "It looks at home in any of these: {a}.",
            "Thought out for {a}.",
            "Many buy it for {a}.",
        ),
    ),
    "salt": Aspect(
        "is",
        (
            "Seasoned with care: {a}.",
            "On salt we have an opinion: {a}.",
            "The label says {a}.",
        ),
    ),
    "scenting": Aspect(
        "with",
        (
            "The nose meets {a} and nothing else.",
            "Blended with {a}.",
            "We rely on {a} alone.",
        ),
    ),
    "shade": Aspect(
        "with",
        (
            "The light passes a {a} and turns soft.",
            "A {a} sets the mood.",
            "Topped with a {a}.",
        ),
    ),
    "shape": Aspect(
        "is",
        (
            "The form is {a}.",
            "Drawn to be {a}.",
            "You will like how {a} it is.",
        ),
    ),
    "skin": Aspect(
        "for",
        (
            "Made with {a} in mind.",
            "A friend to {a}.",
            "We think of {a} when we mix it.",
        ),
    ),
    "sleeve": Aspect(
        "is",
        (
            "The arms are {a}.",
            "A {a} cut that leaves room to move.",
            "Drawn as a {a} piece.",
        ),
    ),
    "sole": Aspect(
        "with",
        (
            "Below there is a {a} with a firm grip.",
            "You walk on a {a}.",
            "The {a} is stitched as well as glued.",
        ),
    ),
    "sound": Aspect(
        "is",
        (
            "Close your eyes and hear it: {a}.",
            "The sound is tuned for {a}.",
            "With {a} as the big ones have it.",
        ),
    ),
    "source": Aspect(
        "is",
        (
            "Where it comes from matters to us: {a}.",
            "We buy what is {a}, and pay for it.",
            "The seal on the front says {a}.",
        ),
    ),
    "speed": Aspect(
        "is",
        (
            "It carries a lot: {a}.",
            "Rated {a} by an outside lab.",
            "No stutter, since it is {a}.",
        ),
    ),
    "storage": Aspect(
        "with",
        (
            "It makes room for your things with {a}.",
            "There is {a}, which keeps clutter out of sight.",
            "Handy in daily life: {a}.",
        ),
    ),
    "sugar": Aspect(
        "is",
        (
            "As for sweetness: {a}.",
            "Sweet enough all the same: {a}.",
            "We keep to {a}, and nobody misses a thing.",
        ),
    ),
    "surface": Aspect(
        "is",
        (
            "The finish is {a}.",
            "Daily life leaves few marks, as it is {a}.",
            "You will find that it is {a}.",
        ),
    ),
    "switch": Aspect(
        "is",
        (
            "At the core: {a}.",
            "The feel comes from this: {a}.",
            "It is {a}, as lovers of good tools expect.",
        ),
    ),
    "taste": Aspect(
        "is",
        (
            "On the tongue: {a}.",
            "It is {a}, which you notice at once.",
            "Fans of {a} will be at home here.",
        ),
    ),
    "texture": Aspect(
        "is",
        (
            "The texture is {a}.",
            "The result: {a}, in every light.",
            "It looks {a} from near and far.",
        ),
    ),
    "toe": Aspect(
        "with",
        (
            "The {a} gives it its line.",
            "Drawn with a {a}.",
            "A {a} that does not press.",
        ),
    ),
    "top": Aspect(
        "with",
        (
            "It has a {a}.",
            "The {a} is what guests notice first.",
            "Finished with a {a}.",
        ),
    ),
    "upper": Aspect(
        "with",
        (
            "The upper is {a} of the better sort.",
            "Made of {a} that softens with time.",
            "Soft {a} hugs the foot.",
        ),
    ),
    "use": Aspect(
        "for",
        (
            "At its best for {a}.",
            "A good choice for {a}.",
            "Made for {a}, and handy elsewhere.",
        ),
    ),
    "wax": Aspect(
        "with",
        (
            "We pour {a} and nothing else.",
            "Made of {a}, which burns clean.",
            "The {a} comes from growers we know.",
        ),
    ),
    "weight": Aspect(
        "is",
        (
            "On the road it is {a}.",
            "Take it in your hand and feel it: {a}.",
            "Built to be {a}.",
        ),
    ),
    "wick": Aspect(
        "with",
        (
            "A {a} gives a calm flame.",
            "In the middle there is a {a}.",
            "Fitted with a {a}.",
        ),
    ),
}
"""By their names, what the kinds of product differ in."""

PARAPHRASES = {
    "adjustable shelves": "whose boards i can move up and down",
    "alcohol free": "without alcohol",
    "aluminum free": "without aluminum",
    "arch support": "that hold up the arches of my feet",
    "batteries included": "that comes with batteries",
    "breathable mesh": "made of mesh that lets air through",
    "cruelty free": "that was not tested on animals",
    "dairy free": "without any milk in it",
    "damaged hair": "for hair that has suffered",
    "daily wear": "that i can put on every day",
    "dimmable": "whose light i can turn down",
    "drawstring closure": "that i can tie with a string",
    "dry clean": "that goes to the cleaner's",
    "dry skin": "for skin that gets flaky",
    "easy to assemble": "that i can put together without help",
    "easy to carry": "that is no trouble to take along",
    "easy to clean": "that i can wipe off quickly",
    "easy to install": "that i can put on without help",
    "fast charging": "that fills up quickly",
    "faux leather": "that looks like leather but is not",
    "fragrance free": "without perfume",
    "fully assembled": "that comes in one piece",
    "gift basket": "that comes in a basket as a present",
    "gluten free": "without gluten",
    "gym workouts": "that i can wear to the gym",
    "hand wash only": "that i wash in the sink",
    "heavy bass": "with plenty of low end",
    "heavy duty": "that can take a lot",
    "height adjustable": "that i can raise and lower",
    "high waist": "that comes up to the navel",
    "home office": "for the room where i work from home",
    "individually wrapped": "where each one has its own wrapper",
    "keto friendly": "that fits a keto diet",
    "kickstand": "that can stand on its own leg",
    "lactose free": "without lactose",
    "leak proof": "that does not drip",
    "living room": "for the room with our sofa",
    "long lasting": "that stays all day",
    "long sleeve": "that covers my arms to the wrist",
    "low sodium": "without much salt",
    "low sugar": "without much sugar",
    "machine washable": "that can go in the washing machine",
    "machine wash": "that can go in the washing machine",
    "memory foam": "padded with foam that keeps my shape",
    "mid century": "that looks like the fifties",
    "moisture wicking": "that keeps sweat off my skin",
    "motion detection": "that notices when something moves",
    "night vision": "that sees in the dark",
    "noise cancelling": "that shuts out the noise around me",
    "non gmo": "without gene tech",
    "non slip": "that does not slide around",
    "nut free": "that is safe with a nut allergy",
    "paraben free": "without parabens",
    "plant based": "without anything from animals",
    "quick drying": "that dries fast",
    "resealable bag": "in a bag that i can close again",
    "room darkening": "that keeps the sun out",
    "rubber sole": "soled with rubber",
    "sensitive skin": "for skin that reddens easily",
    "short sleeve": "that leaves my lower arms bare",
    "slip resistant": "that keep me on my feet on wet floors",
    "solid wood": "made of real wood all through",
    "soy free": "without soy",
    "stainless steel": "made of steel that does not rust",
    "sugar free": "without sugar",
    "sulfate free": "without sulfates",
    "teeth whitening": "that makes my teeth whiter",
    "tempered glass": "made of hardened glass",
    "two way audio": "that i can talk through",
    "usda organic": "with the organic seal",
    "waterproof": "that survives being dropped in a pool",
    "water resistant": "that keeps light rain out",
    "wireless bluetooth": "that connects without a wire",
    "wireless charging": "that charges without a plug",
    "wrinkle free": "that needs no iron",
}
"""What people say for an attribute; behind the name of the thing."""

OPTION_PHRASES = {
    "color": "in {v}",
    "size": "in size {v}",
    "style": "in the {v} style",
    "flavor name": "in the {v} flavor",
    "scent": "in the {v} scent",
    "pattern name": "with the {v} pattern",
    "item shape": "in the {v} shape",
    "number of items": "packed as {v}",
}
"""How people ask for the value of an option."""

TEMPLATE_OPENERS = ("I want to buy", "Please look for", "Shop for", "Get me", "We need to order")
"""How templates begin; none of their sentences ends with a full stop, since options and price follow."""

HUMAN_OPENERS = (
    "i need",
    "i'm looking for",
    "can you find me",
    "show me",
    "i would like to buy",
    "help me find",
    "do you have",
    "i want to order",
    "my sister wants",
    "we are after",
)
HUMAN_REASONS = (
    "my old one gave up last week",
    "it is for a birthday",
    "i saw something like it at a friend's place",
    "i have been putting this off for months",
    "we are moving soon",
    "a neighbor told me about it",
)
"""What people tell besides, before they come to the point."""

HUMAN_DEMANDS = ("what matters to me:", "must have:", "what i care about:", "please make sure of")

BRAND_STARTS = (
    "Aldr", "Bremb", "Calv", "Dorv", "Elvin", "Farn", "Gildr", "Heskr", "Ivorn", "Jarsk", "Kelmb", "Lorv",
    "Mirtv", "Nolv", "Orsk", "Peldr", "Quorm", "Ruskv", "Selv", "Tavr", "Ulmer", "Vaskr", "Wendr", "Yarl", "Zephr",
)  # fmt: skip
BRAND_ENDS = (
    "ano", "aque", "ora", "endo", "ix", "umo", "eth", "ova", "isk", "enne", "ory", "allo", "ette", "ulin", "and",
    "os", "imar", "ero", "uvia", "atta",
)  # fmt: skip
"""Halves of brands that are all made up."""

TITLE_WORDS = {
    "3d": "3D", "4k": "4K", "abs": "ABS", "bpa": "BPA", "gmo": "GMO", "hd": "HD", "hdmi": "HDMI", "led": "LED",
    "mah": "mAh", "mct": "MCT", "ph": "pH", "tv": "TV", "usb": "USB", "usda": "USDA",
    "and": "and", "for": "for", "of": "of", "to": "to", "with": "with", "x": "x",
}  # fmt: skip
"""Words that titles do not write with one capital letter."""
