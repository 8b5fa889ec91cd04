"""The apps of the embedded phone."""
