"""What graders that ask a model share.

Architecture invariant: a judge never guesses. Without an executor that has a model there is no score, only an
error.
"""

from __future__ import annotations

from typing import NoReturn

from waza_engine.graders.base import GraderError


def no_judge(type_name: str) -> NoReturn:
    """Say that nothing can judge yet. Raises ``GraderError``, always."""
    raise GraderError(
        f"`{type_name}` needs an executor with a model to judge, which this version does not have"
    )
