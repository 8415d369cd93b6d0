"""A client's settings for runs: those of the window, and of folders with settings of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from waza_language_server.project.uris import path_of

if TYPE_CHECKING:
    from waza_language_server.protocol.client_options import ClientOptions


class RunSettings:
    """The default options of a run, named as in ``eval.run``."""

    def __init__(self, options: ClientOptions, settled: Callable[[object], dict[str, Any]]) -> None:
        """``settled`` converts settings to options, named as in ``eval.run``."""
        self._of_window = settled(options.run)
        given = options.run_by_folder
        by_uri = cast("dict[str, object]", given) if isinstance(given, dict) else dict[str, object]()
        known = ((path_of(uri), settled(said)) for uri, said in by_uri.items())
        # The innermost folder first: open folders may be nested.
        self._of_folders: list[tuple[Path, dict[str, Any]]] = sorted(
            ((path, said) for path, said in known if path is not None), key=lambda each: -len(each[0].parts)
        )

    def of(self, suite: Path) -> Mapping[str, Any]:
        """Return those of a suite: of the innermost folder around it that has some, else of the window."""
        inside = (said for folder, said in self._of_folders if suite.is_relative_to(folder))
        return next(inside, self._of_window)
