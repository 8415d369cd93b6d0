"""Bind the arguments of a call to the variables of a lambda, with Python's own messages."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

UNBOUND: Any = object()
"""The content of a variable that has no value yet."""


class Parameters:
    """The parameters of a lambda. Their variables are the first ones of its frame, in their order."""

    def __init__(self, node: ast.Lambda) -> None:
        self._only_positional = len(node.args.posonlyargs)
        self.positional = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
        self._named = [each.arg for each in node.args.kwonlyargs]
        self._takes_more = node.args.vararg is not None
        self._takes_keywords = node.args.kwarg is not None
        self.is_plain = not (self._named or self._takes_more or self._takes_keywords)

    def bind(
        self,
        args: tuple[Any, ...],
        keywords: dict[str, Any],
        defaults: Sequence[Any],
        named_defaults: Mapping[str, Any],
    ) -> list[Any]:
        """Return the values of all parameters. Raises ``TypeError``."""
        count = len(self.positional)
        values = [*args[:count], *[UNBOUND] * (count - len(args))]
        named = dict.fromkeys(self._named, UNBOUND)
        others: dict[str, Any] = {}
        for name, value in keywords.items():
            if name in self.positional[self._only_positional :]:
                index = self.positional.index(name)
                if values[index] is not UNBOUND:
                    raise TypeError(f"<lambda>() got multiple values for argument '{name}'")
                values[index] = value
            elif name in named:
                named[name] = value
            elif self._takes_keywords:
                others[name] = value
            elif name in self.positional:
                raise TypeError(
                    f"<lambda>() got some positional-only arguments passed as keyword arguments: '{name}'"
                )
            else:
                raise TypeError(f"<lambda>() got an unexpected keyword argument '{name}'")
        if len(args) > count and not self._takes_more:
            raise TypeError(
                f"<lambda>() takes {_counted(count, 'positional argument')} but {len(args)} "
                f"{'was' if len(args) == 1 else 'were'} given"
            )
        for index, value in enumerate(defaults, count - len(defaults)):
            if values[index] is UNBOUND:
                values[index] = value
        for name, value in named_defaults.items():
            if named[name] is UNBOUND:
                named[name] = value
        _check_complete("positional", self.positional, values)
        _check_complete("keyword-only", self._named, list(named.values()))
        more = [tuple(args[count:])] if self._takes_more else []
        return [*values, *named.values(), *more, *([others] if self._takes_keywords else [])]


def _check_complete(kind: str, names: Sequence[str], values: Sequence[Any]) -> None:
    missing = [repr(name) for name, value in zip(names, values, strict=True) if value is UNBOUND]
    if missing:
        *most, last = missing
        listed = f"{', '.join(most)} and {last}" if most else last
        raise TypeError(f"<lambda>() missing {_counted(len(missing), f'required {kind} argument')}: {listed}")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
