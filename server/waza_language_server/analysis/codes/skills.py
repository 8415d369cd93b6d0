"""The codes of ``SKILL.md`` files."""

from __future__ import annotations

from waza_language_server.analysis.codes.code import Code

_SKILL = "---\nname: {}\ndescription: Explains code. Use when somebody asks what code does.\n"

SKILL_CODES = (
    Code(
        "skill-frontmatter",
        "Unterminated front matter of a skill",
        "error",
        "The front matter between the first line and the next `---` has the name and the description of the "
        "skill. Without the second `---`, upstream and this engine refuse the file.",
        f"{_SKILL.format('suite')}\n# How to explain\n",
        f"{_SKILL.format('suite')}---\n\n# How to explain\n",
        kind="skill",
    ),
    Code(
        "skill-name",
        "Skill name differs from its folder name",
        "warning",
        "Agents and upstream's check (`spec-dir-match`) require the same name. The fix writes the folder's "
        "name; a rename in the editor also changes the files that name the skill.",
        f"{_SKILL.format('explainer')}---\n\n# How to explain\n",
        f"{_SKILL.format('suite')}---\n\n# How to explain\n",
        kind="skill",
        files={"README.md": "A skill.\n"},
    ),
)
