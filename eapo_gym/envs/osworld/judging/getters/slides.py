"""Sounds and backgrounds inside of presentations."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlparse
from xml.etree import ElementTree

from eapo_gym.envs.osworld.judging.getters.files import MACHINE, inside, one_from_machine
from eapo_gym.envs.osworld.judging.office.guard import parsed_xml
from eapo_gym.envs.osworld.judging.registry import Scene, Unreadable
from eapo_gym.envs.osworld.judging.safe_files import packed

PRESENTATION = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"


def audio_in_slide(scene: Scene, config: Mapping[str, Any]) -> Path | None:
    """The first sound that a slide plays; None where it plays none."""
    parts, slide = _presentation(scene, config)
    return _related(scene, config, parts, slide, lambda relation: "audio" in relation.get("Type", ""))


def background_image_in_slide(scene: Scene, config: Mapping[str, Any]) -> Path | None:
    """The picture behind a slide; None where it has none of its own."""
    parts, slide = _presentation(scene, config)
    if slide not in parts:
        return None
    pictures = (
        picture.get(f"{RELATION}embed")
        for background in parsed_xml(parts[slide], slide).iter(f"{PRESENTATION}bgPr")
        for picture in background.iter(f"{DRAWING}blip")
    )
    number = next(pictures, None)
    if number is None:
        return None
    wanted = ("image", number)
    return _related(
        scene, config, parts, slide, lambda one: wanted[0] in one.get("Type", "") and one.get("Id") == wanted[1]
    )


def _presentation(scene: Scene, config: Mapping[str, Any]) -> tuple[dict[str, bytes], str]:
    """The parts of the file, and the name of that which is the slide."""
    path = str(config["ppt_file_path"])
    parts = packed(one_from_machine(scene, path, PurePosixPath(path).name))
    return parts, f"ppt/slides/slide{int(config['slide_index']) + 1}.xml"


def _related(
    scene: Scene,
    config: Mapping[str, Any],
    parts: Mapping[str, bytes],
    slide: str,
    is_it: Callable[[ElementTree.Element], bool],
) -> Path | None:
    """A file that the slide refers to: a part of the presentation, or another file of the machine."""
    folder, name = posixpath.split(slide)
    relations = f"{folder}/_rels/{name}.rels"
    if relations not in parts:
        return None
    found = filter(is_it, parsed_xml(parts[relations], relations).findall(f"{PACKAGE}Relationship"))
    relation = next(found, None)
    if relation is None:
        return None
    target = relation.get("Target", "")
    if target.startswith(".."):
        part = posixpath.normpath(posixpath.join(folder, target))
        if part not in parts:
            raise Unreadable(f"The presentation refers to {part!r}, which is not in it.")
        path = inside(scene.cache / MACHINE, f"parts/{part}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(parts[part])
        return path
    if not target.startswith("file://"):
        raise Unreadable(f"The presentation refers to {target!r}: expected a part of it or a file of the machine.")
    return one_from_machine(scene, unquote(urlparse(target).path), str(config["dest"]))


GETTERS = {"audio_in_slide": audio_in_slide, "background_image_in_slide": background_image_in_slide}
