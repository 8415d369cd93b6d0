"""The tables of all rules, by the part that they check. Add a new rule as a function and a row here.

The meaning, the severity and an example of each code are in ``codes/``.
"""

from __future__ import annotations

from waza_language_server.analysis.file_rules import adapter, eval_file, prompt_lines, suppressions, task_file
from waza_language_server.analysis.file_rules import grader_names as names_in_file
from waza_language_server.analysis.rule import FileView, GraderView, Rule, SuiteView
from waza_language_server.analysis.schema_rules import structure
from waza_language_server.analysis.suite_rules import (
    datasets,
    eval_cases,
    grader_files,
    grader_modules,
    grader_names,
    named_files,
    skill_files,
    skills,
    task_globs,
    tasks,
    weak_graders,
)
from waza_language_server.analysis.text_rules import syntax
from waza_language_server.analysis.vally_rules import stimuli, unknown_names, versions
from waza_language_server.analysis.value_rules import (
    assertions,
    contradictions,
    json_schemas,
    patterns,
    vacuous,
)

TEXT_RULES: tuple[Rule[FileView], ...] = (Rule("syntax", syntax.syntax),)
"""Rules about the text as YAML."""

FILE_RULES: tuple[Rule[FileView], ...] = (
    Rule("structure", structure.structure_of_file),
    Rule("patterns", patterns.patterns_of_file),
    Rule("expected graders", task_file.expected_graders),
    Rule("modeline", suppressions.wrong_schema),
    Rule("suppressions", suppressions.unknown_codes),
    Rule("files of tasks", task_file.input_files),
    Rule("turns", task_file.turns),
    Rule("commands of hooks", eval_file.hook_commands),
    Rule("rows", eval_file.rows),
    Rule("weights", eval_file.weights),
    Rule("names of metrics", eval_file.metric_names),
    Rule("MCP servers", eval_file.mcp_servers),
    Rule("trigger prompts", task_file.both_sides),
    Rule("expected contradictions", contradictions.contradictions_of_expected),
    Rule("version", eval_file.newer_version),
    Rule("repeated items", task_file.repeated_items),
    Rule("requirements", task_file.requirements),
    Rule("assertions of cases", eval_cases.given_away),
    Rule("ids of prompts", prompt_lines.repeated_ids),
    Rule("time limits of prompts", prompt_lines.short_timeouts),
    Rule("lines of whitespace", prompt_lines.whitespace_lines),
    Rule("number of trials", prompt_lines.missing_trials),
    Rule("event mappings", adapter.unreachable_mappings),
    Rule("past turns of conversations", adapter.lost_conversations),
)
"""Rules about a file by itself, outside the entries of its lists of graders."""

GRADER_RULES: tuple[Rule[GraderView], ...] = (
    Rule("grader", structure.structure_of_grader),
    Rule("patterns of graders", patterns.patterns_of_grader, values=frozenset({"regex"})),
    Rule("patterns of other languages", patterns.foreign_patterns, values=frozenset({"regex"})),
    Rule("vacuous checks", vacuous.vacuous_checks, types=frozenset({"text", "keyword", "regex"})),
    Rule("thresholds", vacuous.trigger_thresholds, types=frozenset({"trigger"})),
    Rule("contradictions", contradictions.contradictions_of_grader),
    Rule("rubrics", patterns.rubric_names, types=frozenset({"prompt"})),
    Rule("JSON Schemas", json_schemas.json_schemas, types=frozenset({"json_schema"})),
    Rule("workspace paths", patterns.workspace_paths, types=frozenset({"file", "diff"})),
    Rule("tool patterns", patterns.unanchored_patterns),
    Rule("tool names", patterns.tool_names, values=frozenset({"tool.name"})),
    Rule("assertions", assertions.assertions, values=frozenset({"python.assertion"})),
    Rule("JavaScript", assertions.undeclared_javascript, values=frozenset({"python.assertion"})),
)
"""Rules about one grader entry by itself: their results are cached until the entry changes."""

SUITE_RULES: tuple[Rule[SuiteView], ...] = (
    Rule("grader names", names_in_file.duplicate_names),
    Rule("task globs", task_globs.task_globs),
    Rule("datasets", datasets.datasets),
    Rule("prompt", tasks.relative_paths),
    Rule("blank prompts", tasks.blank_prompts),
    Rule("orphans", tasks.orphans),
    Rule("task id", tasks.duplicate_ids),
    Rule("suite names", grader_names.names_taken_by_suite),
    Rule("grader packages", grader_files.packages),
    Rule("named files", named_files.missing_files),
    Rule("outside paths", named_files.outside_paths),
    Rule("files of cases", eval_cases.missing_case_files),
    Rule("skill of evals", eval_cases.other_skill),
    Rule("programs", named_files.missing_programs),
    Rule("grader files", grader_modules.grader_modules),
    Rule("unread verdicts", weak_graders.unread_verdicts),
    Rule("loaded skills", skills.loaded_skills),
    Rule("echoed prompts", tasks.echoed_prompts),
    Rule("skills", skills.missing_skills),
    Rule("skill of trigger prompts", skills.skill_of_triggers),
    Rule("skill directories", skills.skill_directories),
    Rule("skill files", skill_files.skill_file),
    Rule("judges", grader_names.nobody_to_judge),
    Rule("judge references", grader_names.unknown_judges),
    Rule("grader references", grader_names.unknown_names),
    Rule("scores", weak_graders.scores_without_graders),
    Rule("weak graders", weak_graders.weak_graders),
)
"""Rules about a file among others, and about all its grader entries."""

VALLY_RULES: tuple[Rule[SuiteView], ...] = (
    Rule("versions of Vally", versions.versions),
    Rule("names of stimuli", stimuli.stimulus_names),
    Rule("names in stimuli", stimuli.grader_names),
    Rule("unchecked stimuli", stimuli.unchecked_stimuli),
    Rule("turns of stimuli", stimuli.turns),
    Rule("contradictions of stimuli", stimuli.contradictions),
    Rule("weights of types", stimuli.weights),
    Rule("references of Vally", unknown_names.references),
)
"""Rules about Vally's files, in place of those that compare graders and of those of suites."""

RULES = (*TEXT_RULES, *FILE_RULES, *GRADER_RULES, *SUITE_RULES, *VALLY_RULES)
