"""The health of a skill in production: a window that rolls over sampled interactions, and a status with hysteresis.

The status is that of the window now: ``insufficient_data`` below `min_sample`, else ``critical`` where the pass rate is under
`critical`, ``warning`` where it is under `warning`, else ``healthy``; equality is on the better side. It has no memory.

What is *announced* has one, so that a rate that oscillates around a threshold makes one event and not hundreds. Worse is
announced at once. Better is announced only when the rate is `hysteresis` above the threshold (or is 1).

Which interactions are sampled depends on the id of each alone.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from math import fsum
from typing import Literal

from eval_skills.core.models import ConfidenceInterval
from eval_skills.core.statistics.rates import wilson

HealthStatus = Literal["insufficient_data", "healthy", "warning", "critical"]
SEVERITY: dict[HealthStatus, int] = {"healthy": 0, "warning": 1, "critical": 2}
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRule:
    """When a window is healthy. Rates lie in [0, 1]; `critical` is at most `warning`, `min_sample` at most the window."""

    window: int = 200
    min_sample: int = 30
    warning: float = 0.85
    critical: float = 0.70
    hysteresis: float = 0.02

    def status(self, passed: int, size: int) -> HealthStatus:
        """What `passed` of `size` samples say."""
        return self._level(passed / size, 0.0) if size >= self.min_sample else "insufficient_data"

    def announced(self, before: HealthStatus, passed: int, size: int) -> HealthStatus:
        """What is announced after `before`."""
        now = self.status(passed, size)
        if "insufficient_data" in (now, before) or SEVERITY[now] >= SEVERITY[before]:
            return now
        recovered = self._level(passed / size, self.hysteresis)
        return min(recovered, before, key=SEVERITY.__getitem__)

    def _level(self, rate: float, margin: float) -> HealthStatus:
        if rate < min(1.0, self.critical + margin):
            return "critical"
        return "warning" if rate < min(1.0, self.warning + margin) else "healthy"


@dataclass(frozen=True, slots=True)
class Judged:
    """What the window keeps of a sample: `score` is None, and `error` true, where there was nothing to score.

    `content` is a digest of what the log says of the interaction: an id may name several. It is "" where the id is such a digest
    itself, and where only the id is known.
    """

    interaction_id: str
    passed: bool
    score: float | None = None
    error: bool = False
    content: str = ""

    @property
    def identity(self) -> tuple[str, str]:
        """What tells it from every other sample."""
        return self.interaction_id, self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowFigures:
    """The window at one moment. Errors count as not passed; `pass_rate` is None, and the interval [0, 1], of no samples."""

    size: int
    passed: int
    errors: int
    pass_rate: float | None
    interval: ConfidenceInterval
    mean_score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusChange:
    """An announced change, with the window that caused it; `interaction_id` and `content` are those of its last sample."""

    before: HealthStatus
    after: HealthStatus
    figures: WindowFigures
    interaction_id: str
    content: str = ""


class HealthMonitor:
    """The last samples of one log and the status they amount to; its memory is that of one window.

    `samples` are those of an earlier window, oldest first, and `announced` what was announced then.
    """

    def __init__(self, rule: HealthRule, samples: Iterable[Judged] = (), announced: HealthStatus = "insufficient_data") -> None:
        self.rule, self.announced = rule, announced
        self._samples: deque[Judged] = deque(maxlen=rule.window)
        self._known: set[tuple[str, str]] = set()
        self._ids: Counter[str] = Counter()
        self._passed = 0
        for sample in samples:
            self._take(sample)

    def __contains__(self, sample: Judged) -> bool:
        """Whether the window holds the same interaction: one with the same id and the same content."""
        return sample.identity in self._known

    def names_another(self, sample: Judged) -> bool:
        """Whether the id of `sample` is that of an interaction in the window with another content."""
        return self._ids[sample.interaction_id] > (sample in self)

    @property
    def samples(self) -> list[Judged]:
        """The window, oldest first."""
        return list(self._samples)

    @property
    def status(self) -> HealthStatus:
        """What the window says now."""
        return self.rule.status(self._passed, len(self._samples))

    def add(self, sample: Judged) -> StatusChange | None:
        """Let a sample into the window (and the oldest out of a full one); what is to be announced, if anything is."""
        self._take(sample)
        before, self.announced = self.announced, self.rule.announced(self.announced, self._passed, len(self._samples))
        if self.announced == before:
            return None
        last = {"interaction_id": sample.interaction_id, "content": sample.content}
        return StatusChange(before=before, after=self.announced, figures=self.figures(), **last)

    def figures(self) -> WindowFigures:
        """The window's figures; the interval is Wilson's, of the pass rate."""
        size, scores = len(self._samples), [sample.score for sample in self._samples if sample.score is not None]
        rate = self._passed / size if size else None
        lower, upper = wilson(rate or 0.0, size, level=LEVEL)
        return WindowFigures(
            size=size,
            passed=self._passed,
            errors=sum(sample.error for sample in self._samples),
            pass_rate=rate,
            interval=ConfidenceInterval(lower=lower, upper=upper, level=LEVEL, method="wilson"),
            mean_score=fsum(scores) / len(scores) if scores else None,
        )

    def _take(self, sample: Judged) -> None:
        if len(self._samples) == self.rule.window:
            self._forget(self._samples[0])
        self._samples.append(sample)
        self._known.add(sample.identity)
        self._passed += sample.passed
        if sample.content:  # without one it may be the same interaction
            self._ids[sample.interaction_id] += 1

    def _forget(self, oldest: Judged) -> None:
        self._known.discard(oldest.identity)
        self._passed -= oldest.passed
        if oldest.content:
            self._ids[oldest.interaction_id] -= 1
            if not self._ids[oldest.interaction_id]:
                del self._ids[oldest.interaction_id]


_DRAWS = 2**64


def is_sampled(interaction_id: str, *, rate: float, seed: int) -> bool:
    """Whether the interaction belongs to the sample of `rate`, in (0, 1].

    The hash of seed and id is a whole number in [0, 2⁶⁴) and is drawn when it lies under rate · 2⁶⁴: order, restarts and the
    size of chunks change nothing, a rate of 1 takes all, and who is drawn at some rate is drawn at every higher one, too.
    """
    # a text that UTF-8 cannot carry (half an emoji, as some loggers cut them) has an id as well
    content = f"{seed}:{interaction_id}".encode(errors="surrogatepass")
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "big") < rate * _DRAWS
