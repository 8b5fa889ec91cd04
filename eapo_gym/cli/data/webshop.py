"""`eapo-gym data webshop`: the benchmark's files, fetched or brought along; the catalogue and search index of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from eapo_gym.cli.data.fetching import FetchError, RemoteFile, fetch
from eapo_gym.cli.terminal import console, plain, stoppable
from eapo_gym.cli.training_tables import bar

if TYPE_CHECKING:
    from eapo_gym.envs.webshop.catalogue import CatalogueFiles

FILES = "files"
"""The folder for what is fetched, beside what is built of it."""

SMALL = ("items_shuffle_1000.json", "items_ins_v2_1000.json", "items_human_ins.json")
FULL = ("items_shuffle.json", "items_ins_v2.json", "items_human_ins.json")

# The benchmark publishes no checksums. These sizes and digests are those of its files as several people have mirrored
# them independently: the page of huggingface.co/datasets/Ricardo-H/webshop-data has those of the small catalogue and of
# the human instructions, the scripts of github.com/armaanamatya/openresearch (asset_prestage.py) those of the full one,
# compared over three mirrors; other scripts on GitHub have the same. That of items_ins_v2_1000.json was compared with a
# copy of the file; the others have not been, as nothing could be fetched where this was written.
CONTENTS = {
    "items_shuffle_1000.json": (4_467_013, "30a4765c3a327af72d9a9a95a6b2486d516f0fa1d3ecd83681901ce82a21b269"),
    "items_ins_v2_1000.json": (147_099, "f88a36314a397b53b3d9c3fa5878e5f7b26d35019a51ec83fbedeca61a948f6f"),
    "items_shuffle.json": (5_479_720_229, "2ef591d65df3af89e972ab72468eb82cbf124d876552d9f3678667edd620a6c8"),
    "items_ins_v2.json": (186_295_270, "1d36af476bdb8f82a5da62bd8acdabe54cd8de2fa84010d37da5c4890feb447e"),
    "items_human_ins.json": (5_137_548, "cf78667548a71786e1d9049c24b802e48e1084ad4bb021cae56ce1f6d96954a3"),
}

# Found with these revisions in scripts/validation/webshop of github.com/huailishang/agentic-payment-trust-lab, and
# without them, for all five files, in asset_prestage.py (see above). Ricardo-H's has the small catalogue alone.
MIRRORS = (
    "https://huggingface.co/datasets/YWZBrandon/webshop-data/resolve/ce990fff5aee388db2706f07820c578ab68e0453",
    "https://huggingface.co/datasets/HongbangYuan/webshop/resolve/0129d4a81dbdb827e76afd20a1e2c38b61098613",
)
SMALL_MIRRORS = ("https://huggingface.co/datasets/Ricardo-H/webshop-data/resolve/main",)

# From setup.sh of the benchmark, github.com/princeton-nlp/WebShop. They come last: by the page of Ricardo-H's mirror
# these files are not there any more (404), and before that they were often over their quota.
DRIVE = {
    "items_shuffle_1000.json": "1EgHdxQ_YxqIQlvvq5iKlCrkEKR6-j0Ib",
    "items_ins_v2_1000.json": "1IduG0xl544V_A_jv3tHXC0kyFi7PnyBu",
    "items_shuffle.json": "1A2whVgOO0euk5O13n2iYDM0bQRkkRduB",
    "items_ins_v2.json": "1s2j6NgHljiZzQNL3veZaAiyW_qDEgBNi",
    "items_human_ins.json": "14Kb5SPBk_jfdLZ_CDBNitW98QLDlKR5O",
}

ADVICE = (
    "Run the same command again later, name a mirror of your own with --mirror URL, or build from files that you have "
    "with --from FOLDER."
)


def get_data(
    origin: Path | None,
    into: Path | None,
    *,
    full: bool | None,
    mirrors: Sequence[str] = (),
    products: int | None = None,
    seed: int = 0,
) -> None:
    """Fetch the small catalogue's files, or the full one's, unless a folder has them; then build what is played."""
    from eapo_gym.envs.webshop.catalogue import CatalogueFiles
    from eapo_gym.envs.webshop.opening import data_folder

    into = (into or data_folder()).expanduser().absolute()
    with stoppable(into):
        if origin is None:
            download(FULL if full else SMALL, into / FILES, mirrors)
            files = CatalogueFiles.in_folder(into / FILES, full=bool(full))
        else:
            files = CatalogueFiles.in_folder(origin.expanduser(), full=full)
        build(files, into, products, seed)


def download(names: Sequence[str], folder: Path, mirrors: Sequence[str] = ()) -> None:
    """Bring files into a folder; those that are there are only verified."""
    from eapo_gym.envs.webshop.building import claimed

    say = console(stderr=True)
    with claimed(folder), bar("MB") as show:
        for name in names:
            fetch(
                _remote(name, mirrors),
                folder,
                lambda what, done, size: show(done // 1_000_000, -(-size // 1_000_000), what),
                lambda sentence: say.print(plain(sentence), soft_wrap=True),
                ADVICE,
            )


def _remote(name: str, mirrors: Sequence[str]) -> RemoteFile:
    for mirror in mirrors:
        if urlsplit(mirror).scheme not in ("http", "https") or urlsplit(mirror).query:
            raise FetchError(
                f"--mirror {mirror}: expected the address of a folder, as in https://example.org/webshop, which has "
                f"{name} in it."
            )
    size, sha256 = CONTENTS[name]
    folders = (*mirrors, *MIRRORS, *(SMALL_MIRRORS if name in SMALL else ()))
    sources = [f"{folder.rstrip('/')}/{quote(name)}" for folder in folders]
    if name in DRIVE:
        sources.append(f"https://drive.google.com/uc?export=download&id={DRIVE[name]}")
    return RemoteFile(name, size, sha256, sources)


def build(files: CatalogueFiles, into: Path, products: int | None, seed: int) -> None:
    """Build catalogue and index, and say what came of it."""
    from eapo_gym.envs.webshop.building import build_official
    from eapo_gym.envs.webshop.goals import KINDS
    from eapo_gym.envs.webshop.opening import DATA_VARIABLE, data_folder

    with bar("products") as tell:
        catalogue, built = build_official(
            files, into, most=products, seed=seed, progress=lambda what, done: tell(done, products, what)
        )
    say = console()
    if not built:
        say.print(plain(f"It was built from these files already, nothing is left to do in {into}."), soft_wrap=True)
    goals = ", ".join(f"{len(catalogue.goals(kind)):,} {kind}" for kind in KINDS)
    say.print(plain(f"{catalogue.label}: {len(catalogue):,} products; goals: {goals}"), soft_wrap=True)
    tally = catalogue.note["tally"]
    if left_out := tally["unnamed"] + tally["duplicates"]:
        say.print(
            plain(f"left out, as in the benchmark: {left_out:,} ({tally['duplicates']:,} were there already)"),
            soft_wrap=True,
        )
    say.print(plain(f"nouns of titles: {catalogue.nouns_label}"), soft_wrap=True)
    if into != data_folder().absolute():
        say.print(plain(f"To use this catalogue: export {DATA_VARIABLE}={into}"), soft_wrap=True)
