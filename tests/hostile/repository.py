"""Writes a repository of a stranger: each of its suites attacks in another way.

Beside it lies ``outside``, which nothing that only looks at the repository may read. Whatever is executed
writes ``executed`` there, and whatever is fetched goes to the address of ``fetch_port``.
"""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HEAD = """\
name: explains
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
"""
TASK = "id: one\nname: One\ninputs:\n  prompt: Say hello\n"
PLAIN_GRADER = "  - type: text\n    name: greets\n    config: {contains: [hello]}\n"
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x1b]52;c;cm0gLXJm\x07\x9b31m\u202egnp.exe"
PYTHON_MODULES = ("yaml", "json", "regex", "re2", "typer", "pygls", "lsprotocol", "sitecustomize", "psutil")


@dataclass(frozen=True, slots=True)
class HostileRepository:
    """Where it lies, what in it a person would open, and what must not happen."""

    root: Path
    outside: Path
    files: tuple[Path, ...]
    """The regular suite files, which an editor may open."""

    @property
    def executed(self) -> bool:
        """Whether anything of the repository was executed."""
        return (self.outside / "executed").exists()


def write_hostile_repository(folder: Path, fetch_port: int) -> HostileRepository:
    """Write the repository into an empty folder."""
    root, outside = folder / "repository", folder / "outside"
    outside.mkdir(parents=True)
    (outside / "secret.yaml").write_text(f"{HEAD}{PLAIN_GRADER}# the secret\n", "utf-8")
    (outside / "secrets").mkdir()
    (outside / "secrets" / "password.txt").write_text("hunter2", "utf-8")
    for write in SUITES:
        place = root / write.__name__
        (place / "tasks").mkdir(parents=True)
        (place / "tasks" / "one.yaml").write_text(TASK, "utf-8")
        write(place, outside)
    _what_fetches(root / "fetching", fetch_port)
    _what_executes(root, outside)
    files = tuple(sorted(path for path in root.rglob("*.yaml") if path.is_file() and not path.is_symlink()))
    return HostileRepository(root, outside, files)


def _suite(folder: Path, graders: str = PLAIN_GRADER, more: str = "") -> None:
    (folder / "eval.yaml").write_bytes(f"{HEAD}{graders}{more}".encode("utf-8", "surrogateescape"))


def pattern_bombs(folder: Path, _outside: Path) -> None:
    patterns = [
        *("(" * levels + "a" + "){2}" * levels + "(?=b)" for levels in (14, 16, 60, 200)),
        "(" * 200 + "a" + "){1,1000}" * 200 + "(?=b)",
        "(?:a{1000}){1000}(?!b)",
        "(a+)+$(?<=b)",
        "(?=" * 3000 + ")" * 3000,
    ]
    written = "".join(f"        - '{pattern}'\n" for pattern in patterns)
    _suite(folder, f"  - type: text\n    name: bombs\n    config:\n      regex_match:\n{written}")


def alias_bombs(folder: Path, _outside: Path) -> None:
    levels = "".join(
        f"x{level}: &x{level} [{', '.join([f'*x{level - 1}'] * 9)}]\n" if level else "x0: &x0 [a, a]\n"
        for level in range(12)
    )
    grader = "  - type: text\n    name: a\n    config: &c\n      contains: [*x11]\n      regex_match: *c\n"
    _suite(folder, grader, levels)


def many_mistakes(folder: Path, _outside: Path) -> None:
    _suite(folder, "", "".join(f"descriptoin{number}: a\n" for number in range(1_000)))


def many_unknown_options(folder: Path, _outside: Path) -> None:
    options = "".join(f"      contanis{number}: [a]\n" for number in range(300))
    _suite(folder, f"  - type: text\n    name: a\n    config:\n{options}")


def duplicate_keys(folder: Path, _outside: Path) -> None:
    _suite(folder, PLAIN_GRADER, "tags: a\n" * 4_000)


def one_name(folder: Path, _outside: Path) -> None:
    _suite(folder, PLAIN_GRADER * 1_000)


def bare_types(folder: Path, _outside: Path) -> None:
    _suite(folder, "  - type: text\n" * 500)


def open_brackets(folder: Path, _outside: Path) -> None:
    _suite(folder, PLAIN_GRADER, "x: " + "[\n" * 500)


def open_brackets_and_graders(folder: Path, _outside: Path) -> None:
    _suite(folder, "  - {type: text, name: [\n" * 500)


def deep(folder: Path, _outside: Path) -> None:
    _suite(folder, PLAIN_GRADER, "x: " + "[" * 20_000 + "]" * 20_000 + "\n")
    (folder / "tasks" / "deep.yaml").write_text(
        TASK + "".join(f"{' ' * level}k:\n" for level in range(500)), "utf-8"
    )


def one_long_scalar(folder: Path, _outside: Path) -> None:
    _suite(folder, PLAIN_GRADER, f'description: "{"x" * 10_000_000}"\n')


