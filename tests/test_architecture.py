"""The invariants of the house (CONTRIBUTING.md), each held by a test."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from waza_engine.graders.registry import BUILT_IN_TYPES
from waza_engine.spec.executors import EXECUTORS

ROOT = Path(__file__).parents[1]
ENGINE = ROOT / "waza_engine"
SERVER = ROOT / "server" / "waza_language_server"
PROTOCOL = SERVER / "protocol"

ENGINE_MODULES_FOR_THE_SERVER = {
    "waza_engine",
    "waza_engine.byte_code",
    "waza_engine.files",
    "waza_engine.frozen",
    "waza_engine.later_patterns",
    "waza_engine.command_line",
    "waza_engine.counting",
    "waza_engine.early_interruption",
    "waza_engine.figures",
    "waza_engine.markdown",
    "waza_engine.masking",
    "waza_engine.moments",
    "waza_engine.sparkline",
    "waza_engine.steps",
    "waza_engine.terminal",
    "waza_engine.vocabulary",
    "waza_engine.spec.reading.file_names",
    "waza_engine.spec.reading.grader_packages",
    "waza_engine.spec.executors",
    "waza_engine.spec.json_schema_dialects",
    "waza_engine.spec.pattern_syntax",
    "waza_engine.spec.skill_requirements",
    "waza_engine.spec.program_files",
    "waza_engine.spec.rubric_paths",
    "waza_engine.spec.reading.scalars",
    "waza_engine.spec.reading.searched_folders",
    "waza_engine.spec.reading.task_globs",
    "waza_engine.spec.reading.yaml_events",
    "waza_engine.spec.reading.yaml_faults",
    "waza_engine.assertions.names",
    "waza_engine.processes.trees",
    "waza_engine.results.codec.commits",
    "waza_engine.results.json_values",
    "waza_engine.results.inputs",
    "waza_engine.results.places",
    "waza_engine.results.reading.journals",
    "waza_engine.results.reading.newest_scores",
    "waza_engine.results.reading.overlay",
    "waza_engine.results.reading.suite_conclusion",
    "waza_engine.scoring.prices",
}
ENDS_PROCESSES = (".kill", ".killpg", ".terminate", ".send_signal")
RUNS_CODE = {
    "eval",
    "exec",
    "__import__",
    "system",
    "popen",
    "Popen",
    "run",
    "check_output",
    "check_call",
}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def imports_of(path: Path) -> Sequence[str]:
    """Return the modules that a file imports anywhere, those for type checkers alone left out."""
    found: list[str] = []
    for node in _run_time_nodes(tree_of(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return found


def _run_time_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _run_time_nodes(node)


def imports_below(folder: Path) -> list[tuple[str, str]]:
    """Return (file, imported module) for every import in a package."""
    found = [
        (path.relative_to(ROOT).as_posix(), module)
        for path in sorted(folder.rglob("*.py"))
        for module in imports_of(path)
    ]
    assert found
    return found


def is_from(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def test_the_engine_knows_nothing_of_editors() -> None:
    wrong = [
        (file, module)
        for file, module in imports_below(ENGINE)
        if is_from(module, "pygls", "lsprotocol", "waza_language_server")
    ]
    assert wrong == []


def test_only_the_protocol_package_speaks_lsp() -> None:
    wrong = [
        (file, module)
        for file, module in imports_below(SERVER)
        if is_from(module, "pygls", "lsprotocol") and "/protocol/" not in file
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "room", ["text", "syntax", "schema", "embedded", "project", "analysis", "kept", "features", "engine"]
)
def test_the_core_does_not_know_the_protocol_package(room: str) -> None:
    wrong = [
        (file, module)
        for file, module in imports_below(SERVER / room)
        if is_from(module, "waza_language_server.protocol")
    ]
    assert wrong == []


def test_what_holds_state_knows_neither_the_handlers_nor_the_library() -> None:
    """Services are asked by handlers; what a message looks like is the business of those."""
    wrong = [
        (file, module)
        for file, module in imports_below(PROTOCOL / "services")
        if is_from(module, "pygls", "lsprotocol", "waza_language_server.protocol.handlers")
    ]
    assert wrong == []


def test_handlers_hold_nothing_between_messages() -> None:
    """A handler begins anew with every message: what outlives it is held by a service or the server."""
    held = [
        (path.name, ast.unparse(node))
        for path in sorted((PROTOCOL / "handlers").glob("*.py"))
        for node in tree_of(path).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and _is_mutable(node.value)
    ]
    assert held == []


def _is_mutable(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).partition("[")[0] in {"set", "dict", "list", "WeakKeyDictionary"}
    return isinstance(value, ast.List | ast.Set)


@pytest.mark.parametrize(
    ("room", "above"),
    [
        ("text", ("schema", "project", "analysis", "features")),
        ("syntax", ("schema", "project", "analysis", "features")),
        ("schema", ("analysis", "features")),
        ("embedded", ("text", "syntax", "schema", "project", "analysis", "features")),
        ("project", ("analysis", "kept", "features")),
        ("analysis", ("kept",)),
    ],
)
def test_a_room_uses_only_the_rooms_below_it(room: str, above: tuple[str, ...]) -> None:
    wrong = [
        (file, module)
        for file, module in imports_below(SERVER / room)
        if is_from(module, *(f"waza_language_server.{name}" for name in above))
    ]
    assert wrong == []


ROOMS_OF_SCHEMA_RULES = {
    "meant": set[str](),
    "graders": {"meant"},
    "keys": {"meant", "graders"},
    "values": {"meant", "graders"},
}


@pytest.mark.parametrize("room", ROOMS_OF_SCHEMA_RULES)
def test_a_room_of_the_schema_rules_uses_only_those_below_it(room: str) -> None:
    allowed = {"subject", "plain_values", room, *ROOMS_OF_SCHEMA_RULES[room]}
    package = "waza_language_server.analysis.schema_rules"
    wrong = [
        (file, module)
        for file, module in imports_below(SERVER / "analysis" / "schema_rules" / room)
        if is_from(module, package) and module.removeprefix(f"{package}.").split(".")[0] not in allowed
    ]
    assert wrong == []


def test_what_is_said_of_the_text_needs_no_other_rule() -> None:
    rooms = ("file_rules", "schema_rules", "value_rules", "suite_rules")
    wrong = [
        (file, module)
        for file, module in imports_below(SERVER / "analysis" / "text_rules")
        if is_from(module, *(f"waza_language_server.analysis.{room}" for room in rooms))
    ]
    assert wrong == []


ROOMS_OF_THE_ENGINE = {
    "processes": set[str](),
    "spec": set[str](),
    "assertions": {"processes"},
    "graders": {"processes", "spec", "assertions"},
    "schemas": {"spec", "graders"},
    "scoring": set[str](),
    "mcp": {"processes", "spec", "graders"},
    "results": {"spec", "graders", "scoring"},
    "executors": {"processes", "spec", "graders", "mcp", "results"},
    "runs": {"processes", "spec", "assertions", "graders", "scoring", "mcp", "results", "executors"},
    "strength": {"spec", "graders", "results", "runs", "executors"},
    "scaffold": {"spec", "graders", "results", "runs"},
    "commands": {
        "spec",
        "graders",
        "schemas",
        "scoring",
        "results",
        "executors",
        "runs",
        "strength",
        "scaffold",
    },
}
"""What each room uses, the lowest first: whoever comes later may use those before it, and no other."""
ROOMS_WITHIN = {
    "spec": {"reading": set[str]()},
    "graders": {"matching": set[str](), "programs": set[str](), "judging": set[str]()},
    "results": {
        "codec": set[str](),
        "reviews": {"codec"},
        "reading": {"codec", "reviews"},
        "writing": {"codec", "reviews", "reading"},
        "reports": {"codec", "reviews", "reading"},
    },
    "executors": {"chat": set[str](), "copilot": set[str](), "adapter": {"chat"}},
    "runs": {
        "loading": set[str](),
        "settings": {"loading"},
        "limits": {"settings"},
        "events": set[str](),
        "agent": {"loading"},
        "grading": {"limits"},
        "trials": {"loading", "settings", "limits", "events", "agent", "grading"},
        "preflight": {"loading", "settings", "agent", "grading", "trials"},
        "passes": {"loading", "settings", "limits", "events", "agent", "trials"},
        "regrading": {"loading", "settings", "limits", "agent", "grading", "trials"},
        "live": {"loading", "limits", "agent", "grading", "trials", "regrading"},
    },
}
# Files beside the inner rooms that these may use; the others beside them use the rooms.
SHARED_WITHIN = {
    "spec": {"__init__", "problems"},
    "graders": {"__init__", "base", "config", "explanation", "paths", "registry"},
    "results": {
        "__init__",
        "attachments",
        "inputs",
        "record",
        "json_values",
        "places",
        "conclusion",
        "conclusion_words",
        "task_conclusion",
        "trigger_conclusion",
        "cause",
        "baseline_conclusion",
        "metrics",
    },
    "executors": {"__init__", "base", "command_shim", "mocked_commands", "provider", "registry"},
    "runs": {"__init__"},
}


@pytest.mark.parametrize("rooms", [ROOMS_OF_THE_ENGINE, *ROOMS_WITHIN.values()])
def test_the_order_of_the_rooms_of_the_engine_has_no_circle(rooms: Mapping[str, set[str]]) -> None:
    earlier: set[str] = set()
    for room, used in rooms.items():
        assert used <= earlier, room
        earlier.add(room)


def test_every_room_of_the_engine_has_its_place_in_the_order() -> None:
    assert {place.parent.name for place in ENGINE.glob("*/__init__.py")} == set(ROOMS_OF_THE_ENGINE)
    for room, inner in ROOMS_WITHIN.items():
        assert {place.parent.name for place in (ENGINE / room).glob("*/__init__.py")} == set(inner)


@pytest.mark.parametrize("room", ROOMS_OF_THE_ENGINE)
def test_a_room_of_the_engine_uses_only_the_rooms_below_it(room: str) -> None:
    others = ROOMS_OF_THE_ENGINE.keys() - ROOMS_OF_THE_ENGINE[room] - {room}
    wrong = [
        (file, module)
        for file, module in imports_below(ENGINE / room)
        if is_from(module, *(f"waza_engine.{name}" for name in others))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("outer", "room"), [(outer, room) for outer in ROOMS_WITHIN for room in ROOMS_WITHIN[outer]]
)
def test_a_room_within_a_room_uses_only_those_below_it(outer: str, room: str) -> None:
    """Neither a room above it, nor what stands beside the rooms because it uses them."""
    allowed = {*ROOMS_WITHIN[outer][room], room, *SHARED_WITHIN[outer]}
    wrong = [
        (file, module)
        for file, module in imports_below(ENGINE / outer / room)
        if is_from(module, f"waza_engine.{outer}") and module.split(".")[2] not in allowed
    ]
    assert wrong == []


@pytest.mark.parametrize("outer", ROOMS_WITHIN)
def test_what_rooms_within_a_room_share_uses_none_of_them(outer: str) -> None:
    wrong = [
        (name, module)
        for name in sorted(SHARED_WITHIN[outer])
        for module in imports_of(ENGINE / outer / f"{name}.py")
        if is_from(module, *(f"waza_engine.{outer}.{room}" for room in ROOMS_WITHIN[outer]))
    ]
    assert wrong == []


def test_the_folder_of_the_graders_lists_the_grader_types() -> None:
    files = {path.stem for path in (ENGINE / "graders").glob("*.py")}
    assert files - SHARED_WITHIN["graders"] == set(BUILT_IN_TYPES)


def test_what_leaves_the_engine_as_json_is_masked() -> None:
    """``terminal.json_text`` does it; those who write and send JSON use no other way."""
    folders = (ENGINE / "commands", ENGINE / "results" / "writing", ENGINE / "results" / "reviews")
    wrong = [
        path.relative_to(ROOT).as_posix()
        for path in (
            ENGINE / "serve.py",
            *sorted(place for folder in folders for place in folder.glob("*.py")),
        )
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("json.dump", "json.dumps")
    ]
    assert wrong == ["waza_engine/commands/grader_reference.py"], "a page of documentation"


def test_one_room_ends_processes() -> None:
    """Whoever starts a program lets it be ended there: all the ways are known by which it may escape."""
    wrong = [
        (path.relative_to(ROOT).as_posix(), ast.unparse(node.func))
        for path in sorted(ENGINE.rglob("*.py"))
        if path.parent != ENGINE / "processes"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(ENDS_PROCESSES)
    ]
    assert wrong == [("waza_engine/executors/copilot_sdk.py", "runtime.kill")], "it lets that room do it"


def test_every_room_within_a_room_says_in_one_line_what_it_is_for() -> None:
    said = {
        f"{outer}/{room}": ast.get_docstring(tree_of(ENGINE / outer / room / "__init__.py")) or ""
        for outer in ROOMS_WITHIN
        for room in ROOMS_WITHIN[outer]
    }
    assert [room for room, words in said.items() if not words or "\n" in words] == []


def test_what_is_special_about_a_grader_type_stands_on_its_class() -> None:
    """No list of grader types, and no comparison of one with a name, outside of the graders."""
    wrong = [
        (path.relative_to(ROOT).as_posix(), ast.unparse(node))
        for path in sorted(ENGINE.rglob("*.py"))
        if path.parent != ENGINE / "graders"
        for node in ast.walk(tree_of(path))
        if _lists_grader_types(node) or _compares_grader_type(node)
    ]
    assert wrong == []


def test_what_is_special_about_an_executor_stands_with_it() -> None:
    """In its class, or in its row of ``EXECUTORS`` when it is not loaded: nobody compares its name."""
    wrong = [
        (path.relative_to(ROOT).as_posix(), ast.unparse(node))
        for path in sorted(ENGINE.rglob("*.py"))
        for node in ast.walk(tree_of(path))
        if _compares_executor(node)
    ]
    assert wrong == []


def _compares_executor(node: ast.AST) -> bool:
    compared = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
    if isinstance(node, ast.Match):
        compared = [case.pattern.value for case in node.cases if isinstance(case.pattern, ast.MatchValue)]
    names = {part.value for value in compared for part in ast.walk(value) if isinstance(part, ast.Constant)}
    return bool(names & set(EXECUTORS)) and "executor" in ast.unparse(node)


def _lists_grader_types(node: ast.AST) -> bool:
    if not isinstance(node, ast.Tuple | ast.List | ast.Set) or len(node.elts) < 2:
        return False
    return all(isinstance(item, ast.Constant) and item.value in BUILT_IN_TYPES for item in node.elts)


def _compares_grader_type(node: ast.AST) -> bool:
    if not isinstance(node, ast.Compare) or not ast.unparse(node.left).endswith((".type", '.get("type")')):
        return False
    return any(
        isinstance(part, ast.Constant) and part.value in BUILT_IN_TYPES
        for compared in node.comparators
        for part in ast.walk(compared)
    )


def test_one_place_reads_the_verdicts_of_a_result_file() -> None:
    """What is read in five ways differs in five ways; other layouts are turned into today's first."""
    readers = {
        path.relative_to(ENGINE).as_posix()
        for path in sorted(ENGINE.rglob("*.py"))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith((".get", "block_of"))
        and any(isinstance(given, ast.Constant) and given.value == "validations" for given in node.args)
    }
    layouts = {"executors/recorded_answers.py"}
    assert readers - layouts == {"results/codec/trials.py", "results/codec/verdicts.py"}


