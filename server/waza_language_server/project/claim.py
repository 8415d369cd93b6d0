"""Claim a document as a suite file by its name, its content and its neighbours.

``eval.yaml`` is a common name: other evaluation tools use it for formats of their own. A file is claimed
only when something shows that it belongs to a suite, and a file that carries another tool's keys is left
alone, so that users of other tools see no diagnostics of this server. The decision reads the keys at the left
margin without parsing, so that it is the same while a line is half typed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import PurePath

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.foreign_evals import is_named_as_evals
from waza_engine.spec.harness_files import ROW_SUFFIXES, RowKind, file_kind, is_adapter
from waza_engine.spec.reading.searched_folders import EVAL_NAMES as NAMES_TO_RUN
from waza_engine.spelling import typo_of
from waza_language_server.project.document import DocumentKind
from waza_language_server.project.front_matter import front_matter, missing_opening
from waza_language_server.syntax.json_tree import parse_json

EVAL_NAMES = (*NAMES_TO_RUN, "wazaEval.yaml", "wazaEval.yml")
SKILL_NAME = "SKILL.md"
TRIGGER_NAMES = ("trigger_tests.yaml", "trigger_tests.yml")
CONFIG_NAMES = (".waza.yaml", ".waza.yml")
SUITE_FILE_NAMES = frozenset({*EVAL_NAMES, *CONFIG_NAMES, *TRIGGER_NAMES})
"""The names of files that belong to a suite, whatever is in them."""
VALLY_PROJECT_NAMES = (".vally.yaml", ".vally.yml")
YAML_SUFFIXES = (".yaml", ".yml")
JSON_SUFFIX = ".json"
JSON_SUFFIXES = (JSON_SUFFIX, *ROW_SUFFIXES)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EVAL_KEYS = _words(
    "name description skill version schemaVersion config metrics graders tasks tasks_from task_patterns "
    "hooks inputs range baseline mcp_mocks command_mocks adversarial scenario expected_skill"
)
_TASK_KEYS = _words(
    "id name description enabled tags context_dir timeout_seconds inputs expected graders golden checkpoints "
    "skill_directories instruction_files first_event_timeout_seconds prompt expected_graders"
)
_TRIGGER_LISTS = _words(
    "should_trigger_prompts should_not_trigger_prompts shouldTriggerPrompts shouldNotTriggerPrompts"
)
_RUN_SETTINGS = _words("trials_per_task timeout_seconds max_attempts judge_model skill_directories")
_FOREIGN_KEYS = _words(
    # Keys that other tools write at the left margin of an eval file and that no suite file has there: Vally,
    "stimuli scoring environment constraints "
    # promptfoo,
    "providers prompts tests defaultTest evaluateOptions redteam targets scenarios derivedMetrics "
    # lm-eval,
    "dataset_path dataset_name doc_to_text doc_to_target output_type metric_list task group test_split "
    # prompt files of GitHub Models,
    "evaluators testData messages modelParameters "
    # mlflow and its kin, registries of evals,
    "dataset datasets data evaluator judge scorers scorer solver target model_uri evaluation run_name "
    "class args samples_jsonl "
    # workflows, manifests, API descriptions.
    "on jobs runs steps nodes outputs stages pool trigger apiVersion kind services image "
    "openapi swagger paths components $schema $id definitions"
)
_OF_A_SUITE = _words("tasks tasks_from metrics skill")
_PROMPTS = _words("prompt turns")
_OF_A_STIMULUS = _words("prompt turns graders rubric constraints")
_VALLY_NAME = compiled_later(r"(?i)(?:^|[._-])(?:eval|vally)\.(?:vally\.)?ya?ml$")
_SMALLEST_SUITE = _words("name config graders tasks")
_BLOCKS = _words("config graders metrics hooks tasks tasks_from task_patterns")
"""Keys without which a file has nothing to run or to grade."""
_BLOCKS_BESIDE_TASKS = _words("config graders metrics tasks_from")
_SCALES = _words("graders metrics")
_KEYS_OF_SCALES = _words("type name ref weight config")
_NOTHING_BUT_TASKS = _words("tasks version description")
_SUITE_SIBLINGS = frozenset({"tasks", "SKILL.md", *CONFIG_NAMES, *TRIGGER_NAMES})
_KEY_AT_MARGIN = compiled_later(r"""(?m)^(?:"([^"\n]*)"|'([^'\n]*)'|([$\w][\w$.-]*))[ \t]*:(?=[ \t\r\n]|$)""")
_LIST = compiled_later(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*+(?:---[ \t]*(?:\r\n|\r|\n))?-[ \t\r\n]")
_FLOW_KEY = compiled_later(r"""[{,]\s*["']?([A-Za-z_$][\w$.-]*)["']?\s*:""")
_NESTED_KEY = compiled_later(r"""(?m)^[ \t]+(?:-[ \t]+)?["']?([\w-]+)["']?[ \t]*:""")
_NOTHING = compiled_later(r"(?:[ \t\r\n]|#[^\r\n]*|(?m:^)---(?=[ \t\r\n]|\Z))*+")
_LISTED = compiled_later(r"""[^\s\[\],"'-][^\s\],"']*""")
_KINDS_OF_ROWS: Mapping[RowKind | None, DocumentKind | None] = {
    "prompts": "prompts",
    "capture": "captures",
    "trials": "trials",
    None: None,
}
_STRINGS_OF_ADAPTERS = ('"sessionMode"', '"session_mode"', '"outputEvents"')
_STRINGS_OF_EVALS = ('"evals"', '"should_trigger"')
_BEGUN_EVALS = compiled_later(r"\ufeff?\s*(?:\{\s*\}?\s*)?")
"""An empty text or object, whose kind depends on the name of the file alone."""
_PROMPT_KEYS = frozenset({"query", "prompt"})
_MOST_CHARACTERS = 200_000
"""Only the first characters of a file are read."""


def claim(
    path: PurePath,
    text: str,
    siblings: Collection[str] = (),
    *,
    eval_names: Collection[str] = (),
    in_suite: bool = False,
    next_to_eval: bool = False,
) -> DocumentKind | None:
    """Return what kind of suite file this is, None if it does not belong to a suite.

    ``siblings`` are the names in the file's own folder. ``eval_names`` are further names of eval files
    (``files.evalFile`` of ``.waza.yaml``). ``in_suite`` says that a known suite picks the file up;
    ``next_to_eval`` that an eval file is next to its folder ``tasks/``, or next to a trigger file.
    """
    name = path.name
    if name == SKILL_NAME:
        return "skill" if front_matter(text).opened or missing_opening(text) is not None else None
    if name in CONFIG_NAMES:
        return "project_config"
    if path.suffix.lower() == JSON_SUFFIX:
        return _json_kind(path, text)
    if path.suffix.lower() in ROW_SUFFIXES:
        return _KINDS_OF_ROWS[file_kind(path.name, text)]
    if name in VALLY_PROJECT_NAMES:
        return "vally_project"
    if path.suffix.lower() not in YAML_SUFFIXES:
        return None
    content = _Content(text)
    if _is_vally(name, content):
        return "vally_eval"
    if name in TRIGGER_NAMES:
        return "trigger_tests" if _is_trigger_file(content, next_to_eval) else None
    if name in EVAL_NAMES or name in eval_names:
        return "eval" if _is_eval(content, siblings) else None
    if in_suite:
        return "task"
    if _is_task(content, next_to_eval):
        return "task"
    return "eval" if _is_surely_eval(content) else None


def _json_kind(path: PurePath, text: str) -> DocumentKind | None:
    """Return the kind of a JSON file by its keys, also if it has syntax errors."""
    is_named = is_named_as_evals(path.name)
    if is_named and _BEGUN_EVALS.fullmatch(text) is not None:
        return "evals_json"
    if not any(word in text for word in (*_STRINGS_OF_EVALS, *_STRINGS_OF_ADAPTERS)):
        return None
    root = parse_json(text).root
    data = root.to_python() if root is not None else None
    if is_adapter(data, is_named=path.parent.name == "adapters"):
        return "adapter"
    keys = data if isinstance(data, dict) else {}
    evals = keys.get("evals") if keys else data
    if not isinstance(evals, list):
        return None
    cases = [case for case in evals if isinstance(case, dict)]
    asking = [case for case in cases if not _PROMPT_KEYS.isdisjoint(case)]
    if asking and 2 * sum("should_trigger" in case for case in asking) >= len(cases):
        return "trigger_list"
    if not keys:
        return None
    if isinstance(keys.get("skill_name"), str):
        return "evals_json"
    return "evals_json" if is_named and any("prompt" in case for case in asking) else None


def _is_vally(name: str, content: _Content) -> bool:
    """Return whether a file is an eval file of Vally, by the rule of ``foreign_evals``.

    Psychology experiments have stimuli, too: in a file with another name there must be graders.
    """
    if "stimuli" not in content.keys or not content.keys.isdisjoint(_OF_A_SUITE) or content.in_braces:
        return False
    inside = content.block("stimuli")
    if not _VALLY_NAME.search(name):
        return not inside.isdisjoint(_PROMPTS) and ("graders" in inside or "graders" in content.keys)
    return inside <= {"name"} or not inside.isdisjoint(_OF_A_STIMULUS)


def is_blank_text(text: str) -> bool:
    """Return whether a text has only whitespace, comments and ``---``."""
    return _NOTHING.fullmatch(text.removeprefix("\ufeff")) is not None


def begins_eval(text: str, *, begun: bool) -> bool:
    """Return whether a file with the name of an eval file, near a skill, is the beginning of one.

    It is empty, or names a skill and has only keys of eval files. For a file that was ``begun`` empty, one
    key of eval files is enough.
    """
    if is_blank_text(text):
        return True
    content = _Content(text)
    if content.foreign or content.list:
        return False
    if begun:
        return not content.keys or bool(content.keys & _EVAL_KEYS)
    return "skill" in content.keys and content.keys <= _EVAL_KEYS


class _Content:
    """The keys of a text, read without parsing it."""

    def __init__(self, text: str) -> None:
        # A lone carriage return breaks lines, too, as in the YAML parser.
        text = text[:_MOST_CHARACTERS].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        self._text = text
        self.list = bool(_LIST.match(text))
        self.keys = {a or b or c for a, b, c in _KEY_AT_MARGIN.findall(text)}
        self.in_braces = text.lstrip().startswith("{")
        if self.in_braces:
            self.keys |= set(_FLOW_KEY.findall(text))
        self.foreign = bool(self.keys & _FOREIGN_KEYS)

    def block(self, key: str) -> set[str]:
        """Return the keys written anywhere below a key at the left margin."""
        body = self._below(key)
        if body is None:
            return set(_FLOW_KEY.findall(self._text)) if self.in_braces else set()
        return set(_NESTED_KEY.findall(body)) | set(_FLOW_KEY.findall(body))

    def words(self, key: str) -> list[str]:
        """Return the strings listed below a key at the left margin, without comments."""
        return _LISTED.findall(re.sub(r"(?m)(?:^|[ \t])#.*$", "", self._below(key) or ""))

    def _below(self, key: str) -> str | None:
        found = _KEY_AT_MARGIN.finditer(self._text)
        match = next((match for match in found if key in match.groups()), None)
        if match is None:
            return None
        following = _KEY_AT_MARGIN.search(self._text, match.end())
        return self._text[match.end() : following.start() if following else len(self._text)]


def _is_eval(content: _Content, siblings: Collection[str]) -> bool:
    keys = content.keys
    if content.foreign:
        return _has_one_foreign_key(content)
    if _is_surely_eval(content):
        return True
    if "skill" in keys and keys & {"graders", "tasks", "tasks_from"}:
        # Other tools name skills, too: without another block of a suite the tasks must have prompts.
        is_sure = bool(keys & _BLOCKS_BESIDE_TASKS) or content.in_braces
        return is_sure or not _have_no_prompt(content, "inputs", "prompt", "task_files")
    if keys >= _SMALLEST_SUITE:
        return True
    if keys & _EVAL_KEYS <= _NOTHING_BUT_TASKS and _are_foreign_tasks(content):
        return False
    if _has_blocks_of_others(keys) or _are_foreign_scales(content):
        return False
    suite_around = not _SUITE_SIBLINGS.isdisjoint(siblings)
    return suite_around and (bool(keys & _EVAL_KEYS) if keys else not content.list)


def _has_blocks_of_others(keys: Collection[str]) -> bool:
    """Return whether a file has no block of a suite, and keys that no suite has, such as `cases`.

    If it names a skill, a key that may be a typo of a suite's makes it a suite that is being written.
    """
    strange = frozenset(keys) - _EVAL_KEYS
    if not strange or not _BLOCKS.isdisjoint(keys):
        return False
    typos = {key for key in strange if typo_of(key, _EVAL_KEYS)}
    return not typos or ("skill" not in keys and bool(strange - typos))


def _are_foreign_scales(content: _Content) -> bool:
    """Return whether a file has only graders or metrics, and these are strings or lack all known keys."""
    blocks = content.keys & _BLOCKS
    if "skill" in content.keys or not blocks or not blocks <= _SCALES:
        return False
    inside = {key for block in blocks for key in content.block(block)}
    has_content = bool(inside) or any(map(content.words, blocks))
    return has_content and inside.isdisjoint(_KEYS_OF_SCALES)


def _has_one_foreign_key(content: _Content) -> bool:
    """Return whether a suite has a single key of another tool, such as `tests` for `tasks`."""
    if len(content.keys & _FOREIGN_KEYS) > 1 or "skill" not in content.keys:
        return False
    return "trials_per_task" in content.block("config") and len(content.keys & _EVAL_KEYS) >= 4


def _are_foreign_tasks(content: _Content) -> bool:
    """Return whether tasks are another tool's: mappings without a prompt, or strings that are no paths."""
    if content.block("tasks"):
        return _have_no_prompt(content, "inputs")
    words = content.words("tasks")
    return bool(words) and not any(sign in word for word in words for sign in "/*.?[")


def _have_no_prompt(content: _Content, *prompts: str) -> bool:
    """Return whether tasks are mappings without any of the keys that prompt an agent."""
    inside = content.block("tasks")
    return bool(inside) and inside.isdisjoint(prompts)


def _is_surely_eval(content: _Content) -> bool:
    """Return whether the content alone shows that a file is an eval file."""
    keys = content.keys
    if content.foreign or not keys & {"tasks", "tasks_from", "graders"}:
        return False
    if "skill" in keys and keys & {"tasks", "tasks_from"} and keys & {"config", "graders", "metrics"}:
        return True
    return "config" in keys and bool(content.block("config") & _RUN_SETTINGS) and len(keys & _EVAL_KEYS) >= 3


def _is_task(content: _Content, next_to_eval: bool) -> bool:
    if content.foreign:
        return False
    keys = content.keys
    if next_to_eval:
        return not keys or bool(keys & _TASK_KEYS)
    if not keys & {"id", "name"} or "inputs" not in keys:
        return False
    # Forms and actions of other tools have ``name`` and ``inputs``, too: require one more key of a task.
    certain = "id" in keys or keys & {"expected", "graders", "tags"}
    return bool(certain and content.block("inputs") & {"prompt", "prompt_file"})


def _is_trigger_file(content: _Content, next_to_eval: bool) -> bool:
    if content.keys & _TRIGGER_LISTS:
        return True
    return not content.foreign and (next_to_eval or not content.keys or "skill" in content.keys)
