"""What lies in a skill's folder and should not, and whether its scripts can be used."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from eval_skills.agent_skills.linting.finding import Finding
from eval_skills.agent_skills.linting.package import MAX_FILE_BYTES, MAX_FILES
from eval_skills.agent_skills.linting.subject import Subject
from eval_skills.core.text import excerpt

SECRET_FILE = re.compile(
    r"^(\.env(\..+)?|.*\.(pem|key|p12|pfx|keystore)|id_(rsa|dsa|ecdsa|ed25519)|\.netrc|\.pgpass|\.npmrc|\.pypirc"
    r"|credentials(\.json)?|service[-_]account.*\.json|secrets?\.(json|ya?ml|toml|txt))$",
    re.IGNORECASE | re.DOTALL,
)
HARMLESS_FILE = re.compile(r"^\.env\.(example|sample|template|dist)$", re.IGNORECASE)
"""Files that are called like one of `SECRET_FILE`, and hold none."""

_SCRIPT = re.compile(r"^scripts/[^/]+\.(py|sh|bash|zsh|js|mjs|cjs|ts|rb|pl|php|ps1)$")
_SHEBANG = "#!"
_HEAD_CHARS = 4_000
_SAYS_HOW = re.compile(
    r"usage|--help|argparse|optparse|getopt|\bclick\b|typer|cyclopts|commander|yargs|param\s*\(", re.IGNORECASE
)
_COMMENT = re.compile(r"\s*(\"\"\"|'''|#(?!!)\s*\w|//\s*\w|/\*|<#|=begin|=pod)")
_OS_HAS_MODES = os.name != "nt"


def file_findings(subject: Subject) -> Iterator[Finding]:
    """Large, secret and special files, links out of the folder, other skills within it, and scripts that say nothing."""
    package = subject.package
    for path, entry in package.files.items():
        name = path.rpartition("/")[2]
        if entry.size > MAX_FILE_BYTES and path != subject.file:
            message = f"the file has {entry.size:,} bytes; at most {MAX_FILE_BYTES:,} are advised"
            yield Finding("large-file", message, "compress it, or let a script fetch it", path)
        if SECRET_FILE.match(name) and not HARMLESS_FILE.match(name):
            yield Finding(
                "secret-file", f"{excerpt(name, 80)} looks like a file of keys", "remove it, and revoke what it holds", path
            )
        if name.lower() == "skill.md" and "/" in path and not path.startswith("evals/"):
            message = "another skill lies within this one; most clients do not load it"
            yield Finding("nested-skill", message, "move it beside this skill", path)
    for path in package.links:
        message = "the link leads out of the folder, or nowhere; it was not followed"
        yield Finding("link-outside", message, "put the file itself there", path)
    for path in package.special:
        message = "it is neither a file nor a folder, and was not opened"
        yield Finding("special-file", message, "remove it", path)
    for path in package.closed:
        message = "the folder cannot be listed, so what lies in it was not looked at"
        yield Finding("not-read", message, "make it readable", path)
    if not package.is_complete:
        message = f"there are more than {MAX_FILES:,} files or more than 16 levels of folders; the rest was not looked at"
        yield Finding("many-files", message, "a skill should be small; remove what it does not need")
    yield from _scripts(subject)


def _scripts(subject: Subject) -> Iterator[Finding]:
    for path, text in subject.package.texts.items():
        if not _SCRIPT.match(path) or path.endswith("/__init__.py") or not text.strip():
            continue
        if _OS_HAS_MODES and text.startswith(_SHEBANG) and not subject.package.files[path].is_executable:
            message = "the script begins with #! and is not executable"
            yield Finding("script-not-executable", message, f"chmod +x {path}", path)
        if not _SAYS_HOW.search(text) and not _begins_with_words(text):
            message = "the script does not say how to use it"
            yield Finding("script-no-usage", message, "begin it with a line such as: Usage: NAME FILE", path)


def _begins_with_words(text: str) -> bool:
    lines = text[:_HEAD_CHARS].split("\n")
    code = [line for line in lines if line.strip() and not line.startswith((_SHEBANG, "from __future__", '"use strict"'))]
    return bool(code) and bool(_COMMENT.match(code[0]))
