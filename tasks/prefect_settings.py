"""Prefect's settings with a few others, for as long as something is done.

Prefect's own `temporary_settings` reads all of their sources again and checks every one: 30 to 50 ms of each flow. What is known
to be valid is put into copies instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from prefect.context import SettingsContext, get_settings_context
from prefect.settings import PREFECT_API_URL, temporary_settings

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


@contextmanager
def with_settings(**groups: Mapping[str, Any]) -> Iterator[None]:
    """Inside, the settings of these groups have these values, which are not checked: ``flows={"heartbeat_frequency": None}``."""
    known = get_settings_context()
    changed = {group: getattr(known.settings, group).model_copy(update=values) for group, values in groups.items()}
    with SettingsContext(profile=known.profile, settings=known.settings.model_copy(update=changed)):
        yield


def served_by(api_url: str) -> AbstractContextManager[object]:
    """Inside, `api_url` is Prefect's API; the address of its UI, and others, follow it. Mostly it is already."""
    return nullcontext() if PREFECT_API_URL.value() == api_url else temporary_settings({PREFECT_API_URL: api_url})
