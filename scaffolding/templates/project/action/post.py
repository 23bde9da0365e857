"""Posts what ``eval-skills report comment --json`` wrote: as a comment of the pull request, and as a check of its commit.

It needs what a runner of GitHub Actions has: Python's standard library, and the variables of the job. A comment whose first line
is the same is replaced. Where GitHub refuses (the token of a pull request from a fork may only read), or does not answer, a
warning says so, and the text goes to the job's summary: whether the job fails is not decided here.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ATTEMPTS, LONGEST_WAIT_S, TIMEOUT_S = 4, 60.0, 30.0
PER_PAGE, MOST_PAGES = 100, 30
AGAIN = frozenset({429, 500, 502, 503, 504})
CHECK_SUMMARY = 65_000


class Refused(Exception):
    """GitHub did not do what it was asked; `status` is 0 where it did not answer, and `wait_s` is how long it asks to wait."""

    def __init__(self, message: str, status: int, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.status, self.wait_s = status, wait_s

    @property
    def may_pass(self) -> bool:
        """Whether another attempt may help."""
        return self.status in AGAIN or self.status == 0 or self.wait_s is not None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token goes to the address that the job was given, and nowhere else."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


class GitHub:
    """GitHub's API for one repository. `wait_s` is the first wait before another attempt; it doubles."""

    def __init__(self, api: str, repository: str, token: str, wait_s: float) -> None:
        self._base, self._token, self._wait_s = f"{api.rstrip('/')}/repos/{repository}", token, wait_s

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The answer as JSON. What may help is asked again, but for what creates something: that may have happened.

        Raises:
            Refused: there is no answer, or it is an error.
        """
        attempts = ATTEMPTS if method != "POST" else 1
        for attempt in range(attempts):
            try:
                return self._once(method, path, body)
            except Refused as refused:
                if attempt + 1 == attempts or not refused.may_pass:
                    raise
                self.rest(attempt, refused)
        raise AssertionError("unreachable")

    def rest(self, attempt: int, refused: Refused) -> None:
        """Wait before the attempt after `attempt` (from 0), which was `refused`."""
        own = self._wait_s * 2**attempt
        time.sleep(min(LONGEST_WAIT_S, own if refused.wait_s is None else refused.wait_s))

    def _once(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "User-Agent": "eval-skills",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._base}{path}", data, headers, method=method)  # noqa: S310 - see main
        try:
            with _OPENER.open(request, timeout=TIMEOUT_S) as reply:
                return json.loads(reply.read() or b"null")
        except urllib.error.HTTPError as error:
            asked = error.headers.get("Retry-After", "")
            wait_s = float(asked) if asked.isdecimal() else None
            raise Refused(f"{method} {path}: HTTP {error.code}{_said(error)}", error.code, wait_s) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Refused(f"{method} {path}: {error}", 0) from None

    def every(self, path: str, key: str | None = None) -> Iterator[dict[str, Any]]:
        """All entries of a list that comes in pages; `key` is where an answer keeps them, None: it is the list."""
        for page in range(1, MOST_PAGES + 1):
            sign = "&" if "?" in path else "?"
            answer = self.ask("GET", f"{path}{sign}per_page={PER_PAGE}&page={page}")
            entries = answer if key is None else answer[key]
            yield from entries
            if len(entries) < PER_PAGE:
                return

    def put(self, found: Any, create: str, update: str, body: dict[str, Any]) -> str:
        """Update what `found` finds, create it where there is none; what was done, in a word.

        Before it is created again it is looked for again: an attempt that ended in an error may have created it.
        """
        for attempt in range(ATTEMPTS):
            there = found()
            try:
                if there is None:
                    self.ask("POST", create, body)
                    return "created"
                self.ask("PATCH", update.format(there), body)
                return "updated"
            except Refused as refused:
                gone = there is not None and refused.status == 404  # somebody deleted it meanwhile
                if attempt + 1 == ATTEMPTS or not (gone or (there is None and refused.may_pass)):
                    raise
                self.rest(attempt, refused)
        raise AssertionError("unreachable")


def _said(error: urllib.error.HTTPError) -> str:
    try:
        message = json.loads(error.read(10_000)).get("message")
    except (OSError, ValueError, AttributeError, http.client.HTTPException):
        return ""
    return f" ({' '.join(str(message).split())[:200]})" if message else ""


def post_comment(github: GitHub, number: int, comment: dict[str, Any]) -> str:
    """Create the comment, or replace the one of a bot that begins with the same line; what was done, in a word."""

    def found() -> Any:
        every = github.every(f"/issues/{number}/comments")
        return next((each["id"] for each in every if _is_ours(each, comment["marker"])), None)

    return github.put(found, f"/issues/{number}/comments", "/issues/comments/{}", {"body": comment["body"]})


def _is_ours(there: dict[str, Any], marker: str) -> bool:
    """A person may write the same line: what people wrote is never replaced."""
    lines = str(there.get("body") or "").splitlines()
    return lines[:1] == [marker] and (there.get("user") or {}).get("type") == "Bot"


def post_check(github: GitHub, name: str, sha: str, comment: dict[str, Any], page: str | None) -> str:
    """Create the check of the commit, or update it, as after a second attempt at the same job; what was done, in a word."""
    body = {
        "name": name,
        "head_sha": sha,
        "external_id": comment["marker"],
        "status": "completed",
        "conclusion": comment["conclusion"],
        "output": {"title": comment["title"], "summary": comment["body"][:CHECK_SUMMARY]},
        **({"details_url": page} if page else {}),
    }

    def found() -> Any:
        every = github.every(f"/commits/{sha}/check-runs?filter=latest", "check_runs")
        return next((each["id"] for each in every if (each["name"], each.get("external_id")) == (name, comment["marker"])), None)

    return github.put(found, "/check-runs", "/check-runs/{}", body)


def main(arguments: list[str]) -> int:
    """Post what the file has, as far as GitHub allows it. 2: the call or the job's variables are wrong."""
    environ = os.environ
    needed = ("GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_TOKEN")
    if missing := [name for name in needed if not environ.get(name)]:
        return _wrong(f"{', '.join(missing)} not set; this runs in a job of GitHub Actions")
    if not environ["GITHUB_API_URL"].startswith(("https://", "http://")):
        return _wrong(f"GITHUB_API_URL {environ['GITHUB_API_URL']!r} is not an http address")
    if len(arguments) != 1:
        return _wrong("give one file, the output of eval-skills report comment --json")
    try:
        comment = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
        event = json.loads(Path(environ.get("GITHUB_EVENT_PATH") or os.devnull).read_text(encoding="utf-8") or "{}")
        wait_s = float(environ.get("POST_WAIT_S") or 1.0)
    except (OSError, ValueError) as error:
        return _wrong(str(error))
    github = GitHub(environ["GITHUB_API_URL"], environ["GITHUB_REPOSITORY"], environ["GITHUB_TOKEN"], wait_s)
    refused = [*_comment(github, event, comment), *_check(github, event, comment)]
    for message in refused:
        print(f"::warning title=eval-skills::{_escaped(message)}")
    if refused:
        _summarise(comment["body"])
    return 0


