"""The codes of ``SKILL.md`` files."""

from __future__ import annotations

from waza_language_server.analysis.codes.code import Code

_SKILL = "---\nname: {}\ndescription: Explains code. Use when somebody asks what code does.\n"

SKILL_CODES = (
    Code(
        "skill-frontmatter",
        "The frontmatter of the skill does not end",
        "error",
        "What a skill is called and when it is used stands between the first line and the next `---`. "
        "Without that one upstream and this engine refuse the file.",
        f"{_SKILL.format('suite')}\n# How to explain\n",
        f"{_SKILL.format('suite')}---\n\n# How to explain\n",
        kind="skill",
    ),
    Code(
        "skill-name",
        "The skill is called otherwise than its folder",
        "warning",
        "Agents want both to have one name, and upstream's check asks for it (`spec-dir-match`). The fix "
        "writes the name of the folder; a rename in the editor changes the files that name the skill, too.",
        f"{_SKILL.format('explainer')}---\n\n# How to explain\n",
        f"{_SKILL.format('suite')}---\n\n# How to explain\n",
        kind="skill",
        files={"README.md": "A skill.\n"},
    ),
)