def many_tasks(folder: Path, _outside: Path) -> None:
    _suite(folder)
    for number in range(600):
        (folder / "tasks" / f"t{number}.yaml").write_text(TASK.replace("one", f"t{number}"), "utf-8")


def unrelated_files(folder: Path, _outside: Path) -> None:
    for number in range(2_000):
        (folder / f"deployment{number}.yaml").write_text("kind: Deployment\nspec: {replicas: 1}\n", "utf-8")


def pipes(folder: Path, outside: Path) -> None:
    """Suites whose companions are pipes, devices and links, in this folder and above."""
    below = folder / "a" / "b"
    (below / "tasks").mkdir(parents=True)
    (below / "tasks" / "one.yaml").write_text(TASK, "utf-8")
    _suite(below, more="config_dir: x\n")
    if sys.platform == "win32":
        return
    os.mkfifo(folder / ".waza.yaml")
    os.mkfifo(folder / "eval.yaml")
    os.mkfifo(folder / "wazaEval.yaml")
    os.mkfifo(below / "SKILL.md")
    os.mkfifo(below / "trigger_tests.yaml")
    os.mkfifo(below / "tasks" / "pipe.yaml")
    (below / "tasks" / "device.yaml").symlink_to("/dev/zero")
    (below / "tasks" / "descriptor.yaml").symlink_to("/proc/self/fd/3")
    results = below / ".waza" / "results"
    results.mkdir(parents=True)
    os.mkfifo(results / "run.json")
    (results / "zero.json").symlink_to("/dev/zero")
    assert outside.is_dir()


def descriptors(folder: Path, _outside: Path) -> None:
    _suite(folder)
    if sys.platform != "win32":
        (folder / ".waza.yaml").symlink_to("/proc/self/fd/3")
        (folder / "SKILL.md").symlink_to("/proc/self/fd/0")


def links(folder: Path, outside: Path) -> None:
    """Links to itself, in circles, to nowhere and out of the repository."""
    graders = "  - type: file\n    name: a\n    config: {must_exist: [x]}\n"
    _suite(folder, graders, f"context_dir: /\nfixtures_dir: ../../outside\ninclude: {outside}\n")
    (folder / "tasks" / "out.yaml").write_text(
        f"{TASK}  files:\n    - path: ../../outside/secrets/password.txt\n"
        f"    - path: {outside}/secrets/password.txt\n    - path: elsewhere/password.txt\n",
        "utf-8",
    )
    if sys.platform == "win32":
        return
    (folder / "b").symlink_to(".")
    (folder / "fixtures").mkdir()
    (folder / "fixtures" / "again").symlink_to("..")
    (folder / "fixtures" / "elsewhere").symlink_to(outside / "secrets")
    (folder / "tasks" / "secret.yaml").symlink_to(outside / "secret.yaml")
    (folder / "tasks" / "circle.yaml").symlink_to("circle.yaml")
    (folder / "tasks" / "nowhere.yaml").symlink_to("nothing")
    (folder / "SKILL.md").symlink_to(outside / "secrets" / "password.txt")


def names(folder: Path, _outside: Path) -> None:
    """File names, keys, names and ids that write to the terminal, or that are no text."""
    written = json.dumps(ESCAPES)
    _suite(
        folder,
        f"  - type: text\n    name: {written}\n    config: {{{written}: 1}}\n",
        f"{written}: {written}\n",
    )
    (folder / "tasks" / "escapes.yaml").write_text(
        f"id: {written}\nname: {written}\ninputs: {{prompt: {written}, x: 1}}\nx: 1\n", "utf-8"
    )
    if sys.platform == "win32":
        return
    (folder / "tasks" / f"{ESCAPES}.yaml").write_text(f"{TASK}x: 1\n", "utf-8")
    if sys.platform == "linux":
        raw = os.fsencode(folder / "tasks") + b"/\xff\xfe.yaml"
        Path(os.fsdecode(raw)).write_text(f"{TASK}x: 1\n", "utf-8")


def classic_line_ends(folder: Path, _outside: Path) -> None:
    _suite(folder)
    text = (folder / "eval.yaml").read_text("utf-8")
    (folder / "eval.yaml").write_bytes(text.replace("\n", "\r").encode())


def no_numbers(folder: Path, _outside: Path) -> None:
    _suite(folder, PLAIN_GRADER + "    weight: 1e999\n", "threshold: .nan\n")


def binary(folder: Path, _outside: Path) -> None:
    (folder / "eval.yaml").write_bytes(HEAD.encode() + b"\xff\xfe\x00\x80")
    (folder / "tasks" / "one.yaml").write_bytes(bytes(range(256)) * 100)


