"""One policy for finding a text inside another."""

from __future__ import annotations

import unicodedata


def comparable(text: str, *, case_sensitive: bool = False) -> str:
    """`text` as it is searched: each letter composed with its accents (NFC), and without case unless `case_sensitive`.

    A letter may be written as one sign or as a letter and its accent; nobody sees the difference.
    """
    composed = unicodedata.normalize("NFC", text)
    return composed if case_sensitive else composed.casefold()
