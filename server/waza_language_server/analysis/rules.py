"""The tables of all rules, by the part that they check. Add a new rule as a function and a row here.

The meaning, the severity and an example of each code are in ``codes/``.
"""

from __future__ import annotations

from waza_language_server.analysis.file_rules.adapter import lost_conversations, unreachable_mappings
from waza_language_server.analysis.file_rules.eval_file import (
    hook_commands,
    inline_ids,
    metric_names,
    mock_servers,
    newer_version,
    rows,
    weights,
)
from waza_language_server.analysis.file_rules.grader_names import duplicate_names
from waza_language_server.analysis.file_rules.prompt_lines import (
    missing_trials,
    repeated_ids,
    short_timeouts,
    whitespace_lines,
)
from waza_language_server.analysis.file_rules.suppressions import unknown_codes, wrong_schema
from waza_language_server.analysis.file_rules.task_file import (
    both_sides,
    expected_graders,
    input_files,
    mock_steps,
    repeated_items,
    requirements,
    turns,
)
from waza_language_server.analysis.rule import FileView, GradersView, GraderView, Rule, SuiteView
from waza_language_server.analysis.schema_rules.structure import structure_of_file, structure_of_grader
from waza_language_server.analysis.suite_rules.datasets import datasets
from waza_language_server.analysis.suite_rules.eval_cases import (
    given_away,
    missing_case_files,
    other_skill,
)
from waza_language_server.analysis.suite_rules.grader_files import packages
from waza_language_server.analysis.suite_rules.grader_modules import grader_modules
from waza_language_server.analysis.suite_rules.grader_names import (
    names_taken_by_suite,
    nobody_to_judge,
    unknown_judges,
    unknown_names,
)
from waza_language_server.analysis.suite_rules.named_files import (
    missing_files,
    missing_programs,
    outside_paths,
)
from waza_language_server.analysis.suite_rules.skill_files import skill_file
from waza_language_server.analysis.suite_rules.skills import (
    loaded_skills,
    missing_skills,
    skill_directories,
    skill_of_triggers,
)
from waza_language_server.analysis.suite_rules.task_globs import task_globs
from waza_language_server.analysis.suite_rules.tasks import (
    blank_prompts,
    duplicate_ids,
    echoed_prompts,
    orphans,
    relative_paths,
)
from waza_language_server.analysis.suite_rules.weak_graders import (
    scores_without_graders,
    unread_verdicts,
    weak_graders,
)
from waza_language_server.analysis.text_rules.syntax import syntax
from waza_language_server.analysis.vally_rules.references import references
from waza_language_server.analysis.vally_rules.stimuli import (
    contradictions,
    grader_names,
    stimulus_names,
    unchecked_stimuli,
)
from waza_language_server.analysis.vally_rules.stimuli import (
    turns as turns_of_stimuli,
)
from waza_language_server.analysis.vally_rules.stimuli import (
    weights as weights_of_types,
)
from waza_language_server.analysis.vally_rules.versions import versions
from waza_language_server.analysis.value_rules.assertions import assertions, javascript_meant
from waza_language_server.analysis.value_rules.contradictions import (
    contradictions_of_expected,
    contradictions_of_grader,
)
from waza_language_server.analysis.value_rules.json_schemas import json_schemas
from waza_language_server.analysis.value_rules.patterns import (
    foreign_patterns,
    patterns_of_file,
    patterns_of_grader,
    rubric_names,
    tool_names,
    unanchored_patterns,
    workspace_paths,
)
from waza_language_server.analysis.value_rules.vacuous import trigger_thresholds, vacuous_checks
from waza_language_server.syntax.fault import FAULT_CODES


def _words(written: str) -> frozenset[str]:
    return frozenset(written.split())


