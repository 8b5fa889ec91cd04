"""Our verdicts on pictures, archives, sounds and films beside the benchmark's own."""

from __future__ import annotations

import io
import math
import struct
import tarfile
import wave
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter

from tests.envs.osworld.judging.benchmark import Case, assert_same_verdicts


def scene(width: int = 90, height: int = 70, seed: int = 0) -> Image.Image:
    """A picture with shapes, colours and some noise."""
    random = np.random.default_rng(seed)
    slope = np.linspace(30, 200, width)[None, :, None] + np.linspace(0, 40, height)[:, None, None]
    noise = random.integers(-8, 8, (height, width, 3)) + np.array([20, 0, -20])
    picture = Image.fromarray(np.clip(slope + noise, 0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    for _ in range(6):
        left, top = random.integers(0, width - 20), random.integers(0, height - 20)
        colour = tuple(int(value) for value in random.integers(0, 255, 3))
        draw.ellipse((left, top, left + random.integers(8, 20), top + random.integers(8, 20)), fill=colour)
    return picture


def triangle(at: tuple[int, int], size: int = 100) -> Image.Image:
    picture = Image.new("RGB", (size, size), "white")
    x, y = at
    ImageDraw.Draw(picture).polygon([(x - 15, y + 10), (x + 15, y + 10), (x, y - 20)], fill=(250, 240, 10))
    ImageDraw.Draw(picture).point((2, 2), fill="black")
    return picture


def drawn() -> dict[str, Image.Image]:
    base = scene()
    see_through = base.convert("RGBA")
    see_through.putalpha(Image.linear_gradient("L").resize(base.size).point(lambda value: 255 * (value > 99)))
    letters = Image.new("L", (120, 60), 255)
    ImageDraw.Draw(letters).text((2, 20), "Left", fill=0)
    right = Image.new("RGB", (120, 60), "white")
    ImageDraw.Draw(right).text((60, 20), "Right", fill=0)
    shape = Image.new("RGB", (60, 60), "white")
    ImageDraw.Draw(shape).ellipse((20, 20, 40, 40), fill="black")
    green = Image.new("RGB", (60, 60), (10, 200, 10))
    ImageDraw.Draw(green).ellipse((15, 15, 45, 45), fill="red")
    greener = Image.new("RGB", (60, 60), (10, 200, 10))
    ImageDraw.Draw(greener).ellipse((22, 22, 38, 38), fill="red")
    return {
        "base.png": base,
        "same.png": base.copy(),
        "base.jpg": base,
        "other.png": scene(seed=5),
        "darker.png": ImageEnhance.Brightness(base).enhance(0.6),
        "black.png": Image.new("RGB", base.size),
        "brighter.png": ImageEnhance.Brightness(base).enhance(1.4),
        "colourful.png": ImageEnhance.Color(base).enhance(1.5),
        "grey.png": base.convert("L"),
        "contrast.png": ImageEnhance.Contrast(base).enhance(1.6),
        "blurred.png": base.filter(ImageFilter.GaussianBlur(2)),
        "mirror.png": base.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
        "smaller.png": base.resize((45, 35)),
        "palette.png": base.quantize(64),
        "few colours.png": base.quantize(3),
        "see through.png": see_through,
        "nothing to see.png": Image.new("RGBA", base.size, (255, 0, 0, 0)),
        "tiny.png": base.resize((5, 5)),
        "left.png": letters,
        "right.png": right,
        "middle.png": triangle((50, 53)),
        "corner.png": triangle((20, 25)),
        "shape.png": shape,
        "green.png": green,
        "greener.png": greener,
    }


PAIRS = (
    *("compare_image_list", "check_brightness_decrease_and_structure_sim"),
    *("check_saturation_increase_and_structure_sim", "check_contrast_increase_and_structure_sim"),
    *("check_structure_sim", "check_structure_sim_resized", "check_palette_and_structure_sim", "check_image_mirror"),
    *("check_file_exists_and_structure_sim", "increase_saturation", "decrease_brightness"),
)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("pictures")
    for name, picture in drawn().items():
        picture.save(place / name)
    (place / "broken.png").write_bytes((place / "base.png").read_bytes()[:500])
    (place / "text.png").write_text("no picture")
    return {path.name: path for path in sorted(place.iterdir())}


def test_pictures_are_compared_as_by_the_benchmark(pictures: dict[str, Path]) -> None:
    anything: list[Any] = [*pictures.values(), None]
    alike = [
        *(Case("compare_images", one, pictures["base.png"]) for one in anything),
        *(Case("compare_images", one, pictures["base.png"], {"reference_base_result": 0.3}) for one in anything),
    ]
    # Pillow's resizing rounds otherwise from version to version, so what is resized is only nearly as alike.
    assert_same_verdicts("how alike pictures are", alike, within=5e-4)
    of_one_size = ("base.png", "other.png", "darker.png", "blurred.png", "grey.png", "palette.png", "text.png")
    assert_same_verdicts(
        "pictures of one size", [Case("compare_images", pictures[name], pictures["base.png"]) for name in of_one_size]
    )
    cases = [
        *(Case(metric, one, pictures["base.png"]) for metric in PAIRS for one in anything),
        *(Case("check_structure_sim", one, pictures["see through.png"]) for one in anything),
        Case("compare_image_list", [pictures["base.png"], pictures["grey.png"]], [pictures["same.png"]] * 2),
        Case("compare_image_list", [pictures["base.png"], None], [pictures["same.png"]] * 2),
    ]
    assert_same_verdicts("pictures and what was done to them", cases)


def test_what_is_in_pictures_is_judged_as_by_the_benchmark(pictures: dict[str, Path]) -> None:
    anything: list[Any] = [*pictures.values(), None]
    sizes: list[dict[str, Any]] = [{"height": 70}, {"width": 90, "height": 70}, {"width": 45}, {"height": None}, {}]
    cases = [
        *(Case("check_image_size", one, size) for one in anything for size in sizes),
        *(Case("check_image_size", one, {"ignore_transparent": True, "height": 43}) for one in anything),
        *(Case("check_image_file_size", one, {"max_size": 5000}) for one in anything),
        *(
            Case("check_triangle_position", pictures[name])
            for name in ("middle.png", "corner.png", "grey.png", "text.png")
        ),
        *(Case("check_triangle_position", pictures[name]) for name in ("base.png", "black.png", "see through.png")),
        *(Case("check_textbox_on_leftside", one) for one in anything),
        *(Case("check_green_background", one, pictures["shape.png"]) for one in anything),
        *(
            Case("check_sharper", pictures[name], pictures["base.png"])
            for name in ("blurred.png", "contrast.png", "base.png")
        ),
    ]
    assert_same_verdicts("what is in pictures", cases)


def packed(path: Path, files: dict[str, bytes]) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return path
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def test_archives_are_compared_as_by_the_benchmark(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    scene().save(buffer, "png")
    one = {"a.txt": b"one", "b.txt": b"two"}
    held: list[dict[str, bytes]] = [one, {**one, "b.txt": b"three"}, {**one, "c.txt": b""}, {"a.txt": b"one"}]
    held += [{f"in/{name}": content for name, content in one.items()}, {"in/a.txt": b"x", "in/b.txt": b"two"}, {}]
    archives: list[Any] = [
        packed(tmp_path / f"{number}{ending}", files)
        for number, files in enumerate(held)
        for ending in (".zip", ".tar.gz")
    ]
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 no archive")
    archives += [tmp_path / "broken.zip", None]
    images = packed(tmp_path / "images.zip", {"p.png": buffer.getvalue()})
    cases = [
        *(Case("compare_archive", found, archives[0]) for found in archives),
        *(Case("compare_archive", found, archives[8], {"file_path": "in"}) for found in archives[8:12]),
        Case("compare_archive", images, images, {"file_type": "image"}),
        Case("compare_archive", images, images, {"file_type": "unheard of"}),
        *(Case("compare_zip_files", found, archives[0]) for found in archives),
    ]
    assert_same_verdicts("archives", cases)


def test_books_are_compared_as_by_the_benchmark(tmp_path: Path) -> None:
    page = "<html><head><title>{0}</title></head><body><h1>{0}</h1>\n<p>Some words.</p><p>A &amp; B</p></body></html>"
    book = {
        "toc.ncx": b'<ncx>\n<navPoint id="1">\n<text>One</text>\n</ncx>',
        "content.opf": b"<package>\n<dc:identifier>1</dc:identifier>\n<dc:title>T</dc:title>\n</package>",
        "a.html": page.format("One").encode(),
        "b.html": page.format("Two").encode(),
        "style.css": b"p {}",
    }
    books: list[dict[str, bytes]] = [
        book,
        {**book, "content.opf": book["content.opf"].replace(b">1<", b">2<")},
        {**book, "b.html": page.format("Deux").encode()},
        {name: content for name, content in book.items() if name != "toc.ncx"},
        {"style.css": b""},
    ]
    files: list[Any] = [packed(tmp_path / f"{number}.zip", one) for number, one in enumerate(books)]
    (tmp_path / "no.epub").write_text("no book")
    found: list[Any] = [*files, tmp_path / "no.epub", None]
    assert_same_verdicts("books", [Case("compare_epub", one, files[0]) for one in found])


def test_pages_are_compared_as_by_the_benchmark(tmp_path: Path) -> None:
    row = '<tr><td sdnum="1;2" sdval="3">3</td><td>x</td></tr>'
    page = f'<html><body><table class="a b">{row}</table><!-- c --></body></html>'
    pages = [
        page,
        page.replace('"1;2"', '"1033;"'),
        page.replace(">x<", ">y<"),
        page.replace("td", "th"),
        page.replace(' sdval="3"', ""),
        page.replace("</tr>", "</tr>\n"),
        page.replace("<!-- c -->", "<!-- d -->"),
        page + "<p>more</p>",
        "<p>",
    ]
    for number, text in enumerate(pages):
        (tmp_path / f"{number}.html").write_text(text)
    cases = [
        Case("compare_htmls", tmp_path / f"{number}.html", tmp_path / "0.html", options)
        for number in range(len(pages))
        for options in ({}, {"ignore_sdnum": True})
    ]
    assert_same_verdicts("pages", [*cases, Case("compare_htmls", None, tmp_path / "0.html")])


def sound(path: Path, rate: int, tones: Sequence[float], each: float = 0.4) -> Path:
    """A mono file of so many tones, one after the other."""
    samples = [
        0.6 * math.sin(2 * math.pi * tone * index / rate) + 0.2 * math.sin(6 * math.pi * tone * index / rate)
        for tone in tones
        for index in range(int(rate * each))
    ]
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, len(samples), "NONE", ""))
        file.writeframes(struct.pack(f"<{len(samples)}h", *(int(30000 * sample) for sample in samples)))
    return path


def test_sounds_are_compared_as_by_the_benchmark(tmp_path: Path) -> None:
    pytest.importorskip("soundfile", reason="soundfile reads sounds, and is not installed")
    pytest.importorskip("soxr", reason="soxr brings sounds to one rate, and is not installed")
    tune = (440.0, 660.0, 550.0, 880.0)
    base = sound(tmp_path / "base.wav", 22050, tune)
    (tmp_path / "empty.wav").write_bytes(b"")
    (tmp_path / "broken.mp3").write_text("no sound")
    silent = sound(tmp_path / "none.wav", 22050, ())
    found: list[Any] = [
        base,
        sound(tmp_path / "slow.wav", 22050, tune, 0.6),
        sound(tmp_path / "rate.wav", 44100, tune),
        sound(tmp_path / "other.wav", 22050, (220.0, 300.0, 90.0)),
        sound(tmp_path / "short.wav", 22050, (440.0,), 0.01),
        *(tmp_path / "empty.wav", tmp_path / "broken.mp3", silent, None),
    ]
    cases = [Case("compare_audios", one, base) for one in found] + [Case("compare_audios", silent, found[6])]
    assert_same_verdicts("sounds", cases, within=2e-3)


def test_tags_of_sounds_are_judged_as_by_the_benchmark(tmp_path: Path) -> None:
    easyid3 = pytest.importorskip("mutagen.easyid3", reason="mutagen reads the tags of sounds, and is not installed")
    tagged = easyid3.EasyID3()
    tagged["artist"], tagged["title"] = ["Zhou Xuan", "Somebody"], "Night"
    tagged.save(tmp_path / "tagged.mp3")
    (tmp_path / "no.mp3").write_text("no sound")
    rules: list[dict[str, Any]] = [
        {"artist": {"method": "eq", "ref": "Zhou Xuan,Somebody"}, "title": {"method": "re", "ref": "^N"}},
        {"title": {"method": "eq", "ref": "Day"}},
        {"album": {"method": "eq", "ref": ""}},
    ]
    found: list[Any] = [tmp_path / "tagged.mp3", tmp_path / "no.mp3", None]
    assert_same_verdicts("tags of sounds", [Case("check_mp3_meta", one, rule) for one in found for rule in rules])


def test_films_are_compared_as_by_the_benchmark(tmp_path: Path) -> None:
    cv2 = pytest.importorskip("cv2", reason="opencv-python-headless reads films, and is not installed")

    def film(name: str, frames: Sequence[Image.Image]) -> Path:
        path = tmp_path / name
        writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 10, (96, 64))
        for frame in frames:
            writer.write(np.array(frame.resize((96, 64)))[:, :, ::-1])
        writer.release()
        return path

    frames = [scene(seed=number) for number in range(12)]
    change: Callable[[int], list[Image.Image]] = lambda many: [scene(seed=99)] * many + frames[many:]  # noqa: E731
    base = film("base.avi", frames)
    found = [base, film("short.avi", frames[:8]), film("few.avi", change(3)), film("many.avi", change(8))]
    cases = [Case("compare_videos", one, base) for one in found]
    cases += [Case("compare_videos", found[1], base, {"max_frames_to_check": 5})]
    assert_same_verdicts("films", cases)
