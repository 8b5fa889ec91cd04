from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from eapo_gym.bench.pictures import Pictures
from eapo_gym.errors import MissingData

pytest.importorskip("PIL", reason="needs Pillow")


def random_picture(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (20, 30, 3), dtype=np.uint8)


def test_pictures_are_named_after_their_content_and_kept_without_loss(tmp_path: Path) -> None:
    pictures = Pictures(tmp_path)
    one, other = random_picture(0), random_picture(1)
    name = pictures.save(one)
    assert Pictures(tmp_path).save(one.copy()) == name
    assert pictures.save(other) != name
    assert pictures.save(one.reshape(30, 20, 3)) != name, "the same bytes in another shape"
    assert (pictures.load(name) == one).all()
    assert len(list(tmp_path.iterdir())) == 3


def test_several_threads_may_save_the_same_picture(tmp_path: Path) -> None:
    pictures = Pictures(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(lambda i: pictures.save(random_picture(i % 3)), range(48)))
    assert len(set(names)) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(set(names))


@pytest.mark.parametrize("name", ["nothing.webp", "../secret.webp", "/etc/passwd"])
def test_only_its_own_pictures_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.webp").write_bytes(b"x")
    with pytest.raises(MissingData, match="is not in"):
        Pictures(tmp_path / "images").load(name)


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    for wrong in (random_picture(0)[:, :, 0], random_picture(0).astype(float)):
        with pytest.raises(ValueError, match=r"shape \(h, w, 3\)"):
            Pictures(tmp_path).save(wrong)
