"""A suite made from a ``SKILL.md``: an eval file, tasks, trigger tests and a fixture, valid and runnable."""

from __future__ import annotations

import contextlib
import os
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from waza_engine.boundary import suite_boundary
from waza_engine.files import names_in
from waza_engine.graders.trigger import words
from waza_engine.scaffold.composing import compose, to_yaml
from waza_engine.scaffold.file_changes import ScaffoldError, slug
from waza_engine.spec.executors import EXECUTORS
from waza_engine.spec.foreign_evals import foreign_eval_in, may_be_evals
from waza_engine.spec.loading import PROJECT_CONFIG_NAME, find_project_config, load_project_config
from waza_engine.spec.pattern_syntax import literal_pattern
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import read_text
from waza_engine.spec.skill_file import SkillFile, load_skill_file

MOST_PROMPTS = 6
_SHORTEST, _LONGEST = 3, 160

_LABEL = re.compile(
    r"(?P<unwanted>\b(?:do\s+not|don['’]t|never)\s+(?:use|trigger|activate|invoke)\b(?:\s+(?:this|the)\s+skill)?"
    r"\s*(?:for|when|if|on|with|in)?\b\s*:?|\bnot\s+for\b\s*:?)"
    r"|(?P<wanted>\buse\s+(?:(?:this|the)\s+skill\s+)?(?:only\s+)?(?:for|when(?:ever)?|if)\b\s*:?"
    r"|\btrigger(?:s|ed)?(?:\s+(?:on|by|when|phrases(?:\s+include)?))?\s*:"
    r"|\btrigger\s+phrases\s+include\b|\bwhen\s*:)"
    r"|(?P<other>\b(?:invokes|for\s+single\s+operations|returns|requires|output)\s*:)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|「([^」]+)」|«([^»]+)»|(?<![\w’])\'([^\']+)\'(?!\w)|`([^`]+)`')
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z*(])|。")
_SEPARATORS = re.compile(r"[,;、]\s*(?:(?:or|and)\s+)?|\s+(?:or|OR)\s+|\(\d+\)\s*|\s+[–—]\s+")
_LEAD_IN = re.compile(
    r"^(?:(?:the\s+)?users?|someone|you|they)\s+(?:explicitly\s+)?(?:wants?|asks?|says?|mentions?|needs?|requests?|"
    r"are|is)\s*(?:to\s+|for\s+|about\s+)?|^asked\s+(?:to|for|about)\s+|^to\s+|^(?:or|and)\s+",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\s*\([^)]*\)\s*$")
