"""The options that a client sends with ``initialize`` (``initializationOptions``)."""

from __future__ import annotations

from typing import cast

from waza_engine.frozen import frozen

LIVE_WORDS = ("on", "off", "no assertions")


@frozen()
class Shown:
    """The kinds of lenses or hints that a client shows: all but those that it has switched off."""

    hidden: frozenset[str] = frozenset()
    enabled: bool = True

    def __contains__(self, kind: str) -> bool:
        return self.enabled and kind not in self.hidden

    @staticmethod
    def of(section: object) -> Shown:
        """Return the values of a section of the settings: ``{"enable": true, kind: false, …}``."""
        said = cast("dict[str, object]", section) if isinstance(section, dict) else dict[str, object]()
        hidden = frozenset(kind for kind, value in said.items() if value is False)
        return Shown(hidden - {"enable"}, "enable" not in hidden)


@frozen()
class ClientOptions:
    """``interpreter`` is the Python that runs suites, None for the server's own.

    ``trusted`` says whether code of this workspace may run; it may if a client without workspace trust does
    not say. ``suggest_command`` is a command of the client that opens the list of suggestions,
    ``run_with_command`` one that asks for the options of a run and starts it.
    ``severity`` are severities by code, as received. ``run_events`` says whether the client wants all
    events of runs.
    ``run`` are its settings for runs, as received; ``run_by_folder`` the same by folders' URIs.
    ``shows_changes`` says that it has the command ``waza.showChange``, ``opens_trials`` ``waza.openTrial``,
    ``live`` says whether recorded answers are graded again as a suite is edited: ``on``, ``off`` or
    ``no assertions``; a client that does not say does not want it.
    ``draws_marks`` that it requests ``waza/marks`` after a notification that they have changed.
    ``confirms`` that it answers ``waza/confirm``: modal questions.
    ``creates_files`` that it answers ``waza/createFiles``: it shows new files before it writes them.
    ``reports_json_syntax`` that it reports invalid JSON and duplicate keys itself.
    ``lens`` and ``hints`` are the kinds of lenses and hints that it shows; ``cost`` is what a lens says a run
    will cost.
    """

    interpreter: str | None = None
    trusted: bool = True
    suggest_command: str | None = None
    severity: object = None
    run_events: bool = False
    shows_changes: bool = False
    opens_trials: bool = False
    draws_marks: bool = False
    confirms: bool = False
    creates_files: bool = False
    reports_json_syntax: bool = False
    run_with_command: str | None = None
    run: object = None
    run_by_folder: object = None
    live: str = "off"
    lens: Shown = Shown()
    hints: Shown = Shown()


def client_options(given: object) -> ClientOptions:
    """Return the options of a client; invalid values are ignored, and never grant trust."""
    options = cast("dict[str, object]", given) if isinstance(given, dict) else dict[str, object]()
    interpreter, trusted = options.get("interpreter"), options.get("trusted")
    suggest = options.get("suggestCommand")
    return ClientOptions(
        _word(interpreter),
        trusted is None or trusted is True,
        _word(suggest),
        options.get("severity"),
        options.get("runEvents") is True,
        options.get("showsChanges") is True,
        options.get("opensTrials") is True,
        options.get("drawsMarks") is True,
        options.get("confirms") is True,
        options.get("createsFiles") is True,
        options.get("reportsJsonSyntax") is True,
        _word(options.get("runWithCommand")),
        options.get("run"),
        options.get("runByFolder"),
        live=known_live(options.get("live")) or "off",
        lens=Shown.of(options.get("lens")),
        hints=Shown.of(options.get("hints")),
    )


def known_live(given: object) -> str | None:
    """Return a value of the setting ``waza.live.enable``, None if it is not a valid one."""
    return given if isinstance(given, str) and given in LIVE_WORDS else None


def _word(given: object) -> str | None:
    return given if isinstance(given, str) and given else None