def test_every_room_is_on_the_map() -> None:
    house = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rooms = [
        place.parent.name
        for place in (
            *ENGINE.rglob("*/__init__.py"),
            *SERVER.glob("*/__init__.py"),
            *(SERVER / "analysis").rglob("*/__init__.py"),
        )
        if f"`{place.parent.name}/`" not in house
    ]
    assert rooms == []


def test_what_agents_need_is_imported_where_agents_are_asked_alone() -> None:
    where = {
        file.split("/")[1]
        for file, module in imports_below(ENGINE)
        if is_from(module, "openai", "copilot", "mcp", "httpx", "anyio")
    }
    assert where == {"executors", "mcp"}


def test_the_server_imports_no_models_and_no_provider() -> None:
    wrong = [
        (file, module)
        for file, module in imports_below(SERVER)
        if is_from(module, "pydantic", "openai", "jsonschema", "ruamel")
        or (is_from(module, "waza_engine") and module not in ENGINE_MODULES_FOR_THE_SERVER)
    ]
    assert wrong == []


@pytest.mark.parametrize("module", sorted(ENGINE_MODULES_FOR_THE_SERVER))
def test_what_the_server_shares_with_the_engine_is_light(module: str) -> None:
    loaded = _python(f"import sys, {module}; print(*sys.modules)").split()
    assert not {"pydantic", "openai", "yaml", "rich", "typer"} & set(loaded)