def committed_results(folder: Path, _outside: Path) -> None:
    """Results that were committed: what they say is shown as it is, as text."""
    _suite(folder)
    evil = "![x](http://127.0.0.1:9/x.png) <img src=http://127.0.0.1:9/y.png> [run](command:waza.run)"
    results = folder / ".waza" / "results"
    results.mkdir(parents=True)
    validation = {"score": 1, "passed": True, "feedback": evil, "type": "text", "identifier": "greets"}
    run = {"run_number": 1, "status": "passed", "validations": {"greets": validation}, "final_output": evil}
    document = {
        "eval_name": evil,
        "timestamp": "2026-01-01T00:00:00Z",
        "config": {"model": evil, "engine_type": evil, "trials_per_task": 1},
        "summary": {"total_tests": 1, "succeeded": 1},
        "tasks": [{"test_id": "one", "display_name": evil, "status": "passed", "runs": [run]}],
    }
    (results / "run.json").write_text(json.dumps(document), "utf-8")
    (results / "deep.json").write_text("[" * 200_000, "utf-8")
    (results / "large.json").write_bytes(b'{"tasks": [' + b"1," * 4_000_000)


def dense_results(folder: Path, _outside: Path) -> None:
    """Results of few bytes and very many values."""
    _suite(folder)
    results = folder / ".waza" / "results"
    results.mkdir(parents=True)
    start = b'{"eval_id": "run", "eval_name": "x", "timestamp": "2026-01-01T00:00:00Z", "tasks": ['
    (results / "tasks.json").write_bytes(start + b"{}," * 4_000_000 + b"{}]}")
    (results / "lines.partial.jsonl").write_bytes(start + b"]}\n" + b"1\n" * 4_000_000)
    verdicts = ",".join(f'"g{number}":{{}}' for number in range(190_000))
    trial = f'{{"test_id": "one", "runs": [{{"validations": {{{verdicts}}}}}]}}'
    (results / "verdicts.json").write_bytes(start + trial.encode() + b"]}")
    # An interval of the score costs a hundredth of a second for each task that people have reviewed.
    person = {"h": {"type": "human", "score": 0, "passed": False, "details": {"status": "pending"}}}
    tasks = [
        {"test_id": f"t{number}", "runs": [{"validations": person, "final_output": "x" * 100}] * 3}
        for number in range(1_000)
    ]
    (results / "reviewed.json").write_bytes(start + json.dumps(tasks)[1:].encode() + b"}")
    review = {"run": "run", "trial": 1, "grader": "h", "passed": True}
    lines = (
        json.dumps({**review, "task": f"t{number}", "score": number / 1_000}) + "\n"
        for number in range(1_000)
    )
    (folder / "reviews.jsonl").write_text("".join(lines) + "1\n" * 20_000_000, "utf-8")


def _what_fetches(folder: Path, port: int) -> None:
    (folder / "tasks").mkdir(parents=True)
    (folder / "tasks" / "one.yaml").write_text(TASK, "utf-8")
    address = f"http://127.0.0.1:{port}/x"
    schema = f"{{$ref: {address}, $schema: {address}}}"
    graders = f"  - type: json_schema\n    name: a\n    config: {{schema: {schema}}}\n"
    more = f"# yaml-language-server: $schema={address}\n$schema: {address}\nrepos:\n  - {{url: {address}}}\n"
    _suite(folder, graders, more)


def _what_executes(root: Path, outside: Path) -> None:
    """Plant code wherever a careless program would execute it."""
    witness = f"open({str(outside / 'executed')!r}, 'w').close()\n"
    for name in PYTHON_MODULES:
        (root / f"{name}.py").write_text(witness, "utf-8")
    for package in ("waza_engine", "waza_language_server"):
        (root / package).mkdir()
        (root / package / "__init__.py").write_text(witness, "utf-8")
        (root / package / "__main__.py").write_text(witness, "utf-8")
    folder = root / "executing"
    (folder / "tasks").mkdir(parents=True)
    (folder / "tasks" / "one.yaml").write_text(TASK, "utf-8")
    (folder / "grade.py").write_text(witness, "utf-8")
    python, script = json.dumps(sys.executable), json.dumps(str(folder / "grade.py"))
    graders = (
        f"  - type: program\n    name: a\n    config: {{command: {python}, args: [{script}]}}\n"
        f"  - type: code\n    name: b\n    config: {{assertions: [\"__import__('grade')\"]}}\n"
        "  - type: script\n    name: c\n    config: {script: grade.py}\n"
        "  - type: nobody_knows_this\n    name: d\n"
    )
    hooks = f"hooks:\n  before_run: [{{command: 'python {folder / 'grade.py'}'}}]\n"
    tags = f'x: !!python/object/apply:os.system ["touch {outside / "executed"}"]\n'
    _suite(folder, graders, hooks + tags)
    (root / ".waza.yaml").write_text(f"defaults: {{engine: {script}}}\nplugins: [grade]\n", "utf-8")


SUITES: tuple[Callable[[Path, Path], None], ...] = (
    pattern_bombs,
    alias_bombs,
    many_mistakes,
    many_unknown_options,
    duplicate_keys,
    one_name,
    bare_types,
    open_brackets,
    open_brackets_and_graders,
    deep,
    one_long_scalar,
    many_tasks,
    unrelated_files,
    pipes,
    descriptors,
    links,
    names,
    classic_line_ends,
    no_numbers,
    binary,
    committed_results,
    dense_results,
)