_NAMED_THING = re.compile(r"^(?:\w+ing|a|an|the|any|all|new|existing)\b", re.IGNORECASE)
_QUESTION = re.compile(
    r"(?:what|why|how|which|where|when|who|does|do|is|are|can|could|should)\b", re.IGNORECASE
)
_OFF_TOPIC = (
    "What is the capital of Portugal?",
    "Write a short poem about autumn",
    "Convert 20 degrees Celsius to Fahrenheit",
    "Recommend three films for a rainy evening",
    "How long do I boil an egg?",
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt; ``certain`` if it comes from the author, and is not our guess."""

    text: str
    certain: bool


@dataclass(frozen=True, slots=True)
class TriggerPrompts:
    """Prompts that should lead to a skill, at least one, and prompts that should not, at least two."""

    wanted: tuple[Prompt, ...]
    unwanted: tuple[Prompt, ...]


def trigger_prompts(name: str, description: str) -> TriggerPrompts:
    """Return prompts for a skill. Those missing in its description are guessed from its first words."""
    text = " ".join(description.replace("**", "").split())
    wanted: list[Prompt] = []
    unwanted: list[Prompt] = []
    labels = list(_LABEL.finditer(text))
    ends = [*(label.start() for label in labels[1:]), len(text)]
    for label, end in zip(labels, ends, strict=False):
        section = text[label.end() : end]
        if label["wanted"]:
            wanted += _prompts(section, listed=label.group().endswith(":"))
        elif label["unwanted"]:
            unwanted += _prompts(section, listed=label.group().endswith(":"))
    wanted = wanted or _guesses(name, text[: labels[0].start()] if labels else text)
    topic = words(f"{name} {text}")
    others = [Prompt(prompt, False) for prompt in _OFF_TOPIC if not words(prompt) & topic]
    if len(unwanted) < 2:
        unwanted += others[: 3 - len(unwanted)]
    return TriggerPrompts(_distinct(wanted), _distinct(unwanted))


def summary(description: str) -> str:
    """Return the part of a description before its usage hints; all of it if that is empty."""
    text = " ".join(description.replace("**", "").split())
    label = _LABEL.search(text)
    before = text[: label.start()] if label else text
    return printable(before if any(character.isalnum() for character in before) else text).rstrip(" -–—:")


def printable(text: str) -> str:
    """Return the string on one line, without invisible characters."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())


def _prompts(section: str, *, listed: bool) -> list[Prompt]:
    quoted = ["".join(match) for match in _QUOTED.findall(section)]
    if quoted:
        return [Prompt(_sentence(piece), True) for piece in quoted if _fits(piece)]
    # A list after a colon continues to the next label; a sentence ends where it ends.
    text = section if listed else _SENTENCE_END.split(section.strip(), maxsplit=1)[0]
    pieces = [_cleaned(piece) for part in _SENTENCE_END.split(text) for piece in _SEPARATORS.split(part)]
    return [
        Prompt(f"Help me with {piece}" if _NAMED_THING.match(piece) else _sentence(piece), listed)
        for piece in pieces
        if _fits(piece)
    ]


def _guesses(name: str, about: str) -> list[Prompt]:
    first = _cleaned(_SENTENCE_END.split(about.strip(), maxsplit=1)[0])
    spoken = " ".join(re.split(r"[-_\s]+", name)).strip()
    guesses = [_sentence(first[:_LONGEST])] if _fits(first[:_LONGEST]) else []
    return [Prompt(guess, False) for guess in (*guesses, f"Help me with {spoken or 'this'}")]


def _cleaned(piece: str) -> str:
    text = _NOTE.sub("", piece.strip(" .:;-–—*\"'“”"))
    return _LEAD_IN.sub("", text).strip(" .:;-–—*\"'“”")


def _fits(piece: str) -> bool:
    return _SHORTEST <= len(piece.strip()) <= _LONGEST and any(character.isalnum() for character in piece)


def _sentence(piece: str) -> str:
    text = piece.strip()
    mark = "?" if _QUESTION.match(text) and text[-1].isalnum() else ""
    return text[:1].upper() + text[1:] + mark


def _distinct(prompts: Iterable[Prompt]) -> tuple[Prompt, ...]:
    found: dict[str, Prompt] = {}
    for prompt in prompts:
        clean = Prompt(printable(prompt.text), prompt.certain)
        found.setdefault(clean.text.casefold(), clean)
    return tuple(found.values())[:MOST_PROMPTS]


SKILL_NAME = "SKILL.md"
EVAL_NAME = "eval.yaml"
EVALS = "evals"
DEFAULT_MODEL = "claude-sonnet-4.6"
_FIXTURE = "example.md"
_DESCRIPTION_CHARACTERS = 200
_TITLE_CHARACTERS = 80
_MOST_WORDS = 4


@dataclass(frozen=True, slots=True)
class NewSuite:
    """The files of a suite to be: ``files`` maps paths below ``directory`` to their content."""

    directory: Path
    files: Mapping[str, str]
    warnings: tuple[str, ...] = ()


def new_suite(
    source: Path,
    directory: Path | None = None,
    *,
    executor: str = "mock",
    model: str = DEFAULT_MODEL,
    base: Path | None = None,
    force: bool = False,
) -> NewSuite:
    """Return the suite for a ``SKILL.md`` or the folder it is in; nothing is written.

    Without ``directory`` it goes to a folder of the skill's name below ``paths.evals`` of the nearest
    ``.waza.yaml``, or below ``evals`` of ``base``, else of the working directory.

    Raises ``ScaffoldError``, also for a skill that has evals of another tool, unless ``directory`` or
    ``force`` says that a suite is wanted beside them.
    """
    if executor not in EXECUTORS:
        raise ScaffoldError(f"`{executor}` is not an executor; write one of {', '.join(EXECUTORS)}.")
    path, skill = _skill(source)
    name = printable(skill.name) or path.parent.name or "skill"
    warnings = _warnings(path, skill, name)
    target = directory or _evals_directory(path, base or Path.cwd()) / slug(name, "skill")
    others = list(_evals_of_others(path.parent, target))
    if others and directory is None and not force:
        raise ScaffoldError(
            f"The skill has evals: {'; '.join(others)}.", "Write a suite beside them with --force or --out."
        )
    warnings += others
    prompts = trigger_prompts(name, skill.description)
    folder = _relative(path.parent, target)
    boundary = suite_boundary(target)
    if not boundary.holds(path):
        warnings.append(
            f"a run refuses this suite: its skill in {path.parent} is outside of {boundary.name}; "
            "make the suite in the folder or the repository of the skill"
        )
    tasks = _tasks(name, prompts, invoked=EXECUTORS[executor].skills_in_new_suites)
    files = {
        EVAL_NAME: _eval_file(name, skill, folder, executor, model),
        **tasks,
        "trigger_tests.yaml": _trigger_tests(name, prompts),
        f"fixtures/{_FIXTURE}": "# Example\n\nPut the files here that the skill works on in your tasks.\n",
    }
    return NewSuite(target, files, tuple(warnings))


def _skill(source: Path) -> tuple[Path, SkillFile]:
    path = source / SKILL_NAME if source.is_dir() else source
    if not path.exists():
        where = f"in {source}" if source.is_dir() else f"at {source}"
        raise ScaffoldError(f"There is no {SKILL_NAME} {where}; name a skill's file or its folder.")
    try:
        skill = load_skill_file(path)
    except SuiteFileError as error:
        raise ScaffoldError(f"{error}.") from None
    if not skill.name and not skill.description:
        raise ScaffoldError(
            f"{path} has no frontmatter with `name` and `description`; "
            "begin the file with `---`, these two keys, and `---` again."
        )
    return path.resolve(), skill


def _warnings(path: Path, skill: SkillFile, name: str) -> list[str]:
    warnings: list[str] = []
    if not skill.name:
        warnings.append(f"{path} has no `name`; the suite takes the folder's, {name}")
    if not skill.description.strip():
        warnings.append(f"{path} has no `description`; the prompts are guesses from the name")
    return warnings


def _evals_of_others(skill: Path, target: Path) -> Iterator[str]:
    """Yield a sentence for each eval file of another tool in the folders of a skill and of its new suite."""
    for folder in dict.fromkeys((skill, skill / EVALS, target.resolve())):
        within = suite_boundary(folder)
        try:
            names = names_in(folder, within=within)
        except OSError:
            continue
        for path in (folder / name for name in names if may_be_evals(name)):
            with contextlib.suppress(SuiteFileError):
                found = foreign_eval_in(read_text(path, within=within), path)
                if found is not None:
                    yield f"{path} is {found.title if found.runs else found.refusal}; {found.advice}"


def _evals_directory(skill: Path, base: Path) -> Path:
    config = find_project_config(skill.parent)
    if config is None:
        return base / EVALS
    try:
        project, _ = load_project_config(skill.parent)
    except SuiteFileError as error:
        raise ScaffoldError(
            f"{error}. Repair {PROJECT_CONFIG_NAME}.", "Or name a directory with --out."
        ) from None
    return config.parent / project.paths.evals


def _relative(place: Path, start: Path) -> str:
    try:
        return Path(os.path.relpath(place, start.resolve())).as_posix()
    except ValueError:  # another drive
        return place.as_posix()


_EVAL = """\
# Does the skill do its work? Tasks are in tasks/, prompts that should start it in trigger_tests.yaml.
name: $name
description: $description
skill: $skill
version: "1.0"

config:
  trials_per_task: 1
  timeout_seconds: 300
EXECUTOR
  model: $model
  skill_directories:
    - $folder

metrics:
  - name: trigger_accuracy
    weight: 1.0
    threshold: 0.8
    description: Does the skill start for the right prompts and stay silent for the others?

# These graders apply to every task.
graders:
  - type: code
    name: has_answer
    config:
      assertions:
        - len(output.strip()) > 0

  - type: text
    name: no_breakdown
    config:
      regex_not_match:
        - '(?i)\\btraceback \\(most recent call last\\)'

  - type: behavior
    name: stays_frugal
    config:
      max_tool_calls: 30
      max_duration_ms: 300000

tasks:
  - tasks/*.yaml
"""


def _eval_file(name: str, skill: SkillFile, folder: str, executor: str, model: str) -> str:
    about = summary(skill.description)
    shown = about if len(about) <= _DESCRIPTION_CHARACTERS else f"{about[:_DESCRIPTION_CHARACTERS].rstrip()}…"
    return compose(
        _EVAL.replace("EXECUTOR", _executor_lines(executor)),
        name=f"{name}-eval",
        description=shown or f"Evaluation of the skill {name}.",
        skill=name,
        model=model,
        folder=folder,
    )


def _executor_lines(executor: str) -> str:
    kind = EXECUTORS[executor]
    note = f"  # {kind.note}" if kind.note else ""
    return "\n".join(f"  {line}" for line in (f"executor: {executor}{note}", *kind.keys))


def _tasks(skill: str, prompts: TriggerPrompts, *, invoked: bool) -> dict[str, str]:
    first = prompts.wanted[0].text
    second = prompts.wanted[1 % len(prompts.wanted)].text
    asked = slug(first, "first-request")
    filed = f"{slug(second, 'request')}-with-a-file"
    words_of_first = sorted(word for word in words(first) if word in first.lower())[:_MOST_WORDS]
    on_topic = compose(_ON_TOPIC, pattern=f"(?i)({'|'.join(words_of_first)})")
    uses_skill = compose(_USES_SKILL, skill=skill)
    if invoked:
        uses_skill = f"\n{uses_skill}"
    else:
        commented = "".join(f"# {line}" for line in uses_skill.splitlines(keepends=True))
        uses_skill = f"\n# With a real agent, ask that the skill was used:\n{commented}"
    tasks = {
        asked: _task(
            asked,
            first,
            "A plain request.",
            "basic",
            (on_topic if words_of_first else _SAYS_SOMETHING) + uses_skill,
        ),
        filed: _task(
            filed,
            f"{second.rstrip('.?!。')}: see {_FIXTURE}",
            f"A request about a file; it is copied from fixtures/{_FIXTURE}.",
            "files",
            _KEEPS_FILE + uses_skill,
            files=f"  files:\n    - path: {_FIXTURE}\n",
        ),
    }
    if prompts.unwanted:
        outside = prompts.unwanted[0].text
        avoided = f"out-of-scope-{slug(outside, 'request')}"
        about = "A request that the skill should leave alone."
        leaves_alone = compose(_LEAVES_ALONE, skill=f"^{literal_pattern(skill)}$")
        tasks[avoided] = _task(avoided, outside, about, "negative", leaves_alone)
    return {f"tasks/{identifier}.yaml": text for identifier, text in tasks.items()}


_TASK = """\
id: $id
name: $name
description: $description
tags: [TAG]

inputs:
  prompt: $prompt
FILES
# What must a good answer contain, and what must be on the disk afterwards? Make these checks your own.
graders:
"""

_ON_TOPIC = """\
- type: text
  name: on_topic
  config:
    regex_match:
      - $pattern
"""

_SAYS_SOMETHING = """\
- type: code
  name: says_something
  config:
    assertions:
      - len(output.split()) > 0
"""

_KEEPS_FILE = f"""\
- type: file
  name: keeps_the_file
  config:
    must_exist:
      - {_FIXTURE}
"""

_LEAVES_ALONE = """\
- type: tool_constraint
  name: leaves_it_alone
  config:
    reject_tools:
      - tool: ^skill$
        skill_pattern: $skill
"""

_USES_SKILL = """\
- type: skill_invocation
  name: uses_the_skill
  config:
    mode: any_order
    required_skills:
      - $skill
"""


def _task(identifier: str, prompt: str, description: str, tag: str, graders: str, *, files: str = "") -> str:
    title = prompt if len(prompt) <= _TITLE_CHARACTERS else f"{prompt[: _TITLE_CHARACTERS - 1].rstrip()}…"
    template = _TASK.replace("TAG", tag).replace("FILES\n", f"{files}\n") + textwrap.indent(graders, "  ")
    return compose(template, id=identifier, name=title, description=description, prompt=prompt)


_TRIGGERS_NOTE = """\
# Prompts that must start the skill, and prompts that must not. Replace the guesses (medium) with your own.
"""


def _trigger_tests(skill: str, prompts: TriggerPrompts) -> str:
    wanted = _trigger_prompts(prompts.wanted, "Something the skill is for")
    unwanted = _trigger_prompts(prompts.unwanted, "Not the work of this skill")
    blocks = {"skill": skill}, {"should_trigger_prompts": wanted}, {"should_not_trigger_prompts": unwanted}
    return _TRIGGERS_NOTE + "\n".join(map(to_yaml, blocks))


def _trigger_prompts(prompts: tuple[Prompt, ...], reason: str) -> list[dict[str, str]]:
    return [
        {"prompt": prompt.text, "reason": reason, "confidence": "high" if prompt.certain else "medium"}
        for prompt in prompts
    ]