_PATTERN_CODES = _words("invalid-pattern pattern-not-portable slow-pattern")
_TASK_GLOB_CODES = _words("bad-task-glob no-matching-tasks unreadable-task duplicate-task-id")
_STRUCTURE_CODES = _words(
    "empty-file unknown-key misplaced-key missing-key nothing-checked exactly-one-key conflicting-keys "
    "empty-value wrong-type value-not-allowed out-of-range wrong-form bounds-reversed unquoted-text yaml-1-1 "
    "unlikely-value yaml-escape "
    "recommended-key deprecated-key key-without-effect"
)

TEXT_RULES: tuple[Rule[FileView], ...] = (
    Rule("syntax", syntax, frozenset(FAULT_CODES) | _words("too-many-aliases")),
)
"""Rules about the text as YAML."""

FILE_RULES: tuple[Rule[FileView], ...] = (
    Rule("structure", structure_of_file, _STRUCTURE_CODES),
    Rule("patterns", patterns_of_file, _PATTERN_CODES),
    Rule("expected graders", expected_graders, _words("misplaced-key")),
    Rule("modeline", wrong_schema, _words("wrong-schema")),
    Rule("suppressions", unknown_codes, _words("unknown-code")),
    Rule("files of tasks", input_files, _words("outside-workspace")),
    Rule("turns", turns, _words("duplicate-turn turn-never-comes")),
    Rule("commands of hooks", hook_commands, _words("unlikely-value")),
    Rule("rows", rows, _words("bounds-reversed")),
    Rule("weights", weights, _words("weights-not-one")),
    Rule("names of metrics", metric_names, _words("unknown-metric")),
    Rule("ids of inline tasks", inline_ids, _words("duplicate-task-id")),
    Rule("trigger prompts", both_sides, _words("prompt-on-both-sides")),
    Rule("expected contradictions", contradictions_of_expected, _words("contradiction")),
    Rule("version", newer_version, _words("newer-format")),
    Rule("repeated items", repeated_items, _words("repeated-item")),
    Rule("steps of mocks", mock_steps, _words("wrong-type")),
    Rule("requirements", requirements, _words("key-without-effect")),
    Rule("assertions of cases", given_away, _words("answer-in-prompt")),
    Rule("mock servers", mock_servers, _words("duplicate-mock-name")),
    Rule("ids of prompts", repeated_ids, _words("duplicate-task-id")),
    Rule("time limits of prompts", short_timeouts, _words("unlikely-value")),
    Rule("lines of whitespace", whitespace_lines, _words("whitespace-line")),
    Rule("number of trials", missing_trials, _words("unlikely-value")),
    Rule("event mappings", unreachable_mappings, _words("unreachable-mapping")),
    Rule("past turns of conversations", lost_conversations, _words("unlikely-value")),
)
"""Rules about a file by itself, outside the entries of its lists of graders."""

GRADER_RULES: tuple[Rule[GraderView], ...] = (
    Rule(
        "grader",
        structure_of_grader,
        _STRUCTURE_CODES | _words("missing-grader-type unknown-grader-type deprecated-grader-type"),
    ),
    Rule("patterns of graders", patterns_of_grader, _PATTERN_CODES, values=_words("regex")),
    Rule("patterns of other languages", foreign_patterns, _words("unlikely-value"), values=_words("regex")),
    Rule("vacuous checks", vacuous_checks, _words("weak-grader"), types=_words("text keyword regex")),
    Rule(
        "thresholds",
        trigger_thresholds,
        _words("threshold-out-of-reach weak-grader"),
        types=_words("trigger"),
    ),
    Rule("contradictions", contradictions_of_grader, _words("contradiction bounds-reversed")),
    Rule("rubrics", rubric_names, _words("value-not-allowed"), types=_words("prompt")),
    Rule(
        "JSON Schemas",
        json_schemas,
        _words(
            "value-not-allowed wrong-type out-of-range bounds-reversed contradiction invalid-pattern "
            "unknown-key"
        ),
        types=_words("json_schema"),
    ),
    Rule(
        "workspace paths",
        workspace_paths,
        _words("outside-workspace path-not-portable"),
        types=_words("file diff"),
    ),
    Rule("tool patterns", unanchored_patterns, _words("unanchored-tool")),
    Rule("tool names", tool_names, _words("blank-in-tool-name"), values=_words("tool.name")),
    Rule(
        "assertions",
        assertions,
        _words(
            "assertion-attribute assertion-case assertion-constant assertion-internal assertion-javascript "
            "assertion-key assertion-statement assertion-syntax assertion-type "
            "assertion-uncalled assertion-unknown-name assertion-vanishing-name invalid-pattern"
        ),
        values=_words("python.assertion"),
    ),
    Rule("JavaScript", javascript_meant, _words("javascript-grader"), values=_words("python.assertion")),
)
"""Rules about one grader entry by itself: their results are cached until the entry changes."""

GRADERS_RULES: tuple[Rule[GradersView], ...] = (
    Rule("grader names", duplicate_names, _words("duplicate-grader-name")),
)
"""Rules that compare the grader entries of a file with each other."""

SUITE_RULES: tuple[Rule[SuiteView], ...] = (
    Rule("task globs", task_globs, _TASK_GLOB_CODES),
    Rule("datasets", datasets, _words("unusable-dataset")),
    Rule("prompt", relative_paths, _words("relative-path-in-prompt")),
    Rule("blank prompts", blank_prompts, _words("empty-prompt")),
    Rule("orphans", orphans, _words("orphan-task")),
    Rule("task id", duplicate_ids, _words("duplicate-task-id")),
    Rule("suite names", names_taken_by_suite, _words("grader-name-of-suite")),
    Rule("grader packages", packages, _words("grader-package")),
    Rule("named files", missing_files, _words("missing-file")),
    Rule("outside paths", outside_paths, _words("outside-repository")),
    Rule("files of cases", missing_case_files, _words("missing-file")),
    Rule("skill of evals", other_skill, _words("skill-not-found")),
    Rule("programs", missing_programs, _words("missing-program")),
    Rule("grader files", grader_modules, _words("grader-file")),
    Rule("unread verdicts", unread_verdicts, _words("unread-verdict")),
    Rule("loaded skills", loaded_skills, _words("skill-already-loaded")),
    Rule("echoed prompts", echoed_prompts, _words("answer-in-prompt")),
    Rule("skills", missing_skills, _words("skill-not-found")),
    Rule("skill of trigger prompts", skill_of_triggers, _words("skill-not-found missing-key")),
    Rule("skill directories", skill_directories, _words("missing-file path-not-portable")),
    Rule("skill files", skill_file, _words("skill-frontmatter skill-name unknown-key recommended-key")),
    Rule("judges", nobody_to_judge, _words("nobody-judges")),
    Rule("judge references", unknown_judges, _words("unknown-grader-name")),
    Rule("grader references", unknown_names, _words("unknown-grader-name")),
    Rule("scores", scores_without_graders, _words("threshold-out-of-reach")),
    Rule("weak graders", weak_graders, _words("weak-grader")),
)
"""Rules about the content of other files."""

VALLY_RULES: tuple[Rule[SuiteView], ...] = (
    Rule("versions of Vally", versions, _words("vally-version")),
    Rule("names of stimuli", stimulus_names, _words("duplicate-stimulus")),
    Rule("names in stimuli", grader_names, _words("duplicate-grader-name")),
    Rule("unchecked stimuli", unchecked_stimuli, _words("nothing-checked")),
    Rule("turns of stimuli", turns_of_stimuli, _words("turn-never-comes")),
    Rule("contradictions of stimuli", contradictions, _words("contradiction")),
    Rule("weights of types", weights_of_types, _words("weights-not-one key-without-effect")),
    Rule("references of Vally", references, _words("vally-environment missing-file")),
)
"""Rules about Vally's files, in place of those that compare graders and of those of suites."""

RULES = (*TEXT_RULES, *FILE_RULES, *GRADER_RULES, *GRADERS_RULES, *SUITE_RULES, *VALLY_RULES)
