"""Chrome: tabs, an address bar, history, bookmarks, and the pages that lie on the phone."""

from __future__ import annotations

from eapo_gym.envs.androidworld.phone.apps.chrome.browser import Chrome

__all__ = ["Chrome"]
