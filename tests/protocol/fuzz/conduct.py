"""Plays the steps of a session.

What a step may ``do``:

* ``disk``: change a file, see ``disk.apply``.
* ``message``: send ``message``, see ``Session.send`` for what else may stand in the step.
* ``wait``: wait for the answers to all that was sent.
* ``compare``, ``fresh``, ``fix``, ``accept``, ``settle``: functions below, which depend on answers.
* ``leave``: ``shutdown`` and ``exit``, the second without waiting when ``hasty``.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from tests.protocol.fuzz import disk
from tests.protocol.fuzz.checks import edits_of
from tests.protocol.fuzz.findings import FoundError, Step
from tests.protocol.fuzz.session import Opened, Session
from waza_language_server.project.claim import EVAL_NAMES, TRIGGER_NAMES
from waza_language_server.syntax.fault import STRUCTURAL_CODES

View = dict[str, Any]
QUIET_SECONDS = 0.5
"""How long nothing comes before a client that waits for diagnostics believes what it has."""


def play(session: Session, step: Step) -> None:
    """Play one step and remember it. Raises ``FoundError``."""
    session.steps.append(step)
    _PLAY[step["do"]](session, step)


def compare(session: Session, step: Step) -> None:
    """Ask about a document, close and open it again, ask again: what was edited is as if just opened."""
    uri = step["uri"]
    if uri not in session.documents:
        return
    session.wait()
    session.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    before = _view(session, uri, step)
    opened = session.documents[uri]
    session.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    _open(session, uri, opened, step["version"])
    if _was_begun(session, uri, before):
        return
    _same(f"{uri} opened again", before, _view(session, uri, step))
    session.checks["opened again"] += 1


def fresh(session: Session, step: Step) -> None:
    """Ask about all open documents here and of a new server, which has the same files and texts."""
    session.wait()
    _judge_again(session)
    twin = Session(session.settings, session.root, session.limits)
    try:
        introduction = {**session.introduction, "workspaceFolders": session.folders}
        twin.ask("initialize", introduction)
        twin.notify("initialized", {})
        for uri, opened in session.documents.items():
            _open(twin, uri, opened, opened.version)
        _judge_again(twin)
        for uri in session.documents:
            view = _view(session, uri, step)
            if _was_begun(twin, uri, view):
                continue
            _same(f"{uri} in a new server", view, _view(twin, uri, step))
            session.checks["new server"] += 1
    finally:
        twin.close()


def fix(session: Session, step: Step) -> None:
    """Take a code action for a problem: afterwards there is one such problem less."""
    uri = step["uri"]
    problems = _problems(session, uri) if uri in session.documents else None
    if not problems:
        return
    problem = problems[step["pick"] % len(problems)]
    context: dict[str, Any] = {"diagnostics": [problem]}
    if step.get("only"):
        context["only"] = step["only"]
    params = {"textDocument": {"uri": uri}, "range": problem["range"], "context": context}
    actions = [
        action for action in session.ask("textDocument/codeAction", params) or () if edits_of(action, uri)
    ]
    if not actions:
        return
    action = actions[step["pick"] % len(actions)]
    text = session.documents[uri].text.edited(edits_of(action, uri)).content
    _change(session, uri, step["version"], {"text": text})
    left = Counter(map(_words, _problems(session, uri) or ()))
    before = Counter(map(_words, problems))
    for repaired in action.get("diagnostics", ()):
        words = _words(repaired)
        # What could not be read hides mistakes, which may be told in the same words then.
        if words[0] in STRUCTURAL_CODES and left.total() < before.total():
            continue
        # What is held back while somebody types was not told before.
        if left[words] >= max(1, before[words]):
            raise FoundError("fix", f"{action['title']!r} leaves {words}")
    session.checks["fixes"] += 1


def accept(session: Session, step: Step) -> None:
    """Take a suggestion at a position and go on with the text it makes."""
    uri = step["uri"]
    if uri not in session.documents:
        return
    params = {"textDocument": {"uri": uri}, "position": step["position"]}
    found = session.ask("textDocument/completion", params)
    items = [item for item in (found or {}).get("items", ()) if "textEdit" in item]
    if items:
        edit = items[step["pick"] % len(items)]["textEdit"]
        _change(session, uri, step["version"], {"range": edit["range"], "text": edit["newText"]})
        session.checks["suggestions"] += 1


def settle(session: Session, step: Step) -> None:
    """Wait for what comes unasked: diagnostics belong to the newest texts, and none to closed documents."""
    del step
    session.wait()
    if session.settings.pulls:
        return
    session.until_quiet(QUIET_SECONDS)
    for uri in session.documents:
        if session.settings.versions and _is_ours(session, uri):
            session.until_published(uri)
    for uri, (_, diagnostics) in session.published.items():
        if uri not in session.documents and diagnostics:
            raise FoundError("problems of a closed document", f"{uri}: {diagnostics!r:.300}")
    session.checks["settled"] += 1


def _message(session: Session, step: Step) -> None:
    more = {name: step[name] for name in ("expect", "patient") if name in step}
    session.send(step["message"], **more)


_PLAY: dict[str, Callable[[Session, Step], None]] = {
    "disk": lambda session, step: disk.apply(session.root, step),
    "message": _message,
    "wait": lambda session, _: session.wait(),
    "leave": lambda session, step: session.leave(hasty=bool(step.get("hasty"))),
    "compare": compare,
    "fresh": fresh,
    "fix": fix,
    "accept": accept,
    "settle": settle,
}


def _open(session: Session, uri: str, opened: Opened, version: int) -> None:
    item = {"uri": uri, "languageId": opened.language, "version": version, "text": opened.text.content}
    session.notify("textDocument/didOpen", {"textDocument": item})


def _change(session: Session, uri: str, version: int, change: dict[str, Any]) -> None:
    identifier = {"uri": uri, "version": version}
    session.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": [change]})


def _judge_again(session: Session) -> None:
    """Let the server ask anew what is its own, as it does when files change and are saved."""
    change = {"uri": "file://$ROOT/nothing.yaml", "type": 2}
    for _ in range(2):
        session.notify("workspace/didChangeWatchedFiles", {"changes": [change]})
        for uri in session.documents:
            session.notify("textDocument/didSave", {"textDocument": {"uri": uri}})


def _view(session: Session, uri: str, step: Step) -> View:
    """Return all that the server says about a document, in a form that can be compared."""
    identifier = {"textDocument": {"uri": uri}}
    end = {"line": len(session.documents[uri].text.lines), "character": 0}
    everything = {"start": {"line": 0, "character": 0}, "end": end}
    view: View = {
        "lenses": session.ask("textDocument/codeLens", identifier),
        "hints": [
            (hint["position"], hint["label"])
            for hint in session.ask("textDocument/inlayHint", {**identifier, "range": everything}) or ()
        ],
        "problems": _problems(session, uri),
    }
    for position in step["positions"]:
        at = {**identifier, "position": position}
        view[f"hover {position}"] = session.ask("textDocument/hover", at)
        found = session.ask("textDocument/completion", at)
        view[f"completion {position}"] = sorted(
            json.dumps([item["label"], item.get("textEdit")]) for item in (found or {}).get("items", ())
        )
    return view


def _problems(session: Session, uri: str) -> list[Any] | None:
    """Return the diagnostics of a document; None when it is not ours, or the client cannot know."""
    if session.settings.pulls:
        report = session.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        return None if report is None else report["items"]
    if not _is_ours(session, uri):
        return None
    session.until_published(uri)
    session.until_quiet(QUIET_SECONDS)
    return session.until_published(uri)


def _was_begun(session: Session, uri: str, before: View) -> bool:
    """Return whether only a server that saw the eval file empty takes it for one (``project/claim.py``).

    Trigger tests next to such a file belong to its suite.
    """
    is_of_suite = uri.rpartition("/")[2] in (*EVAL_NAMES, *TRIGGER_NAMES)
    return is_of_suite and before["lenses"] is not None and not _is_ours(session, uri)


def _is_ours(session: Session, uri: str) -> bool:
    # Not by its lenses: any `SKILL.md` has some.
    place = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
    return session.ask("textDocument/documentHighlight", place) is not None


def _words(diagnostic: Mapping[str, Any]) -> tuple[str, str]:
    return str(diagnostic["code"]), str(diagnostic["message"])


def _same(what: str, one: View, other: View) -> None:
    for name, value in one.items():
        if value != other[name]:
            details = (
                f"{what}: {name}\n  before {_only(value, other[name])}\n  after  {_only(other[name], value)}"
            )
            raise FoundError(f"mismatch of {name.split(' ')[0]}", details)


def _only(value: Any, other: Any) -> str:
    """Return what is in one of two lists alone, or the whole value."""
    if isinstance(value, list) and isinstance(other, list):
        return f"{[each for each in value if each not in other][:3]!r:.800} ({len(value)})"
    return f"{value!r:.800}"
