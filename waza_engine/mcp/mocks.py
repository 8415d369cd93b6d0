"""MCP servers that answer from fixtures: read from ``mcp_mocks``, checked, and started by the agent.

A broken mock is left out with a warning, as upstream does.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

import msgspec
from pydantic import ValidationError

from waza_engine.boundary import Boundary, suite_boundary
from waza_engine.counting import cut
from waza_engine.files import FileError, from_home, read_text
from waza_engine.graders.matching.json_schemas import SchemaError, compile_schema
from waza_engine.graders.matching.matchers import equal, text_of
from waza_engine.graders.matching.patterns import PatternError, check_syntax, is_match
from waza_engine.mcp import MOCK_COMMAND
from waza_engine.mcp.servers import Server
from waza_engine.spec.eval_file import McpMock, McpResponse, McpTool
from waza_engine.spec.explain import location_of, sentence, without_echoes
from waza_engine.spec.reading.json_reader import json_fault

_SHOWN = 300
LONGEST_BYTES = 64 * 1024 * 1024
"""Larger fixtures, and larger mocks as a whole, are not read."""
_ANY_ARGUMENTS: Mapping[str, Any] = {"type": "object"}
_MOCK_ARGUMENTS = ("-P", "-m", "waza_engine", MOCK_COMMAND)


class MockError(Exception):
    """The mock cannot be used, or has no answer; the message is for the author of the suite."""


@dataclass(frozen=True, slots=True)
class MockStep:
    """The result of one call of several, after some milliseconds. ``error`` makes it a tool error."""

    result: Any = None
    error: str = ""
    delay_ms: int = 0


@dataclass(frozen=True, slots=True)
class MockResponse:
    """One canned answer; conditions that are empty always hold. ``error`` makes it a tool error.

    ``steps`` are the results of successive calls; calls after the last fail.
    """

    match: Mapping[str, Any] = field(default_factory=dict[str, Any])
    match_regex: Mapping[str, str] = field(default_factory=dict[str, str])
    match_schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    result: Any = None
    error: str = ""
    steps: tuple[MockStep, ...] = ()

    def fits(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether every condition holds. Raises ``MockError`` when a pattern takes too long."""
        try:
            return (
                (not self.match or equal(self.match, arguments))
                and all(
                    name in arguments and is_match(pattern, text_of(arguments[name]))
                    for name, pattern in self.match_regex.items()
                )
                and (not self.match_schema or compile_schema(self.match_schema).is_valid(arguments))
            )
        except (PatternError, SchemaError) as error:
            raise MockError(str(error)) from None


@dataclass(frozen=True, slots=True)
class MockTool:
    """A tool of a mock; there is at least one response."""

    responses: tuple[MockResponse, ...]
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=lambda: dict(_ANY_ARGUMENTS))


@dataclass(frozen=True, slots=True)
class MockServer:
    """A mock by name, with its tools by name."""

    name: str
    tools: Mapping[str, MockTool]

    def answer(self, tool: str, arguments: Mapping[str, Any], taken: Path | None = None) -> str:
        """Return the text of the first response that fits. Raises ``MockError``: a tool error.

        ``taken`` is the folder in which the task records which steps are used up.
        """
        if tool not in self.tools:
            raise MockError(
                f"the mock `{self.name}` has no tool `{tool}`; it has {', '.join(self.tools)}: "
                f"add a fixture `{tool}.json` or an entry in its `tools`"
            )
        for position, response in enumerate(self.tools[tool].responses):
            if response.fits(arguments):
                answer: MockResponse | MockStep = response
                if response.steps:
                    answer = self._next_step(tool, position, response.steps, taken)
                    time.sleep(answer.delay_ms / 1000)
                if answer.error:
                    raise MockError(answer.error)
                return json.dumps(answer.result, ensure_ascii=False, separators=(",", ":"))
        raise MockError(
            f"no response of the tool `{tool}` of the mock `{self.name}` fits the arguments "
            f"{cut(json.dumps(arguments, ensure_ascii=False, default=str), _SHOWN)}; "
            "add one that does to its `responses`"
        )

    def _next_step(self, tool: str, position: int, steps: Sequence[MockStep], taken: Path | None) -> MockStep:
        """Return the step of this call, which no other call gets, also not one of another process."""
        for number, step in enumerate(steps):
            if taken is None:
                return step
            taken.mkdir(parents=True, exist_ok=True)
            mark = hashlib.sha256(f"{self.name}\0{tool}\0{position}\0{number}".encode()).hexdigest()
            try:
                (taken / mark).touch(exist_ok=False)
            except FileExistsError:
                continue
            return step
        raise MockError(
            f"the {len(steps)} steps of the tool `{tool}` of the mock `{self.name}` are used up; "
            "add one to its `sequence`"
        )

    def write(self, path: Path) -> None:
        """Write the mock as JSON, for ``read_mock``."""
        path.write_text(json.dumps(asdict(self), ensure_ascii=False), "utf-8")


def read_mock(path: Path) -> MockServer:
    """Return the mock that ``MockServer.write`` wrote.

    Raises ``OSError``, ``ValueError`` and ``msgspec.ValidationError``.
    """
    return msgspec.convert(json.loads(read_text(path, LONGEST_BYTES)), MockServer)


