"""The ``config`` block of a grader: the base of every grader type's options."""

from __future__ import annotations

from typing import ClassVar

from waza_engine.spec.block import Block


class GraderConfig(Block):
    """Base of every grader's ``config`` block, and of the blocks inside it."""

    _without_one: ClassVar[str] = "nothing to check: "
    marks_nullable: ClassVar[bool] = False