def _comment(github: GitHub, event: dict[str, Any], comment: dict[str, Any]) -> Iterator[str]:
    number = (event.get("pull_request") or {}).get("number")
    if number is None or os.environ.get("COMMENT", "true") != "true":
        return
    try:
        print(f"the comment of pull request {number} was {post_comment(github, int(number), comment)}")
    except Refused as refused:
        yield f"no comment was posted: {refused}{_advice(refused, event, 'pull-requests')}"


def _check(github: GitHub, event: dict[str, Any], comment: dict[str, Any]) -> Iterator[str]:
    name = os.environ.get("CHECK", "eval-skills")
    head = (event.get("pull_request") or {}).get("head") or {}
    sha = head.get("sha") or os.environ.get("GITHUB_SHA")  # of a pull request the latter is a merge that nobody sees
    if not name or not sha:
        return
    server, repository, run = (os.environ.get(f"GITHUB_{each}") for each in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    page = f"{server}/{repository}/actions/runs/{run}" if server and run else None
    try:
        print(f"the check {name} was {post_check(github, name, sha, comment, page)}")
    except Refused as refused:
        yield f"no check was posted: {refused}{_advice(refused, event, 'checks')}"


def _advice(refused: Refused, event: dict[str, Any], permission: str) -> str:
    if refused.status not in {401, 403, 404}:
        return ""
    sides = [((event.get("pull_request") or {}).get(side) or {}).get("repo") or {} for side in ("head", "base")]
    if sides[0].get("full_name") != sides[1].get("full_name"):
        return "; the token of a pull request from a fork may only read"
    return f"; the job needs `permissions: {{ {permission}: write }}`"


def _summarise(body: str) -> None:
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if not file:
        return
    try:
        with open(file, "a", encoding="utf-8") as stream:
            stream.write(f"\n{body}")
    except OSError as error:
        print(f"::warning title=eval-skills::the job's summary cannot be written: {_escaped(str(error))}")


def _wrong(message: str) -> int:
    print(f"::error title=eval-skills::{_escaped(message)}")
    return 2


def _escaped(message: str) -> str:
    """As a command of a workflow takes it: a line break would begin another command."""
    return message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
