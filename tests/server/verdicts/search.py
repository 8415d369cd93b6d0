"""Try many random sequences of runs, and report the first with wrong verdicts: ``make search-verdicts``."""

import sys
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.server.verdicts.sequences import Run, carry_out, sequences

_EVERY = 500


def search(count: int, start: int) -> None:
    """Try random sequences, from a ``start`` that another search does not share."""
    tried = 0

    @seed(start)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
        phases=(Phase.generate,),
    )
    @given(sequences())
    def agree(runs: list[Run]) -> None:
        nonlocal tried
        tried += 1
        if not tried % _EVERY:
            sys.stderr.write(f"{tried} sequences\n")
        with tempfile.TemporaryDirectory() as directory:
            carry_out(runs, Path(directory) / "suite")

    try:
        agree()
    finally:
        sys.stdout.write(f"{tried} sequences tried\n")


if __name__ == "__main__":
    search(int(sys.argv[1]) if sys.argv[1:] else 10_000, int(sys.argv[2]) if sys.argv[2:] else 0)
