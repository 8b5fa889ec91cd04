"""A film of the screen, where ffmpeg is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path


class Recorder:
    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def start(self, width: int, height: int) -> str | None:
        """Begin; a sentence where that cannot be."""
        if shutil.which("ffmpeg") is None:
            return "Recording needs ffmpeg, which is not installed on this machine: apt-get install ffmpeg"
        if self._process is not None:
            return "A recording runs already."
        self._folder = tempfile.TemporaryDirectory()
        command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "x11grab", "-draw_mouse", "1", "-framerate", "30"]
        command += ["-video_size", f"{width}x{height}", "-i", ":0.0", "-c:v", "libx264", "-preset", "ultrafast"]
        command += ["-pix_fmt", "yuv420p", str(self._file())]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return None

    def end(self) -> bytes | None:
        """The film; None where none was begun."""
        process, self._process = self._process, None
        if process is None or self._folder is None:
            return None
        try:
            process.communicate(b"q", timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        with self._folder:
            return self._file().read_bytes() if self._file().exists() else b""

    def _file(self) -> Path:
        assert self._folder is not None
        return Path(self._folder.name) / "recording.mp4"
