"""How many messages, how fast, how much memory: counted by a session, added up over many."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

_PERCENTILES = (50, 95, 99, 99.9)
_KEPT_SLOWEST = 5


@dataclass
class Measurements:
    """Seconds per answer are from when a request was sent, or the answer before it came, until its answer."""

    messages: int = 0
    answers: int = 0
    errors: Counter[int] = field(default_factory=Counter[int])
    checks: Counter[str] = field(default_factory=Counter[str])
    peak_bytes: int = 0
    growth_bytes: int = 0
    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    slowest: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])

    def answered(self, method: str, seconds: float, what: str) -> None:
        """Count an answer; ``what`` says where to find its request again."""
        self.answers += 1
        self.seconds[method].append(seconds)
        if len(self.slowest) < _KEPT_SLOWEST or seconds > self.slowest[-1][0]:
            self._keep_slowest([(seconds, what)])

    def add(self, other: Measurements) -> None:
        """Add what another session has measured."""
        self.messages += other.messages
        self.answers += other.answers
        self.errors += other.errors
        self.checks += other.checks
        self.peak_bytes = max(self.peak_bytes, other.peak_bytes)
        self.growth_bytes = max(self.growth_bytes, other.growth_bytes)
        for method, seconds in other.seconds.items():
            self.seconds[method] += seconds
        self._keep_slowest(other.slowest)

    def summary(self) -> str:
        """Return everything as text for a terminal."""
        lines = [
            f"{self.messages:,} messages, {self.answers:,} answers, "
            f"peak memory {self.peak_bytes / 2**20:.0f} MiB, "
            f"most growth of a session {self.growth_bytes / 2**20:.0f} MiB",
            "checks: " + ", ".join(f"{name} {count:,}" for name, count in sorted(self.checks.items())),
            "errors answered: "
            + ", ".join(f"{code}: {count:,}" for code, count in sorted(self.errors.items())),
            f"{'milliseconds per answer':36}{'count':>9}"
            + "".join(f"{f'p{percent:g}':>9}" for percent in _PERCENTILES)
            + f"{'worst':>9}",
        ]
        everything = [second for seconds in self.seconds.values() for second in seconds]
        for method, seconds in (*sorted(self.seconds.items()), ("all", everything)):
            if seconds:
                lines.append(_row(method, sorted(seconds)))
        lines += [f"slowest: {1000 * seconds:.0f} ms {what}" for seconds, what in self.slowest]
        return "\n".join(lines)

    def _keep_slowest(self, more: list[tuple[float, str]]) -> None:
        self.slowest = sorted([*self.slowest, *more], reverse=True)[:_KEPT_SLOWEST]


def _row(method: str, ordered: list[float]) -> str:
    last = len(ordered) - 1
    shown = [ordered[min(last, int(len(ordered) * percent / 100))] for percent in _PERCENTILES]
    return f"{method:36}{len(ordered):>9,}" + "".join(
        f"{1000 * value:>9.1f}" for value in (*shown, ordered[-1])
    )
