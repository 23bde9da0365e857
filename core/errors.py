"""Everything that can go wrong, as one tree.

::

    EvalSkillsError
    ├─ UserError            the user can fix it: one line, exit code 2
    │  ├─ UsageError        an option or argument is wrong
    │  ├─ ConfigError       a configuration file, variable or value is wrong
    │  └─ InputError        a skill, benchmark, strategy or report cannot be used
    ├─ RunError             the run could not finish: exit code 3
    ├─ ItemError            one item went wrong; it becomes data, never the end of a run
    │  ├─ SkillError        the skill answered with an error           (kind skill)
    │  │  ├─ SkillCrashed   … its program or service failed instead of answering; another attempt may succeed
    │  │  └─ SkillNotStarted   … it ended as soon as it was started; asking again gives the same
    │  ├─ ContractError     the skill answered something unreadable    (kind contract)
    │  ├─ InfraError        the skill could not be reached or started  (kind infra)
    │  │  ├─ SkillUnavailable   … and another attempt may succeed
    │  │  │  └─ SkillThrottled  … its service asks for fewer requests; asking again is not another attempt
    │  │  └─ ItemLeft       the run ended while the item waited for its turn; nothing was asked, and it is left for a resume
    │  ├─ SkillTimeout      the deadline passed                        (status timeout)
    │  ├─ ScorerError       the scorer itself failed                   (kind scorer)
    │  ├─ JudgeError        the judging model failed                   (kind judge)
    │  └─ SimulatorError    the model that plays the user failed       (kind simulator)
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from eval_skills.core.models import SkillResponse
    from eval_skills.core.models.result import ErrorKind
    from eval_skills.core.rate_limits.services import Throttled


class StoreWarning(UserWarning):
    """What was read of a store leaves something out, such as a damaged file; the message is a sentence for the user."""


def warn_of_store(message: str) -> None:
    """Warn of it, where no command prints such sentences itself."""
    warnings.warn(message, StoreWarning, stacklevel=2)


UNSUPPORTED = "runs on Linux and macOS; on Windows, install and call it in WSL (Windows Subsystem for Linux)"
"""What a call on Windows says, where neither the locks of stores nor the ends of processes that it relies on exist."""


class EvalSkillsError(Exception):
    """The root of all errors of this package."""


class UserError(EvalSkillsError, ValueError):
    """Something that the user can fix; the message is one line and says how."""


class UsageError(UserError):
    """An option or argument is wrong."""


class ConfigError(UserError):
    """A configuration file, environment variable or value is wrong."""


class InputError(UserError):
    """A file or object that was given cannot be used.

    `source` names the file (or None for data in memory), `path` the place inside it (``tasks[3].evaluator``).
    """

    def __init__(self, message: str, *, source: Path | str | None = None, path: str = "") -> None:
        self.message, self.source, self.path = message, source, path
        where = ": ".join(str(part) for part in (source, path) if part)
        super().__init__(f"{where}: {message}" if where else message)


class RunError(EvalSkillsError):
    """The run could not finish; what is done is kept, and the message says how to go on."""


class ItemError(EvalSkillsError):
    """One item went wrong. `transient` says whether another attempt can help.

    `retry_after_s` is the time the other side asked us to wait, `latency_ms` how long the attempt took (None: unknown),
    `logs` what the skill wrote to its log, `known` what its answer reveals of the run before it failed (None: nothing),
    `duplicate_keys` the keys that an object of its JSON gave twice.
    """

    kind: ClassVar[ErrorKind]
    transient: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        latency_ms: float | None = None,
        logs: str = "",
        known: SkillResponse | None = None,
    ) -> None:
        super().__init__(message)
        self.retry_after_s, self.latency_ms, self.logs, self.known = retry_after_s, latency_ms, logs, known
        self.duplicate_keys: list[str] = []


class SkillError(ItemError):
    """The skill answered, and its answer is an error; asking again gives the same."""

    kind = "skill"


class SkillCrashed(SkillError):
    """The skill's own program ended, or its service failed, instead of answering; another attempt may succeed."""

    transient = True


class SkillNotStarted(SkillError):
    """The skill's own program or service ended as soon as it was started, or its code cannot be loaded; so it will again."""


class ContractError(ItemError):
    """The skill answered something that its protocol does not allow."""

    kind = "contract"


class InfraError(ItemError):
    """The skill could not be reached or started: something kept the request from it, and nothing is known of how it does."""

    kind = "infra"


class SkillUnavailable(InfraError):
    """The skill refused, dropped or postponed the call; another attempt may succeed."""

    transient = True


class SkillThrottled(SkillUnavailable):
    """The skill's service refused the request because there were too many, as HTTP 429 says.

    `throttled` says how long nothing is asked of it now; None where nobody waits for that: then it is an error like any other.
    """

    throttled: Throttled | None = None


class ItemLeft(InfraError):
    """The run ended while the item waited for its turn at the service: nothing was asked, and there is no result."""


class SkillTimeout(ItemError, TimeoutError):
    """The skill did not answer before its deadline; the call has been stopped."""

    kind = "timeout"
    transient = True


class ScorerError(ItemError):
    """The scorer itself failed; the answer is kept and has no score."""

    kind = "scorer"


class JudgeError(ItemError):
    """The judging model could not be reached or did not give a readable verdict.

    `code` is that of the reason which the item gets: ``JUDGE_TIMEOUT``, ``JUDGE_BUDGET`` ….
    """

    kind = "judge"

    def __init__(self, message: str, *, code: str = "JUDGE_ERROR", retry_after_s: float | None = None) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.code = code


class SimulatorError(ItemError):
    """The model that plays the user could not be reached, or wrote no readable message; `code` is that of its `JudgeError`.

    `known` has the turns so far, which are all answered. It says nothing about the skill.
    """

    kind = "simulator"

    def __init__(self, message: str, *, code: str = "SIMULATOR_ERROR") -> None:
        super().__init__(message)
        self.code = code


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """The exception and all of its causes, each once: a program may have made them a circle."""
    each: BaseException | None = error
    seen: set[int] = set()
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or each.__context__
