"""Tasks about pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from eapo_gym.envs.osworld.own.base import PICTURES, Params, Step, TaskDice, Template, launched
from eapo_gym.envs.osworld.own.checks import Part, all_of, beside, check, on_machine, rule
from eapo_gym.envs.osworld.own.making import words
from eapo_gym.envs.osworld.own.making.pictures import framed, png, scene
from eapo_gym.envs.osworld.own.seeing import Plan, Seeing

if TYPE_CHECKING:
    from PIL.Image import Image

CONFIG: Part = {"type": "gimp_config_file", "file_name": "gimprc", "dest": "gimprc"}


class GimpTask(Template):
    """Begins with a picture that is open."""

    domain: ClassVar[str] = "gimp"
    apps: ClassVar[tuple[str, ...]] = ("gimp",)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        colors = [list(words.COLORS[name]) for name in dice.sample(list(words.COLORS), 4)]
        size = (dice.between(30, 60) * 10, dice.between(20, 45) * 10)
        return {"file": f"{dice.own(words.NOUNS)}_{dice.between(10, 99)}", "size": size, "colors": colors}

    def place(self, params: Params) -> str:
        return f"{PICTURES}/{params['file']}.png"

    def picture(self, params: Params) -> Image:
        width, height = params["size"]
        return scene(width, height, [tuple(color) for color in params["colors"]])

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        return {self.place(params): png(self.picture(params))}

    def start(self, params: Params) -> Sequence[Step]:
        return launched(f"[{params['file']}]", "gimp", self.place(params))

    def wanted(self, params: Params) -> Image:
        """What the result is held against."""
        return self.picture(params)

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {"gold.png": png(self.wanted(params))}

    def against(self, params: Params, metric: str, place: str = "") -> dict[str, Any]:
        return check(metric, on_machine(place or self.place(params)), beside("gold.png"))


def run(hands: Seeing, said: str, action: str) -> Plan:
    """Find an action of the menus by words, and run the one that is meant; `action` is a pattern for its line."""
    yield hands.press("/")
    yield from hands.until_typing()
    yield hands.write(said)
    yield from hands.until(action, "table-cell")
    yield hands.click(action, "table-cell", how="double_click")


def overwrite(hands: Seeing) -> Plan:
    """Write the picture into the file from which it came."""
    yield from run(hands, "overwrite", "/Overwrite .*/")
    yield from hands.if_there("Export", "push-button", waits=3)
    yield hands.wait()


def export(hands: Seeing, place: str) -> Plan:
    yield hands.press("ctrl", "shift", "e")
    yield from hands.name_file(place)
    # The dialog for the quality lies over the one for the file, and both have this button.
    yield from hands.until("/Save Exif.*/", "check-box")
    yield from hands.tap("Export", "push-button")
    yield hands.wait()


class GimpScale(GimpTask):
    wordings = (
        "Scale the open picture to a width of {width} pixels (its height follows), and overwrite the file.",
        "The picture should be {width} pixels wide, in the same proportions. Resize it and write it back to its file.",
        "Make the image {width} px wide without distorting it, and export it over {file}.png.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        width, height = params["size"]
        return params | {"width": width // 2, "size": (width // 2 * 2, height // 2 * 2)}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        wanted = rule(width=params["width"], height=params["size"][1] // 2)
        return check("check_image_size", on_machine(self.place(params)), wanted)

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {}

    def _scale(self, hands: Seeing, width: int) -> Plan:
        yield from run(hands, "scale image", "/Scale Image.*/")
        yield from hands.until("Scale", "push-button")
        yield from hands.refill(f"{width}\t")
        yield from hands.tap("Scale", "push-button")

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._scale(hands, params["width"])
        yield from overwrite(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """The file is not written."""
        yield from self._scale(hands, params["width"])
        yield hands.done()


class GimpMirror(GimpTask):
    wordings = (
        "Mirror the picture (left becomes right) and overwrite the file.",
        "Flip the open image horizontally, and write it back to {file}.png.",
        "What is at the left in this picture should be at the right, and the other way round. Overwrite the file.",
    )

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.against(params, "check_image_mirror")

    def _flip(self, hands: Seeing, way: str) -> Plan:
        yield from run(hands, "flip", f"/{way}.*image.*/")
        yield from overwrite(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._flip(hands, "Flip Horizontally")

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._flip(hands, "Flip Vertically")


class GimpRotate(GimpTask):
    wordings = (
        "Turn the picture by 90 degrees {way} and overwrite the file.",
        "The photo lies on its side: rotate the whole image a quarter turn {way}, then write it back to {file}.png.",
        "Rotate the open image 90° {way}. The result replaces the file {file}.png.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"way": dice.pick(("clockwise", "counter-clockwise"))}

    def wanted(self, params: Params) -> Image:
        return self.picture(params).rotate(-90 if params["way"] == "clockwise" else 90, expand=True)

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        width, height = params["size"]
        size = check("check_image_size", on_machine(self.place(params)), rule(width=height, height=width))
        return all_of(size, self.against(params, "compare_image_list"))

    def _turn(self, hands: Seeing, way: str) -> Plan:
        yield from run(hands, "rotate 90", f"/Rotate 90° {way}.*the image.*/")
        yield from overwrite(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._turn(hands, params["way"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._turn(hands, "clockwise" if params["way"] != "clockwise" else "counter-clockwise")


class GimpInvert(GimpTask):
    wordings = (
        "Invert the colors of the picture, as in a negative, and overwrite the file.",
        "Make a negative of the open image and write it back to {file}.png.",
        "Every color should become its opposite. Apply that to the image and overwrite {file}.png.",
    )

    def wanted(self, params: Params) -> Image:
        from PIL import ImageChops

        return ImageChops.invert(self.picture(params))

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.against(params, "compare_image_list")

    def _invert(self, hands: Seeing, entry: str) -> Plan:
        yield from run(hands, "invert", f"/{entry}\nInvert the (components|value).*/")
        yield from overwrite(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._invert(hands, "Invert")

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """The brightness alone is inverted: the hues stay."""
        yield from self._invert(hands, "Value Invert")


class GimpIndexed(GimpTask):
    wordings = (
        "Convert the picture to indexed colors (a palette), and overwrite the file.",
        "The image should be palette-based instead of RGB. Convert it and write it back to {file}.png.",
        "Change the mode of the open image to Indexed, with the settings that are proposed; overwrite {file}.png.",
    )

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.against(params, "check_palette_and_structure_sim")

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from run(hands, "indexed", "/Indexed.*/")
        yield from hands.tap("Convert", "push-button")
        yield from overwrite(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from run(hands, "grayscale", "/Grayscale.*/")
        yield from overwrite(hands)
        yield hands.done()


class GimpExportJpeg(GimpTask):
    wordings = (
        "Export the picture as a JPEG file to {target}.",
        "I need a JPEG of this image: {target}. The quality may stay as it is proposed.",
        "Save the open image in JPEG format under {target}.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {
            "target": f"{PICTURES}/{dice.own(words.CITIES).lower()}_{dice.between(10, 99)}.jpg"
        }

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.against(params, "check_file_exists_and_structure_sim", params["target"])

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from export(hands, params["target"])
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from export(hands, params["target"].replace(".jpg", "_new.jpg"))
        yield hands.done()


class GimpCropBorder(GimpTask):
    wordings = (
        "Cut off the even {color} border around the picture and overwrite the file.",
        "The image has a {color} frame of one color on all sides. Crop the image to what is inside, then overwrite it.",
        "Remove the {color} margin by cropping the open image to its content. Write it back to {file}.png.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        inside = [tuple(color) for color in params["colors"]]
        color = dice.pick([name for name, value in words.COLORS.items() if value not in inside])
        return params | {"color": color, "border": dice.between(20, 60)}

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        picture = framed(self.picture(params), params["border"], words.COLORS[params["color"]])
        return {self.place(params): png(picture)}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        width, height = params["size"]
        size = check("check_image_size", on_machine(self.place(params)), rule(width=width, height=height))
        return all_of(size, self.against(params, "compare_image_list"))

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from run(hands, "crop to content", "/Crop to Content.*the image.*/")
        yield from overwrite(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """The size is right, but the picture was scaled instead of cropped."""
        width, height = params["size"]
        yield from run(hands, "scale image", "/Scale Image.*/")
        yield from hands.until("Scale", "push-button")
        yield from hands.refill(f"{width}\t{height}\t")
        yield from hands.tap("Scale", "push-button")
        yield from overwrite(hands)
        yield hands.done()


class GimpDarker(GimpTask):
    wordings = (
        "Make the picture somewhat darker and overwrite the file.",
        "The image is too bright. Turn its brightness down a little, and write it back to {file}.png.",
        "Lower the brightness of the open image without changing anything else; overwrite {file}.png.",
    )

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.against(params, "check_brightness_decrease_and_structure_sim")

    def _change(self, hands: Seeing, amount: int) -> Plan:
        yield from run(hands, "brightness", "/Brightness-Contrast.*/")
        yield from hands.tap("0", "spin-button")
        yield from hands.refill(f"{amount}\t")
        yield from hands.tap("OK", "push-button")
        yield from overwrite(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._change(hands, -30)

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._change(hands, 30)


class GimpUndoLevels(GimpTask):
    wordings = (
        "Let GIMP remember at least {levels} steps for undoing. It is in the preferences.",
        "Set the minimal number of undo levels to {levels} in GIMP's preferences.",
        "I want to be able to take back {levels} steps in GIMP. Change the setting for it.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"levels": dice.between(6, 90)}

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return check("check_config_status", CONFIG, rule(key="undo-levels", value=str(params["levels"])))

    def _set(self, hands: Seeing, levels: int) -> Plan:
        yield from run(hands, "preferences", "/Preferences.*/")
        yield from hands.tap("System Resources", "table-cell")
        yield from hands.tap_beside("Minimal number of undo levels:", "spin-button")
        yield from hands.refill(f"{levels}\t")

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._set(hands, params["levels"])
        yield from hands.tap("OK", "push-button")
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._set(hands, params["levels"])
        yield from hands.tap("Cancel", "push-button")
        yield hands.done()


TEMPLATES = (
    GimpScale, GimpMirror, GimpRotate, GimpInvert, GimpIndexed, GimpExportJpeg, GimpCropBorder, GimpDarker,
    GimpUndoLevels,
)  # fmt: skip
