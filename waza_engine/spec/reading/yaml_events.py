"""The events of YAML text, as a run and the editor read them: by libyaml if it is built in. Light.

Architecture invariant: no constructor of the library runs, so nothing in a file can build anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Iterator


class Mark(Protocol):
    """A place in the text, both counted from 0; ``index`` in characters."""

    index: int
    line: int


class Event(Protocol):
    """An event, as ``yaml`` hands it over; which of the values it has depends on its class there."""

    start_mark: Mark
    end_mark: Mark
    anchor: str | None
    tag: str | None
    style: str | None
    value: str
    flow_style: bool | None


class _Parser(Protocol):
    def get_event(self) -> Event | None: ...


def events_of(text: str) -> Iterator[Event]:
    """Yield the events of YAML text in order. Raises ``yaml.YAMLError`` where it is broken."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    parser = cast("_Parser", loader(text))
    return iter(parser.get_event, None)