def steps_folder(mock_file: Path, folder: Path) -> Path:
    """Return the folder that records the used steps of a mock for a folder of a workspace."""
    return mock_file.with_suffix(".steps") / hashlib.sha256(str(folder.resolve()).encode()).hexdigest()


def load_mocks(
    written: Sequence[McpMock], suite_directory: Path
) -> tuple[list[MockServer], list[str], list[str]]:
    """Return the mocks that can be used, the names of those that cannot, and a warning for each of these."""
    mocks: list[MockServer] = []
    broken: list[str] = []
    warnings: list[str] = []
    for mock in written:
        name = mock.name.strip()
        try:
            mocks.append(MockServer(name, _tools(mock, suite_directory)))
        except MockError as error:
            broken.append(name)
            warnings.append(f"the MCP mock `{name}` is left out: {error}")
    return mocks, broken, warnings


def server_of(mock_file: Path) -> Server:
    """Return the configuration with which an agent starts a written mock.

    The interpreter must not look for modules in the workspace, where the agent starts it.
    """
    inherited = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return {
        "type": "stdio",
        "command": sys.executable,
        "args": [*_MOCK_ARGUMENTS, str(mock_file)],
        "env": inherited,
        "tools": ["*"],
    }


def mock_behind(server: Mapping[str, Any]) -> tuple[MockServer, Path] | None:
    """Return the mock, and its file, that a configuration of ``server_of`` starts, None for any other server.

    An executor without an agent can ask it without a process, which takes a second to start.
    """
    arguments = list(server.get("args") or ())
    if tuple(arguments[:-1]) != _MOCK_ARGUMENTS or server.get("command") != sys.executable:
        return None
    try:
        return read_mock(Path(arguments[-1])), Path(arguments[-1])
    except (OSError, ValueError, msgspec.ValidationError):
        return None


def _tools(mock: McpMock, suite_directory: Path) -> dict[str, MockTool]:
    tools: dict[str, MockTool] = {}
    if mock.fixtures:
        within = suite_boundary(suite_directory)
        try:
            place = suite_directory / from_home(mock.fixtures)
            folder = within.first(mock.fixtures, [place], "fixtures")
        except FileError as error:
            raise MockError(error.why) from None
        for name, tool, where in _fixtures(folder, within):
            tools[name] = _tool(_fixture_tool(tool, where), where)
    for name, written in mock.tools.items():
        tools[name] = _tool(written, f"the tool `{name}`")
    if not tools:
        raise MockError("it has no tool; name a directory in `fixtures` or write `tools`")
    return tools


def _fixtures(folder: Path, within: Boundary) -> Iterator[tuple[str, object, str]]:
    """Yield name, description and place of every tool below a directory; hidden directories are left out."""
    if not folder.is_dir():
        raise MockError(f"its `fixtures` {folder} is not a directory")
    for path in sorted(folder.rglob("*.json")):
        if any(part.startswith(".") for part in path.relative_to(folder).parts[:-1]) or not path.is_file():
            continue
        try:
            content = json.loads(read_text(path, LONGEST_BYTES, within=within))
        except FileError as error:
            raise MockError(f"{path} cannot be read: {error.why}") from None
        except json.JSONDecodeError as error:
            raise MockError(f"{path}, line {error.lineno}: {json_fault(error, error.doc)}") from None
        except (ValueError, RecursionError):
            raise MockError(f"{path} cannot be read: it is nested too deeply") from None
        bundle = cast("dict[str, object]", content).get("tools") if isinstance(content, dict) else None
        if isinstance(bundle, dict) and bundle:
            for name, tool in cast("dict[str, object]", bundle).items():
                yield name, tool, f"the tool `{name}` in {path}"
        else:
            yield path.stem, content, str(path)


def _fixture_tool(content: object, where: str) -> McpTool:
    """Return the tool of a fixture, which has the keys of one in ``tools``. Raises ``MockError``."""
    try:
        return McpTool.model_validate(content, context={"warnings": []})
    except ValidationError as error:
        found = without_echoes(error.errors(include_url=False))
        wrong = [sentence(each, location_of(each, content), as_json=True) for each in found]
        raise MockError(f"{where}: {'; '.join(wrong)}") from None


def _tool(written: McpTool, where: str) -> MockTool:
    schema = {**_ANY_ARGUMENTS, **written.input_schema}
    if schema["type"] != "object":
        raise MockError(f"`input_schema` of {where} must be of `type: object`")
    responses = [
        _response(response, f"response {number} of {where}")
        for number, response in enumerate(written.responses, 1)
    ]
    return MockTool(tuple(responses), written.description, schema)


def _response(written: McpResponse, where: str) -> MockResponse:
    patterns, schema = written.match_regex or {}, written.match_schema or {}
    try:
        for pattern in patterns.values():
            check_syntax(pattern)
        compile_schema(schema)
    except (PatternError, SchemaError) as error:
        raise MockError(f"{where}: {error}") from None
    steps = [MockStep(step.return_value, step.error, step.delay_ms) for step in written.sequence or ()]
    return MockResponse(
        written.match or {}, patterns, schema, written.return_value, written.error, tuple(steps)
    )