CHOOSE_A_CATALOG = {
    "server/waza_language_server/protocol/services/session.py": "what an editor has open",
    "server/waza_language_server/check.py": "what is named on the command line",
    "server/waza_language_server/diagnostics_page.py": "the examples of the documentation",
    "server/waza_language_server/protocol/rehearsal.py": "a file that is not there, before a client is",
}


def test_whoever_opens_files_alone_chooses_the_catalog() -> None:
    """Everybody else is handed it: a catalog of one's own knows no grader types of plug-ins."""
    chosen = {
        path.relative_to(ROOT).as_posix()
        for path in sorted(SERVER.rglob("*.py"))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("default_catalog", "Catalog"))
        if path != SERVER / "schema" / "catalog.py"
    }
    assert chosen == set(CHOOSE_A_CATALOG)


def test_no_function_of_the_server_goes_without_the_catalog_or_the_project() -> None:
    handles = {"Catalog", "Project", "Workspace"}
    wrong = [
        (path.relative_to(ROOT).as_posix(), node.name, given.arg)
        for path in sorted(SERVER.rglob("*.py"))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for given in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if given.annotation is not None and handles & _alternatives(given.annotation)
    ]
    assert wrong == []


def _alternatives(annotation: ast.expr) -> set[str]:
    """Return the types of ``A | None``; nothing for a type that stands alone."""
    written = ast.unparse(annotation).strip("'\"")
    parts = {part.strip() for part in written.removeprefix("Optional[").removesuffix("]").split("|")}
    return parts if "None" in parts or written.startswith("Optional[") else set()


