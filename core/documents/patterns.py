"""Regular expressions from benchmarks and configuration: compiled, or refused with their place."""

from __future__ import annotations

import re
import warnings

import regex

from eval_skills.core.errors import InputError
from eval_skills.core.text import excerpt


def compiled_pattern(pattern: str, path: str, flags: int = 0) -> regex.Pattern[str]:
    """The compiled pattern.

    Raises:
        InputError: it is invalid.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning about notation is for the benchmark's author, not for those who run it
            return regex.compile(pattern, flags)
    except (regex.error, re.error, ValueError, OverflowError) as error:
        raise InputError(f"{excerpt(pattern)} is not a valid regular expression: {error}; fix or escape it", path=path) from error
