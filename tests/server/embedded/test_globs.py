"""Globs of task files: what cannot be read, which files there are, what is coloured."""

from waza_language_server.embedded.glob.task_glob_features import Globs
from waza_language_server.embedded.language import Files, Surroundings

GLOBS = Globs()


def test_what_cannot_be_read_is_reported() -> None:
    assert [each.code for each in GLOBS.check("tasks/[a.yaml").findings] == ["bad-task-glob"]
    assert GLOBS.check("tasks/[a-c]?*.yaml").findings == ()


def test_files_that_match_are_reported_and_that_two_stars_are_one() -> None:
    around = Surroundings(files=lambda: Files(("tasks/a/b.yaml",), 3))
    reported = GLOBS.hover("tasks/**/*.yaml", 0, around)
    assert reported is not None
    assert reported.text.startswith("**3 files**\n\n- `tasks/a/b.yaml`\n- … and 2 more")
    assert "`**` means the same as `*`" in reported.text
    assert GLOBS.hover("tasks/*.yaml", 0) is None


def test_paths_take_the_place_of_the_whole_value() -> None:
    around = Surroundings(paths=lambda: [("tasks/*.yaml", "2 files")])
    (word,) = GLOBS.complete("tas", 3, around)
    assert (word.text, word.kind, word.typed) == ("tasks/*.yaml", "file", 3)


def test_wildcards_are_coloured() -> None:
    value = "t/**/[a-z]?.yaml"
    found = [(value[each.start : each.end], each.kind) for each in GLOBS.tokens(value)]
    assert found == [("**", "operator"), ("[a-z]", "regexp"), ("?", "operator")]
