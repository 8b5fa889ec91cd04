"""The command line of the sandbox: what is let in, and that nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from eapo_gym.envs.osworld.desktop.sandbox import ETC_FILES, HOME, Places, Sandbox, environment


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """A machine with a merged /usr, one root folder that is not merged, and secrets."""
    root = tmp_path / "system"
    for folder in ("usr", "lib32", "etc/fonts", "root/.ssh", "home/anna", "opt/tool"):
        (root / folder).mkdir(parents=True)
    (root / "bin").symlink_to("usr/bin")
    for name in ("shadow", "sudoers", "passwd", "hosts"):
        (root / "etc" / name).write_text("secret")
    return root


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = Places(tmp_path / "desktop")
    places.etc.mkdir(parents=True)
    for name in ETC_FILES:
        (places.etc / name).touch()
    return places


def _binds(line: list[str]) -> dict[str, tuple[str, str]]:
    """Target → how, and from where."""
    kinds = ("--bind", "--ro-bind", "--ro-bind-try", "--dev-bind")
    return {line[at + 2]: (line[at], line[at + 1]) for at in range(len(line)) if line[at] in kinds}


def test_only_the_home_is_writable(system: Path, places: Places) -> None:
    binds = _binds(Sandbox(places, system=system).command(["true"]))
    assert [target for target, (how, _) in binds.items() if not how.startswith("--ro")] == [HOME]
    assert binds[HOME] == ("--bind", str(places.home))


def test_nothing_private_is_let_in(system: Path, places: Places) -> None:
    binds = _binds(Sandbox(places, system=system).command(["true"]))
    for private in ("/", "/root", "/home", "/opt", "/etc", "/var", "/sys", "/etc/shadow", "/etc/sudoers", "/tmp"):
        assert private not in binds
    assert binds["/etc/passwd"][1] == str(places.etc / "passwd")
    assert binds["/etc/hosts"][1] == str(places.etc / "hosts")


def test_root_folders_are_as_on_the_machine(system: Path, places: Places) -> None:
    line = Sandbox(places, system=system).command(["true"])
    at = line.index("--symlink")
    assert line[at + 1 : at + 3] == ["usr/bin", "/bin"]
    assert _binds(line)["/lib32"] == ("--ro-bind", str(system / "lib32"))
    assert "/lib64" not in line


def test_everything_is_its_own(system: Path, places: Places) -> None:
    line = Sandbox(places, {"NAME": "--bind"}, system=system).command(["program", "--share-net"])
    options = line[: line.index("--")]
    assert "--unshare-all" in options
    assert "--die-with-parent" in options
    assert "--clearenv" in options
    assert "--new-session" in options
    assert "--share-net" not in options
    assert options.index("--clearenv") < options.index("--setenv")
    assert line[len(options) :] == ["--", "program", "--share-net"]
    # what is mounted must be in place before the root is closed, and nothing is mounted after
    assert options.index("--remount-ro") > max(options.index("--bind"), options.index("--proc"), options.index("--dev"))


def test_memory_folders_are_bounded(system: Path, places: Places) -> None:
    line = Sandbox(places, system=system).command(["true"])
    folders = [at for at, word in enumerate(line) if word == "--tmpfs"]
    assert folders
    assert all(line[at - 2] == "--size" and int(line[at - 1]) > 0 for at in folders)


def test_environment_has_nothing_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAPO_SECRET", "token")
    monkeypatch.setenv("PATH", "/private")
    variables = environment()
    assert "EAPO_SECRET" not in variables
    assert "/private" not in variables["PATH"]
    assert variables["HOME"] == HOME
