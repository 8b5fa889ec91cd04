"""A picture behind all windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_MOST_BYTES = 200_000
"""Of one request to X, which takes a little more."""


def paint(connection: Any, path: Path) -> None:
    """Fill the root window with a picture; raises OSError for a file that is none."""
    import gi  # type: ignore[import-not-found]

    gi.require_version("GdkPixbuf", "2.0")
    from gi.repository import GdkPixbuf, GLib  # type: ignore[import-not-found]
    from Xlib import X  # type: ignore[import-untyped]

    screen = connection.screen()
    width, height = screen.width_in_pixels, screen.height_in_pixels
    try:
        picture = GdkPixbuf.Pixbuf.new_from_file_at_scale(str(path), width, height, False)
    except GLib.Error as problem:
        raise OSError(f"{path} is not a picture: {problem.message}") from None
    if not picture.get_has_alpha():
        picture = picture.add_alpha(False, 0, 0, 0)
    rgba, row = picture.get_pixels(), picture.get_rowstride()
    pixels = bytearray(width * 4 * height)
    tight = b"".join(rgba[start : start + width * 4] for start in range(0, row * height, row))
    pixels[0::4], pixels[1::4], pixels[2::4] = tight[2::4], tight[1::4], tight[0::4]
    pixmap = screen.root.create_pixmap(width, height, screen.root_depth)
    context = pixmap.create_gc()
    rows = max(1, _MOST_BYTES // (width * 4))
    for top in range(0, height, rows):
        count = min(rows, height - top)
        part = bytes(pixels[top * width * 4 : (top + count) * width * 4])
        pixmap.put_image(context, 0, top, width, count, X.ZPixmap, screen.root_depth, 0, part)
    screen.root.change_attributes(background_pixmap=pixmap)
    screen.root.clear_area()
    context.free()
    pixmap.free()
    connection.sync()