def test_the_server_process_executes_nothing_of_a_suite() -> None:
    """Only the client of the engine starts processes, and nothing evaluates text."""
    wrong = [
        (path.relative_to(ROOT).as_posix(), ast.unparse(node.func))
        for path in sorted(SERVER.rglob("*.py"))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and _runs_code(node.func)
    ]
    assert wrong == []


def _runs_code(function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id in {"eval", "exec", "__import__"}
    owner = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
    return owner in {"os", "subprocess", "builtins"} and ast.unparse(function).rpartition(".")[2] in RUNS_CODE


# What may touch the standard streams beside `waza_engine/terminal.py`, and why.
TOUCH_STREAMS = {
    "waza_engine/executors/command_shim.py": "it plays a program, which writes what the suite says",
    "waza_engine/terminal.py": "prints",
    "waza_engine/command_line.py": "opens streams that are closed, sets how they encode, flushes them",
    "waza_engine/commands/output.py": "hands over what a Printer writes until it cannot be written any more",
    "waza_engine/commands/printer.py": "has the console of rich, and gives it text without markup",
    "waza_engine/serve.py": "reads messages",
    "server/waza_language_server/protocol/wire.py": "takes the descriptors for messages and keeps others off",
}
PRINTS = {"print", "typer.echo", "typer.secho", "click.echo", "rich.print", "Console", "logging.basicConfig"}


def test_one_place_prints() -> None:
    """Only there is text from suites shown instead of obeyed."""
    found = {
        path.relative_to(ROOT).as_posix()
        for package in (ENGINE, SERVER)
        for path in package.rglob("*.py")
        for node in ast.walk(tree_of(path))
        if _prints(node)
    }
    assert found - TOUCH_STREAMS.keys() == set()


def _prints(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in PRINTS
    streams = {"stdout", "stderr", "__stdout__", "__stderr__", "stdin"}
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) == "sys" and node.attr in streams


def test_only_one_place_shows_messages() -> None:
    wrong = [
        path.name
        for path in PROTOCOL.rglob("*.py")
        if "ShowMessageParams" in path.read_text("utf-8") and path.name != "server.py"
    ]
    assert wrong == []


def test_the_server_compiles_no_pattern_but_its_own() -> None:
    """RE2 alone compiles what a document says; `re` gets what is written in the source."""
    wrong = [
        (path.relative_to(ROOT).as_posix(), node.lineno, ast.unparse(node))
        for path in sorted(SERVER.rglob("*.py"))
        # Those of the YAML library are its own.
        if path != SERVER / "syntax" / "later_patterns.py"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and _compiles_a_pattern(node.func) and not _is_literal(node.args[0])
    ]
    assert wrong == []
    assert [
        (file, module)
        for file, module in imports_below(SERVER)
        if is_from(module, "regex", "re2", "sre_compile", "sre_parse", "fnmatch", "glob")
    ] == []


def _compiles_a_pattern(function: ast.expr) -> bool:
    by_library = isinstance(function, ast.Attribute) and ast.unparse(function.value) in {"re", "re2", "regex"}
    return by_library or ast.unparse(function) == "compiled_later"


def test_what_the_server_loads_compiles_a_pattern_when_it_is_used() -> None:
    modules = [ROOT / f"{name.replace('.', '/')}.py" for name in ENGINE_MODULES_FOR_THE_SERVER]
    at_once = [
        (path.relative_to(ROOT).as_posix(), node.lineno)
        for path in sorted([*SERVER.rglob("*.py"), *filter(Path.is_file, modules)])
        for node in _loading_nodes(tree_of(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"
    ]
    assert at_once == []


def _loading_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what is carried out while a module is loaded."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node
            yield from _loading_nodes(node)


def _is_literal(pattern: ast.expr) -> bool:
    """Tell whether it is written in the source: as one text, or with a part that a constant names."""
    if isinstance(pattern, ast.JoinedStr):
        return all(isinstance(part, ast.Constant) or _names_a_constant(part) for part in pattern.values)
    return isinstance(pattern, ast.Constant) and isinstance(pattern.value, str | bytes)


def _names_a_constant(part: ast.expr) -> bool:
    """Tell whether it is `{_NAME}` in an f-string."""
    named = part.value if isinstance(part, ast.FormattedValue) else None
    return isinstance(named, ast.Name) and named.id.isupper()


READS_OTHERWISE = {
    "waza_engine/files.py": "this is the one place",
    "waza_engine/command_line.py": "the null device, for streams that were closed",
    "waza_engine/assertions/worker.py": "the null device",
    "server/waza_language_server/protocol/wire.py": "the null device",
    "waza_engine/processes/supervisor.py": "the kernel's table of processes, and the null device",
    "waza_engine/results/writing/store.py": "new files of names nobody else has, and what a person named",
    "waza_engine/results/writing/session_log.py": "a new file, made or refused in one step",
    "waza_engine/executors/command.py": "a new file in a fresh temporary folder",
    "waza_engine/mcp/mocks.py": "a new file in a fresh temporary folder",
    "waza_engine/executors/command_shim.py": "a program of its own, in a temporary folder of the run",
    "waza_engine/runs/agent/command_mocks.py": "new files in a temporary folder of the run",
    "waza_engine/schemas/documents.py": "writes the schemas of this project",
    "server/waza_language_server/diagnostics_page.py": "writes the examples of the documentation",
    "server/waza_language_server/schema/catalog.py": "data of the package",
    "server/waza_language_server/schema/usage.py": "data of the package",
    "server/waza_language_server/kept/store.py": "new files of names nobody else has, in its own cache",
    "server/waza_language_server/protocol/quick_start.py": "its own cache, before anything is imported",
}


def test_files_are_read_and_written_in_one_place() -> None:
    """Anything else may wait for ever: for a pipe that nobody writes to, or the end of a device."""
    found = {
        path.relative_to(ROOT).as_posix()
        for package in (ENGINE, SERVER)
        for path in package.rglob("*.py")
        if any(map(_touches_a_file, ast.walk(tree_of(path))))
    }
    assert found == set(READS_OTHERWISE)


def _touches_a_file(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id == "open"
    if not isinstance(node.func, ast.Attribute):
        return False
    owner, name = ast.unparse(node.func.value), node.func.attr
    if owner == "shutil":
        return name.startswith("copy") and "copy_function" not in {word.arg for word in node.keywords}
    if owner in {"json", "tomllib"}:
        return name == "load"
    if name == "open":
        return owner in {"os", "io"} or any(_is_mode(given) for given in node.args[:1])
    return name in {"read_text", "read_bytes", "write_text", "write_bytes"} and owner != "files"


def _is_mode(given: ast.expr) -> bool:
    return (
        isinstance(given, ast.Constant)
        and isinstance(given.value, str)
        and set(given.value) <= set("rwxabt+")
    )


def test_only_the_engine_client_starts_processes() -> None:
    starters = {
        file for file, module in imports_below(SERVER) if is_from(module, "subprocess", "multiprocessing")
    }
    assert starters == {"server/waza_language_server/engine/process.py"}


def test_the_answer_to_initialize_needs_the_protocol_library_and_what_completes() -> None:
    loaded = _loaded_after_initialize()
    heavy = {"pydantic", "openai", "ruamel", "jsonschema", "jsonschema_rs", "re2", "regex"}
    heavy |= {"typer", "rich", "psutil", "pylsp_jsonrpc", "importlib.metadata"}
    assert heavy & loaded == set()
    judging = {"analysis.rules", "analysis.diagnose", "engine", "kept"}
    assert {f"waza_language_server.{room}" for room in judging} & loaded == set()


def _loaded_after_initialize() -> set[str]:
    """Return the modules of a server that has just answered; it writes them to standard error at its end."""
    program = (
        "import atexit, sys\n"
        "from waza_language_server.cli import main\n"
        "sys.argv = ['waza-language-server', '--stdio']\n"
        "atexit.register(lambda: sys.stderr.write(' '.join(sys.modules)))\n"
        "main()\n"
    )
    answers, errors = _talk(program, [_initialize(), {"method": "exit"}])
    assert answers[0]["result"]["serverInfo"]["name"] == "waza-language-server"
    return set(errors.split())


def test_a_print_in_a_handler_never_reaches_the_wire() -> None:
    program = (
        "import os, sys\n"
        "from waza_language_server.protocol.handlers import lifecycle\n"
        "initialize = lifecycle.initialize\n"
        "def noisy(ls, params):\n"
        "    print('printed')\n"
        "    sys.__stdout__.write('written'); sys.__stdout__.flush()\n"
        "    os.write(1, b'raw')\n"
        "    os.system('echo from a child')\n"
        "    initialize(ls, params)\n"
        "lifecycle.initialize = noisy\n"
        "from waza_language_server.protocol.serving import start\n"
        "sys.exit(start())\n"
    )
    answers, errors = _talk(program, [_initialize(), {"id": 2, "method": "shutdown"}, {"method": "exit"}])
    assert [answer["id"] for answer in answers] == [1, 2]
    assert all(text in errors for text in ("printed", "written", "raw", "from a child"))


HEAVY = {"openai", "copilot", "mcp", "anyio", "httpx", "genai_prices", "tenacity", "ruamel"}
GRADING = {"jsonschema", "jsonschema_rs", "re2", "regex"}


def test_the_help_of_the_engine_needs_no_models() -> None:
    assert _loaded_by_engine("--help") & {*HEAVY, *GRADING, "pydantic", "rich", "yaml", "psutil"} == set()


def test_the_engine_process_of_an_editor_starts_without_what_a_run_needs() -> None:
    assert _loaded_by_engine("serve") & {*HEAVY, *GRADING} == set()


def test_a_run_loads_only_what_its_executor_and_graders_need(tmp_path: Path) -> None:
    suite = tmp_path / "eval.yaml"
    suite.write_text(
        "name: suite\nskill: writer\nconfig: {trials_per_task: 1, timeout_seconds: 9, executor: mock}\n"
        "graders: [{type: text, name: says, config: {contains: [Mock]}}]\n"
        "tasks: [{id: a, inputs: {prompt: Say hello}}]\n"
    )
    loaded = _loaded_by_engine("run", str(suite))
    assert "waza_engine.graders.text" in loaded
    assert loaded & {*HEAVY, "jsonschema", "jsonschema_rs"} == set()


def _loaded_by_engine(*arguments: str) -> set[str]:
    """Return the modules of an engine process at its end."""
    program = (
        "import atexit, os, runpy, sys\n"
        "leave = os._exit\n"
        "def tell(): sys.stderr.write(' '.join(sys.modules)); sys.stderr.flush()\n"
        "def told(code): tell(); leave(code)\n"
        "os._exit = told\n"
        "atexit.register(tell)\n"
        f"sys.argv = ['waza-engine', *{list(arguments)!r}]\n"
        "runpy.run_module('waza_engine', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input="", capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout
    return set(done.stderr.split())


def _initialize() -> dict[str, Any]:
    params = {"processId": None, "rootUri": None, "capabilities": {}}
    return {"id": 1, "method": "initialize", "params": params}


def _talk(program: str, messages: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """Return the messages that a server program writes, and nothing but messages; and its standard error."""
    bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
    spoken = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies)
    done = subprocess.run(
        [sys.executable, "-c", program], input=spoken, capture_output=True, timeout=60, check=False
    )
    rest, answers = done.stdout, []
    while rest:
        header, _, rest = rest.partition(b"\r\n\r\n")
        length = int(header.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        assert header.startswith(b"Content-Length: ")
        answers.append(json.loads(rest[:length]))
        rest = rest[length:]
    return answers, done.stderr.decode()


def _python(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout
