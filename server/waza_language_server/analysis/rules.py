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
    repeated_items,
    requirements,
    turns,
)
from waza_language_server.analysis.rule import FileView, GraderView, Rule, SuiteView
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

TEXT_RULES: tuple[Rule[FileView], ...] = (Rule("syntax", syntax),)
"""Rules about the text as YAML."""

FILE_RULES: tuple[Rule[FileView], ...] = (
    Rule("structure", structure_of_file),
    Rule("patterns", patterns_of_file),
    Rule("expected graders", expected_graders),
    Rule("modeline", wrong_schema),
    Rule("suppressions", unknown_codes),
    Rule("files of tasks", input_files),
    Rule("turns", turns),
    Rule("commands of hooks", hook_commands),
    Rule("rows", rows),
    Rule("weights", weights),
    Rule("names of metrics", metric_names),
    Rule("ids of inline tasks", inline_ids),
    Rule("trigger prompts", both_sides),
    Rule("expected contradictions", contradictions_of_expected),
    Rule("version", newer_version),
    Rule("repeated items", repeated_items),
    Rule("requirements", requirements),
    Rule("assertions of cases", given_away),
    Rule("mock servers", mock_servers),
    Rule("ids of prompts", repeated_ids),
    Rule("time limits of prompts", short_timeouts),
    Rule("lines of whitespace", whitespace_lines),
    Rule("number of trials", missing_trials),
    Rule("event mappings", unreachable_mappings),
    Rule("past turns of conversations", lost_conversations),
)
"""Rules about a file by itself, outside the entries of its lists of graders."""

GRADER_RULES: tuple[Rule[GraderView], ...] = (
    Rule("grader", structure_of_grader),
    Rule("patterns of graders", patterns_of_grader, values=frozenset({"regex"})),
    Rule("patterns of other languages", foreign_patterns, values=frozenset({"regex"})),
    Rule("vacuous checks", vacuous_checks, types=frozenset({"text", "keyword", "regex"})),
    Rule("thresholds", trigger_thresholds, types=frozenset({"trigger"})),
    Rule("contradictions", contradictions_of_grader),
    Rule("rubrics", rubric_names, types=frozenset({"prompt"})),
    Rule("JSON Schemas", json_schemas, types=frozenset({"json_schema"})),
    Rule("workspace paths", workspace_paths, types=frozenset({"file", "diff"})),
    Rule("tool patterns", unanchored_patterns),
    Rule("tool names", tool_names, values=frozenset({"tool.name"})),
    Rule("assertions", assertions, values=frozenset({"python.assertion"})),
    Rule("JavaScript", javascript_meant, values=frozenset({"python.assertion"})),
)
"""Rules about one grader entry by itself: their results are cached until the entry changes."""

SUITE_RULES: tuple[Rule[SuiteView], ...] = (
    Rule("grader names", duplicate_names),
    Rule("task globs", task_globs),
    Rule("datasets", datasets),
    Rule("prompt", relative_paths),
    Rule("blank prompts", blank_prompts),
    Rule("orphans", orphans),
    Rule("task id", duplicate_ids),
    Rule("suite names", names_taken_by_suite),
    Rule("grader packages", packages),
    Rule("named files", missing_files),
    Rule("outside paths", outside_paths),
    Rule("files of cases", missing_case_files),
    Rule("skill of evals", other_skill),
    Rule("programs", missing_programs),
    Rule("grader files", grader_modules),
    Rule("unread verdicts", unread_verdicts),
    Rule("loaded skills", loaded_skills),
    Rule("echoed prompts", echoed_prompts),
    Rule("skills", missing_skills),
    Rule("skill of trigger prompts", skill_of_triggers),
    Rule("skill directories", skill_directories),
    Rule("skill files", skill_file),
    Rule("judges", nobody_to_judge),
    Rule("judge references", unknown_judges),
    Rule("grader references", unknown_names),
    Rule("scores", scores_without_graders),
    Rule("weak graders", weak_graders),
)
"""Rules about a file among others, and about all its grader entries."""

VALLY_RULES: tuple[Rule[SuiteView], ...] = (
    Rule("versions of Vally", versions),
    Rule("names of stimuli", stimulus_names),
    Rule("names in stimuli", grader_names),
    Rule("unchecked stimuli", unchecked_stimuli),
    Rule("turns of stimuli", turns_of_stimuli),
    Rule("contradictions of stimuli", contradictions),
    Rule("weights of types", weights_of_types),
    Rule("references of Vally", references),
)
"""Rules about Vally's files, in place of those that compare graders and of those of suites."""

RULES = (*TEXT_RULES, *FILE_RULES, *GRADER_RULES, *SUITE_RULES, *VALLY_RULES)
