"""The shell's commands for files and text."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from itertools import pairwise

from eapo_gym.envs.androidworld.phone.files import File, FileError, Files, resolve
from eapo_gym.envs.androidworld.phone.shell.shell import Action, Call, Said

_FOLDER_SIZE = 4096


def _cat(call: Call) -> Said:
    _, paths = call.flags()
    return Said(b"".join(call.phone.state.files.read(path) for path in paths) if paths else call.given)


def _cp(call: Call) -> Said:
    options, paths = call.flags()
    return _transferred(call, "cp", paths, lambda files, a, b, now: _copied(files, a, b, now, options))


def _copied(files: Files, source: str, target: str, now: float, options: Mapping[str, str]) -> Files:
    if source.endswith("/."):
        # All that is in the folder, rather than the folder.
        folder = source[:-2]
        made = files.make_folder(target, now)
        for name in files.names(folder):
            made = made.copy(posixpath.join(folder, name), target, now)
        return made
    if files.is_folder(source) and not {"-r", "-R", "-a", "-rf"} & set(options):
        raise FileError(f"Skipped dir '{source}'")
    return files.copy(source, target, now)


def _mv(call: Call) -> Said:
    _, paths = call.flags()
    return _transferred(call, "mv", paths, Files.move)


def _transferred(call: Call, name: str, paths: list[str], change: Callable[[Files, str, str, float], Files]) -> Said:
    if len(paths) < 2:
        return Said.problem(f"{name}: Needs 2 arguments")
    *sources, target = paths
    state = call.phone.state
    files = state.files
    for source in sources:
        files = change(files, source, target, state.now)
    call.phone.state = replace(state, files=files)
    return Said()


def _rm(call: Call) -> Said:
    options, paths = call.flags()
    recursive = any("r" in option or "R" in option for option in options)
    forced = any("f" in option for option in options)
    problems = []
    for path in paths:
        state = call.phone.state
        if path not in state.files:
            problems += [] if forced else [f"rm: {path}: No such file or directory"]
        elif state.files.is_folder(path) and not recursive:
            problems.append(f"rm: {path}: is directory")
        else:
            call.phone.state = replace(state, files=state.files.remove(path, state.now))
    return Said.problem("\n".join(problems)) if problems else Said()


def _mkdir(call: Call) -> Said:
    options, paths = call.flags("-m")
    for path in paths:
        state = call.phone.state
        if path in state.files and "-p" not in options:
            return Said.problem(f"mkdir: '{path}': File exists")
        call.phone.state = replace(state, files=state.files.make_folder(path, state.now))
    return Said()


def _touch(call: Call) -> Said:
    _, paths = call.flags("-t", "-d")
    for path in paths:
        state = call.phone.state
        content = state.files.get(path).content if path in state.files else b""
        call.phone.state = replace(state, files=state.files.write(path, content, state.now))
    return Said()


def _ls(call: Call) -> Said:
    options, paths = call.flags()
    # One name a line is what there is anyway.
    paths = [path for path in paths if path != "-1"]
    files = call.phone.state.files
    letters = "".join(options)
    lines, problems = [], []
    for path in paths or ["/"]:
        if path not in files:
            problems.append(f"ls: {path}: No such file or directory")
            continue
        is_listed = files.is_folder(path) and "d" not in letters
        names = files.names(path) if is_listed else [path]
        if len(paths) > 1 and is_listed:
            lines.append(f"\n{path}:")
        shown = [name for name in names if "a" in letters or "A" in letters or not name.startswith(".")]
        for name in shown:
            whole = posixpath.join(resolve(path), name) if is_listed else resolve(path)
            lines.append(_long(files, whole, name, "ll" in letters) if "l" in letters else name)
    out = "".join(line + "\n" for line in lines)
    if problems:
        return replace(Said.problem("\n".join(problems)), out=out.encode())
    return Said.text(out)


def _long(files: Files, path: str, name: str, exact: bool) -> str:
    is_folder = files.is_folder(path)
    changed = files.folders[path] if is_folder else files.files[path].changed
    size = _FOLDER_SIZE if is_folder else len(files.files[path].read())
    when = datetime.fromtimestamp(changed, timezone.utc)
    time = f"{when:%Y-%m-%d %H:%M:%S}.{when.microsecond:06}000 +0000" if exact else f"{when:%Y-%m-%d %H:%M}"
    return f"{'drwxrwx---' if is_folder else '-rw-rw----'} 1 u0_a158 media_rw {size} {time} {name}"


def _find(call: Call) -> Said:
    """`find FOLDER` with -type, -name, -iname, -mindepth, -maxdepth, -delete; of several types any may hold."""
    options, rest = call.flags("-type", "-name", "-iname", "-mindepth", "-maxdepth")
    files = call.phone.state.files
    kinds = {value for name, value in pairwise(call.args) if name == "-type"}
    least, most = int(options.get("-mindepth") or 0), int(options.get("-maxdepth") or 1_000)
    name = options.get("-name") or options.get("-iname")
    pattern = None
    if name:
        shape = "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in name)
        pattern = re.compile(shape, re.IGNORECASE if "-iname" in options else 0)
    lines = []
    for folder in rest or ["/"]:
        base = resolve(folder)
        for path in files.walk(folder):
            kind = "d" if files.is_folder(path) else "f"
            below = path[len(base) :].count("/")
            fits = pattern is None or pattern.fullmatch(posixpath.basename(path))
            if least <= below <= most and fits and (not kinds or kind in kinds):
                lines.append(folder.rstrip("/") + path[len(base) :])
    if "-delete" in options:
        return _rm(replace(call, args=("-rf", *reversed(lines))))
    return Said.text("".join(line + "\n" for line in lines))


def _grep(call: Call) -> Said:
    options, rest = call.flags("-e", "-m")
    wanted = options.get("-e") or (rest.pop(0) if rest else "")
    given = b"".join(call.phone.state.files.read(path) for path in rest) if rest else call.given
    shape = re.escape(wanted) if "-F" in options else wanted
    try:
        pattern = re.compile(shape, re.IGNORECASE if any("i" in name for name in options) else 0)
    except re.error as error:
        return Said.problem(f"grep: bad REGEX '{wanted}': {error}", 2)
    inverted = any("v" in name for name in options)
    lines = [line for line in given.decode("utf-8", "replace").splitlines() if bool(pattern.search(line)) != inverted]
    if "-c" in options:
        return Said(f"{len(lines)}\n".encode(), not lines)
    return Said("".join(line + "\n" for line in lines).encode(), not lines)


def _test(call: Call) -> Said:
    """`test` and `[`: what a file is, and whether texts or numbers are equal."""
    args = [word for word in call.args if word != "]"]
    negated = bool(args) and args[0] == "!"
    args = args[1:] if negated else args
    return Said(status=int(_holds(call.phone.state.files, args) == negated))


def _holds(files: Files, args: list[str]) -> bool:
    match args:
        case ["-e", path]:
            return path in files
        case ["-f", path]:
            return path in files and not files.is_folder(path)
        case ["-d", path]:
            return files.is_folder(path)
        case ["-s", path]:
            return path in files and not files.is_folder(path) and bool(files.read(path))
        case ["-z", text]:
            return not text
        case ["-n", text]:
            return bool(text)
        case [one, "=" | "==", other]:
            return one == other
        case [one, "!=", other]:
            return one != other
        case [one, "-eq", other]:
            return one.strip().lstrip("-").isdigit() and int(one) == int(other)
        case [text]:
            return bool(text)
    return False


def _echo(call: Call) -> Said:
    newline = call.args[:1] != ("-n",)
    words = call.args if newline else call.args[1:]
    return Said.text(" ".join(words) + ("\n" if newline else ""))


def _stat(call: Call) -> Said:
    options, paths = call.flags("-c")
    lines = []
    for path in paths:
        file: File = call.phone.state.files.get(path)
        shape = options.get("-c", "%n").replace("%s", str(len(file.read()))).replace("%Y", str(int(file.changed)))
        lines.append(shape.replace("%n", path))
    return Said.text("".join(line + "\n" for line in lines))


def _du(call: Call) -> Said:
    _, paths = call.flags()
    files = call.phone.state.files
    lines = []
    for path in paths:
        size = sum(len(files.files[each].read()) for each in files.walk(path) if each in files.files)
        lines.append(f"{-(-size // 1024)}\t{path}\n")
    return Said.text("".join(lines))


def _head(call: Call) -> Said:
    options, paths = call.flags("-n")
    given = b"".join(call.phone.state.files.read(path) for path in paths) if paths else call.given
    return Said(b"".join(given.splitlines(keepends=True)[: int(options.get("-n") or 10)]))


def _wc(call: Call) -> Said:
    options, paths = call.flags()
    given = b"".join(call.phone.state.files.read(path) for path in paths) if paths else call.given
    return Said.text(f"{len(given) if '-c' in options else given.count(10)}\n")


def _nothing(call: Call) -> Said:
    """Rights are not kept: whoever may use the shell may do everything."""
    return Said()


FILE_COMMANDS: Mapping[str, Action] = {
    "[": _test,
    "cat": _cat,
    "chmod": _nothing,
    "chown": _nothing,
    "cp": _cp,
    "du": _du,
    "echo": _echo,
    "false": lambda call: Said(status=1),
    "find": _find,
    "grep": _grep,
    "head": _head,
    "ls": _ls,
    "mkdir": _mkdir,
    "mv": _mv,
    "restorecon": _nothing,
    "rm": _rm,
    "stat": _stat,
    "sync": _nothing,
    "test": _test,
    "touch": _touch,
    "true": _nothing,
    "wc": _wc,
}
