"""What names a store in object storage, and where its mirror is on this machine."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from eval_skills.core.errors import UsageError

_ENDPOINTS = {
    "s3": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
    "gs": (),
    "az": ("AZURE_STORAGE_ENDPOINT", "AZURE_STORAGE_ACCOUNT_NAME"),
}
"""By scheme, the variables that say which service has the bucket: one name can stand for several buckets."""

_DIGEST_CHARS = 10
_READABLE_CHARS = 60


@dataclass(frozen=True, slots=True)
class Address:
    """A place in object storage: ``<scheme>://<bucket>/<prefix>``; the prefix may be empty."""

    scheme: str
    bucket: str
    prefix: str

    @classmethod
    def of(cls, url: str) -> Address:
        """The address that a person wrote.

        Raises:
            UsageError: its scheme is unknown, it names no bucket, or has credentials or a query in it, which are not repeated.
        """
        scheme, _, rest = url.partition("://")
        if "@" in rest or "?" in rest or "#" in rest:
            raise UsageError(
                f"the store {scheme}://… has an @, ? or # in it; give {scheme}://bucket/prefix alone, and credentials as "
                "environment variables"
            )
        bucket, *parts = rest.rstrip("/").split("/")
        if scheme not in _ENDPOINTS:
            raise UsageError(f"the store {url!r} cannot be opened: a store is a folder, or begins with s3://, gs:// or az://")
        if not bucket or "" in parts or "." in parts or ".." in parts:
            raise UsageError(f"the store {url!r} cannot be opened: write {scheme}://bucket or {scheme}://bucket/prefix")
        return cls(scheme, bucket, "/".join(parts))

    @property
    def url(self) -> str:
        """As a person writes it, without a slash at the end."""
        return f"{self.scheme}://{self.bucket}" + (f"/{self.prefix}" if self.prefix else "")

    @property
    def endpoint(self) -> str:
        """The service that has the bucket, where an environment variable names one; else ""."""
        return next(filter(None, (os.environ.get(name) for name in _ENDPOINTS[self.scheme])), "")

    @property
    def mirror(self) -> Path:
        """The folder of its mirror, in the user's folder of states (``XDG_STATE_HOME``, else ``~/.local/state``)."""
        base = os.environ.get("XDG_STATE_HOME", "")
        states = Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "state"
        digest = hashlib.sha256(f"{self.url} {self.endpoint}".encode()).hexdigest()[:_DIGEST_CHARS]
        readable = re.sub(r"[^A-Za-z0-9]+", "-", f"{self.bucket}-{self.prefix}").strip("-")[:_READABLE_CHARS]
        return states / "eval-skills" / "stores" / f"{readable}-{digest}"
