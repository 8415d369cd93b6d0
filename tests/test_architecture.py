"""The invariants of CONTRIBUTING.md that neither import contracts (.importlinter.toml) nor ruff can state."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.stages import markers_of_module
from waza_engine.graders.registry import BUILT_IN_TYPES
from waza_engine.spec.executors import EXECUTORS

ROOT = Path(__file__).parents[1]
ENGINE = ROOT / "waza_engine"
SERVER = ROOT / "server" / "waza_language_server"
PROTOCOL = SERVER / "protocol"

ENDS_PROCESSES = (".kill", ".killpg", ".terminate", ".send_signal")


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


def test_the_folder_of_the_graders_lists_the_grader_types() -> None:
    shared = {"__init__", "base", "config", "judge", "paths", "registry"}
    files = {path.stem for path in (ENGINE / "graders").glob("*.py")}
    assert files - shared == set(BUILT_IN_TYPES)


def test_what_leaves_the_engine_as_json_is_masked() -> None:
    """``terminal.json_text`` does it; those who write and send JSON use no other way."""
    folders = (ENGINE / "commands", ENGINE / "results" / "writing", ENGINE / "results" / "reviews")
    wrong = [
        path.relative_to(ROOT).as_posix()
        for path in (
            ENGINE / "json_rpc_lines.py",
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


def test_every_room_of_the_engine_is_in_a_layer() -> None:
    """A new room that no contract names would be checked by none."""
    contracts = tomllib.loads((ROOT / ".importlinter.toml").read_text("utf-8"))["tool"]["importlinter"]
    in_layers = {
        f"{container}.{room}"
        for contract in contracts["contracts"]
        for container in contract.get("containers", [])
        for layer in contract["layers"]
        for room in re.findall(r"\w+", layer)
    }
    rooms = {
        ".".join(place.parent.relative_to(ROOT).parts)
        for place in (*ENGINE.glob("*/__init__.py"), *ENGINE.glob("*/*/__init__.py"))
    }
    assert rooms - in_layers == set()


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
    layouts = {"executors/replay.py"}
    assert readers - layouts == {"results/codec/trials.py"}


def test_every_package_is_on_the_map() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    missing = [
        place.parent.name
        for place in (
            *ENGINE.rglob("*/__init__.py"),
            *SERVER.glob("*/__init__.py"),
            *(SERVER / "analysis").rglob("*/__init__.py"),
        )
        if f"`{place.parent.name}/`" not in page
    ]
    assert missing == []


# They print what a person reads in a terminal, where a start may take longer.
OF_THE_COMMAND_CHECK = {
    "waza_engine.commands.printer",
    "waza_engine.project_page",
    "waza_engine.spec.reading.json_reader",
}


def test_what_the_server_shares_with_the_engine_is_light() -> None:
    shared = {module for _, module in imports_below(SERVER) if is_from(module, "waza_engine")}
    assert shared > OF_THE_COMMAND_CHECK
    loaded = _python(f"import sys, {', '.join(sorted(shared - OF_THE_COMMAND_CHECK))}; print(*sys.modules)")
    assert {"pydantic", "openai", "yaml", "rich", "typer"} & set(loaded.split()) == set()


CHOOSE_A_CATALOG = {
    "server/waza_language_server/protocol/services/session.py": "what an editor has open",
    "server/waza_language_server/check.py": "what is named on the command line",
    "server/waza_language_server/diagnostics_page.py": "the examples of the documentation",
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


def test_the_server_compiles_nothing_of_a_suite() -> None:
    """Ruff bans `eval` and `exec`; the compilers of Python 3.12 and 3.13 crash on nested comprehensions."""
    wrong = [
        path.relative_to(ROOT).as_posix()
        for path in sorted(SERVER.rglob("*.py"))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"compile", "__import__"}
    ]
    assert wrong == []


def test_assertions_are_evaluated_by_tables_alone() -> None:
    """Nothing there compiles text, or reads an attribute of Python by a name that is not written there."""
    forbidden = {"eval", "exec", "compile", "__import__", "getattr", "setattr", "delattr", "vars", "globals"}
    forbidden |= {"attrgetter", "methodcaller", "import_module", "literal_eval"}
    # The tables are filled from Python's types by names of their own; why a name is missing, a look tells.
    allowed = {"operations.py": {"vars"}}
    found = {
        (path.name, name)
        for path in sorted((ENGINE / "assertions").glob("*.py"))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        for name in [ast.unparse(node.func).rpartition(".")[2]]
        if name in forbidden - allowed.get(path.name, set())
        # The `compile` of the module of regular expressions, for a pattern of ours.
        if ast.unparse(node.func) != "re.compile"
    }
    assert found == set()


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
    "waza_engine/results/writing/store.py": "a device or a pipe that a person has named",
    "waza_engine/executors/command.py": "a new file in a fresh temporary folder",
    "waza_engine/mcp/mocks.py": "a new file in a fresh temporary folder",
    "waza_engine/executors/command_shim.py": "a program of its own, in a temporary folder of the run",
    "waza_engine/runs/agent/command_mocks.py": "new files in a temporary folder of the run",
    "server/waza_language_server/diagnostics_page.py": "writes the examples of the documentation",
    "server/waza_language_server/schema/catalog.py": "data of the package",
    "server/waza_language_server/schema/usage.py": "data of the package",
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


def test_each_start_of_an_engine_asks_for_trust() -> None:
    """``Runs`` asks before each; the terminal commands start the Python that they run in themselves."""
    starters = {
        (path.relative_to(SERVER).as_posix(), ast.unparse(node.args[0]))
        for path in SERVER.rglob("*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "EngineProcess"
    }
    assert starters == {
        ("engine/runs.py", "self._interpreter"),
        ("engine/plugin_types.py", "sys.executable"),
    }


def test_the_answer_to_initialize_needs_the_protocol_library_alone() -> None:
    loaded = _loaded_after_initialize()
    heavy = {"pydantic", "openai", "ruamel", "jsonschema", "jsonschema_rs", "re2", "regex"}
    heavy |= {"typer", "rich", "psutil", "waza_engine.json_rpc", "importlib.metadata"}
    assert heavy & loaded == set()
    judging = {"analysis.rules", "analysis.diagnose", "engine", "features"}
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


def test_a_test_module_has_one_stage() -> None:
    """A stage skips modules unread (tests/stages.py), so a marker on a single test would be lost."""
    marker = re.compile(r"pytest\.mark\." r"(check|smoke|model)\b")
    several = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if len(marker.findall(path.read_text("utf-8"))) > 1
        or (marker.search(path.read_text("utf-8")) and not markers_of_module(path))
    ]
    assert several == []


SPEAKS_A_NETWORK = (
    "aiohttp",
    "ftplib",
    "http",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "requests",
    "socket",
    "socketserver",
    "ssl",
    "urllib.request",
    "urllib3",
    "websockets",
)


CLIENTS = {
    "waza_engine/executors/chat/chat_requests.py": ["openai.AsyncOpenAI", "openai.DefaultAsyncHttpxClient"],
    "waza_engine/mcp/mcp_client.py": [
        "sse_client",
        "create_mcp_http_client",
        "_http_client",
        "streamable_http_client",
    ],
}


def test_what_peers_send_is_read_within_one_bound() -> None:
    """Nobody opens a connection but the libraries, and these are handed the hooks of ``peers/bounds.py``."""
    wrong = [
        (file, module)
        for file, module in imports_below(ENGINE)
        if is_from(module, *SPEAKS_A_NETWORK) and not file.startswith("waza_engine/peers/")
    ]
    assert wrong == [
        ("waza_engine/executors/copilot/runtime.py", "socket"),
        ("waza_engine/graders/matching/json_schemas.py", "urllib.request"),
        ("waza_engine/processes/supervisor.py", "socket"),
    ], "it looks whether a port is open; it makes a path of an address; its other end is a process of ours"
    made: dict[str, list[str]] = {}
    for path in sorted(ENGINE.rglob("*.py")):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
                ("Client", "_client", "OpenAI")
            ):
                made.setdefault(path.relative_to(ROOT).as_posix(), []).append(ast.unparse(node))
    for file, names in CLIENTS.items():
        calls = [call for call in made[file] if call.partition("(")[0] in names]
        assert {call.partition("(")[0] for call in calls} == set(names), file
        source = (ROOT / file).read_text("utf-8")
        assert source.count("bounded_hooks(") == 1, file
    assert "http_client=" in next(
        call for call in made["waza_engine/executors/chat/chat_requests.py"] if "AsyncOpenAI" in call
    )
    served = [
        call for call in made["waza_engine/mcp/mcp_client.py"] if call.startswith(("sse_", "streamable_"))
    ]
    assert all("http_client=http" in call or "httpx_client_factory=factory" in call for call in served)
    elsewhere = [
        (file, call)
        for file, calls in made.items()
        for call in calls
        if call.startswith(("openai.", "httpx", "sse_client", "streamable_http_client", "create_mcp"))
        and file not in CLIENTS
    ]
    assert elsewhere == []


def test_the_output_of_a_program_is_read_in_pieces_with_a_bound() -> None:
    """A line without an end fills the memory: ``for line in`` a pipe and ``readline()`` read one."""
    pipes, reads = ("stdout", "stderr", "stream", "stdin", "source"), ("read", "readline", "readlines")
    wrong = [
        (path.relative_to(ROOT).as_posix(), ast.unparse(node))
        for path in sorted(ENGINE.rglob("*.py"))
        for node in ast.walk(tree_of(path))
        if (isinstance(node, ast.For) and ast.unparse(node.iter).endswith(pipes))
        or (
            isinstance(node, ast.Call)
            and not node.args
            and ast.unparse(node.func).endswith(tuple(f"{pipe}.{read}" for pipe in pipes for read in reads))
        )
    ]
    assert wrong == []


OPENS_WITHOUT_BOUNDARY = {
    "waza_engine/schemas/suite_schemas.py": "writes the schemas of this project, where a person says",
    "waza_engine/cluster/bundle.py": "the user's folder of bundles",
    "waza_engine/commands/cluster.py": "a new file that a person has named",
    "waza_engine/cluster/certificates.py": "a new folder that a person has named",
    "waza_engine/cluster/machine_versions.py": "data of the package",
    "waza_engine/pytest_plugin.py": "a file that pytest collects",
    "waza_engine/commands/coding_agents.py": "the documentation of this package",
    "waza_engine/convert/convert.py": "the eval file that a person has named, and its tasks",
    "waza_engine/convert/of_harness.py": "the grader file that a person has named",
    "waza_engine/commands/run_again.py": "a file that a person has named",
    "waza_engine/commands/github_output.py": "a file of the build server, and suite files that were loaded",
    "waza_engine/executors/mock.py": "the beginning of a file that the run has copied into the workspace",
    "waza_engine/executors/executor_types.py": "the receipt of this program's own installation",
    "waza_engine/harness/suite_grader.py": "standard input",
    "waza_engine/graders/judging/rubrics.py": "the real path of a rubric that was found inside",
    "waza_engine/spec/program_files.py": "the beginning of a program that is about to be started",
    "waza_engine/mcp/mocks.py": "a file of the engine's own in a temporary folder",
    "waza_engine/results/writing/store.py": "the user's state, a temporary folder, a path that was named",
    "waza_engine/results/writing/transcripts.py": "the folder of `--transcript-dir`",
    "waza_engine/runs/agent/setup.py": "a file that the run has copied into the workspace",
    "waza_engine/runs/agent/trial_workspace.py": "places that its own function has found inside",
    "waza_engine/runs/loading/suite_on_disk.py": "the eval file",
    "waza_engine/runs/passes/caching.py": "files that were found inside, and the cache that is to be cleared",
    "waza_engine/runs/passes/deciding_files.py": "files that were found inside",
    "waza_engine/scaffold/file_changes.py": "the suite file that a person has named",
    "waza_engine/scaffold/suite_from_skill.py": "the skill that a person has named",
    "waza_engine/spec/loading.py": "the eval file",
    "waza_engine/spec/reading/grader_packages.py": "the user's cache of packages, where links are refused",
    "waza_engine/spec/reading/yaml_reader.py": "the eval file",
    "waza_engine/harness/agent.py": "an adapter and a folder that a person has named",
    "waza_engine/harness/row_grading.py": "a grader that a person has named",
    "waza_engine/harness/journal.py": "an output that a person has named, and its journal",
    "waza_engine/harness/rows.py": "rows that a person has named",
    "waza_engine/lab/mutations.py": "a new temporary folder",
    "waza_engine/user_state.py": "the user's state",
    "server/waza_language_server/commands.py": "the file that was checked, replaced if it is the same still",
    "server/waza_language_server/project/disk.py": "the mark at the beginning of a file that is open",
    "server/waza_language_server/project/recorded_runs.py": "a file of the suite that was read before",
    "server/waza_language_server/project/scores.py": "a file of the suite that was read before",
    "server/waza_language_server/protocol/handlers/code_action.py": "a file that the engine found",
    "server/waza_language_server/protocol/services/session.py": "a file that is open",
}


_OPENERS = {
    *("read_bytes", "read_text", "read_beginning", "opened_to_read", "opened_to_append", "create_file"),
    *("write_bytes", "write_atomically", "write_new", "make_folder", "remove_file", "names_in"),
    *("copy_file", "read_yaml_file", "read_json_file", "load_skill_file"),
}


LISTS_OR_MAKES = {
    "waza_engine/cluster/bundle.py": "the user's folder of bundles",
    "waza_engine/cluster/certificates.py": "a new folder that a person has named",
    "waza_engine/cluster/machine_versions.py": "data of the package",
    "waza_engine/results/reading/run_store_entries.py": "the folder of a run; links are refused",
    "waza_engine/graders/matching/workspace_globs.py": "the workspace; links are not followed",
    "waza_engine/commands/result_arguments.py": "the folder that a person has named",
    "waza_engine/commands/run_again.py": "the folder of a suite, without its links: times and sizes",
    "waza_engine/executors/adapter/agent_command.py": "the workspace; links are copied as links",
    "waza_engine/executors/chat/workspace_tools.py": "the workspace, where its function found it",
    "waza_engine/executors/command.py": "the workspace",
    "waza_engine/executors/command_shim.py": "a temporary folder of the run",
    "waza_engine/executors/replay.py": "workspaces of the engine; the boundary says what is listed",
    "waza_engine/files.py": "this is the one place",
    "waza_engine/graders/judging/rubrics.py": "data of the package",
    "waza_engine/mcp/mocks.py": "a folder that was found inside, and a temporary one",
    "waza_engine/processes/supervisor.py": "the kernel's table of processes",
    "waza_engine/results/reading/history.py": "results whose folder was found inside",
    "waza_engine/results/reading/missing_results.py": "results whose folder was found inside",
    "waza_engine/results/reading/newest_scores.py": "what is listed is asked of the boundary",
    "waza_engine/results/reading/owners.py": "the folder of a suite itself",
    "waza_engine/results/writing/store.py": "a named copy, results found inside, workspaces of the engine",
    "waza_engine/runs/agent/command_mocks.py": "a temporary folder of the run",
    "waza_engine/runs/agent/agent_skills.py": "a folder of skills that was found inside",
    "waza_engine/runs/agent/trial_workspace.py": "the workspace, and fixtures without their links",
    "waza_engine/runs/loading/discovery.py": "below a folder that a person has named, no link followed",
    "waza_engine/runs/passes/caching.py": "the cache, which is no link and holds nothing else",
    "waza_engine/runs/passes/deciding_files.py": "folders that were found inside, links asked one by one",
    "waza_engine/scaffold/recorded_task.py": "the file that it has made",
    "waza_engine/scaffold/task.py": "the suite that a person has named",
    "waza_engine/schemas/suite_schemas.py": "the schemas of this project",
    "waza_engine/spec/reading/grader_packages.py": "the user's cache of packages, where links are refused",
    "waza_engine/spec/reading/suite_reader.py": "a folder of which its caller has asked the boundary",
    "waza_engine/spec/reading/task_globs.py": "where nobody hands it another way to list",
    "waza_engine/spec/skill_file.py": "a folder of which its caller has asked the boundary",
    "waza_engine/lab/mutations.py": "a new temporary folder",
    "server/waza_language_server/check.py": "below a folder that a person has named, links asked one by one",
    "server/waza_language_server/diagnostics_page.py": "a temporary folder",
    "server/waza_language_server/project/disk.py": "a folder of which the boundary was asked",
    "server/waza_language_server/schema/catalog.py": "data of the package",
}


_LISTERS = {
    *("iterdir", "glob", "rglob", "scandir", "listdir", "mkdir", "makedirs", "mkdtemp", "unlink", "rmdir"),
    *(
        "rename",
        "symlink_to",
        "hardlink_to",
        "touch",
        "rmtree",
        "copytree",
        "os.walk",
        "os.link",
        "os.symlink",
    ),
}


def test_whoever_opens_a_file_says_within_which_boundary() -> None:
    """A path of a suite, a record or a lock file is opened through ``files`` and within a boundary."""
    found = {
        file
        for file, call in _calls()
        if ast.unparse(call.func).removeprefix("files.") in _OPENERS
        and "within" not in {word.arg for word in call.keywords}
    }
    assert found == set(OPENS_WITHOUT_BOUNDARY)


def test_whoever_lists_or_makes_a_folder_has_asked_the_boundary() -> None:
    found = {
        file
        for file, call in _calls()
        if isinstance(call.func, ast.Attribute)
        and not {call.func.attr, ast.unparse(call.func)}.isdisjoint(_LISTERS)
    }
    assert found == set(LISTS_OR_MAKES)


def test_one_module_decides_where_the_boundary_is() -> None:
    """Whoever looks for a repository by itself draws another boundary; so does who resolves links by hand."""
    draws = {
        path.relative_to(ROOT).as_posix()
        for package in (ENGINE, SERVER)
        for path in package.rglob("*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef) and "Boundary" in node.name
    }
    assert draws == {"waza_engine/boundary.py"}
    assert [
        path.relative_to(ROOT).as_posix()
        for package in (ENGINE, SERVER)
        for path in package.rglob("*.py")
        if "def suite_boundary" in path.read_text("utf-8") or "def is_foreign" in path.read_text("utf-8")
    ] == ["waza_engine/boundary.py"]


def _calls() -> Iterator[tuple[str, ast.Call]]:
    for package in (ENGINE, SERVER):
        for path in sorted(package.rglob("*.py")):
            for node in ast.walk(tree_of(path)):
                if isinstance(node, ast.Call):
                    yield path.relative_to(ROOT).as_posix(), node
