"""`eapo-gym data osworld`: the benchmark's task files, fetched or brought along, and every one of them read.

They are put together beside the folder that is played from, and take its place when they are whole.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from eapo_gym.atomic import write_atomically
from eapo_gym.cli.data.archives import BROKEN, BadArchive, members, safe_parts
from eapo_gym.cli.terminal import console, plain, stoppable
from eapo_gym.cli.training_tables import bar
from eapo_gym.envs.osworld.download import DownloadError, download
from eapo_gym.envs.osworld.official import (
    ALL,
    DATA_VARIABLE,
    DOMAINS,
    DOWNLOAD,
    FOLDER,
    SMALL,
    OfficialTasks,
    data_folder,
)
from eapo_gym.envs.osworld.reading import LARGEST_FILE
from eapo_gym.envs.osworld.tasks import DesktopTask, TaskFileError

REVISION = "fc31a9049664292fcb35d6e501ee1dc839f2cf6d"
"""A commit of github.com/xlang-ai/OSWorld with the 369 tasks, by what github.com/e2b-dev/osworld-e2b says of it (in
validation/inventories/current-v1-all.json); nothing could be fetched where this was written."""

ARCHIVE = "https://github.com/xlang-ai/OSWorld/archive/{revision}.tar.gz"

LARGEST_ARCHIVE = 2 << 30
MOST_FILES = 5_000

INCOMING, OUTGOING = ".incoming", ".outgoing"
NOTE = "source.json"
"""Says, in the folder of the tasks, where they came from."""

_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,99})*")
_REFUSED_SHOWN = 20


def get_data(origin: Path | None, into: Path | None, *, revision: str | None = None) -> bool:
    """Fetch the tasks' files, or take those of a folder or an archive; True if every task can be read."""
    from eapo_gym.envs.webshop.building import claimed

    into = (into or data_folder()).expanduser().absolute()
    if origin is not None and revision is not None:
        raise BadArchive("--from and --revision: what you have is of one revision already, name one of the two.")
    with stoppable(into), claimed(into):
        if origin is not None:
            tasks = _take(origin.expanduser(), into, f"{origin}")
        else:
            tasks = _fetch(into, REVISION if revision is None else revision)
        return _report(tasks, into)


# Where they come from


def _fetch(into: Path, revision: str) -> OfficialTasks:
    if not _REVISION.fullmatch(revision):
        raise DownloadError(f"--revision {revision!r:.120}: expected a commit or a branch, such as main.")
    source = f"github.com/xlang-ai/OSWorld at {revision}"
    is_fixed = re.fullmatch("[0-9a-f]{40}", revision) is not None
    if is_fixed and _source(into / FOLDER) == source:
        console().print(plain(f"The tasks of {source} are in {into} already: nothing to fetch."), soft_wrap=True)
        return OfficialTasks(into / FOLDER)
    archive = into / f"OSWorld-{revision.replace('/', '-')}.tar.gz.part"
    if not is_fixed:
        archive.unlink(missing_ok=True)  # a branch goes on, and what is here is of yesterday
    address = ARCHIVE.format(revision=revision)
    console(stderr=True).print(plain(f"asking {address}"), soft_wrap=True)
    try:
        with bar("MB") as show:
            download(
                address,
                archive,
                most=LARGEST_ARCHIVE,
                tell=lambda done, of: show(done // 1_000_000, None if of is None else -(-of // 1_000_000), "fetching"),
            )
    except DownloadError as error:
        raise DownloadError(
            f"{error} Run the same command again later, or fetch the benchmark's repository by other means and use "
            f"'{DOWNLOAD} --from FOLDER_OR_ARCHIVE'."
        ) from None
    try:
        tasks = _take(archive, into, source)
    finally:
        archive.unlink(missing_ok=True)
    return tasks


def _source(folder: Path) -> str:
    try:
        noted = json.loads((folder / NOTE).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return ""
    return str(noted.get("source", "")) if isinstance(noted, dict) else ""


def _take(origin: Path, into: Path, source: str) -> OfficialTasks:
    """Put the files of a folder or an archive in their place."""
    incoming = into / INCOMING
    shutil.rmtree(incoming, ignore_errors=True)
    try:
        _gather(_found(origin), incoming, origin)
        OfficialTasks(incoming)
        write_atomically(incoming / NOTE, json.dumps({"source": source}))
        _put(incoming, into)
    finally:
        shutil.rmtree(incoming, ignore_errors=True)
    return OfficialTasks(into / FOLDER)


def _put(incoming: Path, into: Path) -> None:
    outgoing = into / OUTGOING
    shutil.rmtree(outgoing, ignore_errors=True)
    if (into / FOLDER).exists():
        (into / FOLDER).rename(outgoing)
    incoming.rename(into / FOLDER)
    shutil.rmtree(outgoing, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Found:
    """A file that belongs to the tasks, and where below their folder."""

    place: Path
    content: bytes


def _found(origin: Path) -> Iterator[_Found]:
    if origin.is_dir():
        yield from _in_folder(origin)
    elif origin.exists():
        try:
            yield from _in_archive(origin)
        except BROKEN as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk's fault, not the archive's
            raise BadArchive(f"{origin} is broken or cut off: {error}. Fetch it again.") from error
    else:
        raise BadArchive(f"--from {origin}: there is no such file or folder.")


def _in_folder(origin: Path) -> Iterator[_Found]:
    root = next((folder for folder in (origin, origin / FOLDER) if (folder / ALL).is_file()), None)
    if root is None:
        raise BadArchive(f"--from {origin}: expected a folder with {ALL} and examples in it, or with {FOLDER}.")
    for path in sorted((*root.glob("*.json"), *root.glob("examples/*/*.json"))):
        place = _place(list(path.relative_to(root).parts))
        if place is not None and path.is_file():
            with path.open("rb") as file:
                yield _Found(place, file.read(LARGEST_FILE + 1))


def _in_archive(archive: Path) -> Iterator[_Found]:
    for member in members(archive):
        place = _place([part for part in member.name.split("/") if part != "."])
        if place is None:
            continue
        safe_parts(member, archive)
        content = member.open()
        if content is None:
            raise BadArchive(f"The archive's {member.name!r:.120} is no file.")
        with content:
            yield _Found(place, content.read(LARGEST_FILE + 1))


def _place(parts: list[str]) -> Path | None:
    """Where a file belongs, by the end of its path; None for what is no part of the tasks."""
    if FOLDER in parts:
        parts = parts[parts.index(FOLDER) + 1 :]
    if len(parts) == 1 and parts[0] in (ALL, SMALL):
        return Path(parts[0])
    if len(parts) == 3 and parts[0] == "examples" and parts[2].endswith(".json"):
        return Path(*parts)
    return None


def _gather(found: Iterator[_Found], incoming: Path, origin: Path) -> None:
    for number, file in enumerate(found, 1):
        if len(file.content) > LARGEST_FILE:
            raise BadArchive(f"{origin}: {file.place} has more than {LARGEST_FILE // 1_000_000} MB, which no task has.")
        if number > MOST_FILES:
            raise BadArchive(f"{origin} has more than {MOST_FILES:,} task files, which the benchmark has not.")
        path = incoming / file.place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
    if not (incoming / ALL).is_file():
        raise BadArchive(f"{origin} holds no tasks: expected {FOLDER}/{ALL} and {FOLDER}/examples/DOMAIN/ID.json.")


# What has come


def _report(tasks: OfficialTasks, into: Path) -> bool:
    say = console()
    refused: list[str] = []
    counts: dict[str, int] = {}
    infeasible = 0
    for task in tasks.ids:
        read = _read(tasks, task)
        if isinstance(read, str):
            refused.append(read)
        else:
            infeasible += read.evaluator.is_infeasible
            counts[read.domain] = counts.get(read.domain, 0) + 1
    listed = ", ".join(f"{count} {domain}" for domain, count in counts.items())
    say.print(plain(f"{sum(counts.values())} tasks, {infeasible} of them infeasible: {listed}"), soft_wrap=True)
    for sentence in refused[:_REFUSED_SHOWN]:
        say.print(plain(f"  {sentence}"), soft_wrap=True)
    if refused:
        say.print(plain(f"{len(refused)} of the tasks that {ALL} lists cannot be played."), soft_wrap=True)
    elif counts != DOMAINS:
        expected = sum(DOMAINS.values())
        say.print(plain(f"These are not the benchmark's {expected} tasks: its scores are of others."), soft_wrap=True)
    if into != data_folder().absolute():
        say.print(plain(f"To use these tasks: export {DATA_VARIABLE}={into}"), soft_wrap=True)
    return not refused


def _read(tasks: OfficialTasks, task: str) -> DesktopTask | str:
    """A task, or the sentence that says why it cannot be read."""
    try:
        return tasks.task(task)
    except TaskFileError as error:
        return str(error)
