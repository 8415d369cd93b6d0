"""The ids of what can be run: readable paths that come back as what they were."""

from pathlib import Path

import pytest

from waza_language_server.project.runnable_id import RunnableId

SUITE = Path("/suites/eval.yaml")


@pytest.mark.parametrize(
    ("runnable", "text"),
    [
        (RunnableId(SUITE), "/suites/eval.yaml"),
        (RunnableId(SUITE, "one"), "/suites/eval.yaml::one"),
        (RunnableId(SUITE, "one", "short"), "/suites/eval.yaml::one::short"),
        (RunnableId(SUITE, None, "short"), "/suites/eval.yaml::::short"),
        (RunnableId(SUITE, "a::b", ":c"), "/suites/eval.yaml::a%3A%3Ab::%3Ac"),
        (RunnableId(SUITE, "100%", "%3A"), "/suites/eval.yaml::100%25::%253A"),
        (
            RunnableId(SUITE, prompt="Write a::b, #leaves: x"),
            "/suites/eval.yaml#triggers:Write a::b, #leaves: x",
        ),
        (RunnableId(Path("/a#b/e.yaml"), prompt="Add", should_trigger=False), "/a#b/e.yaml#leaves:Add"),
        (RunnableId(Path("/a::b/e: x.yaml"), "ü 😀"), "/a%3A%3Ab/e%3A x.yaml::ü 😀"),
    ],
)
def test_an_id_is_a_path_and_comes_back(runnable: RunnableId, text: str) -> None:
    assert str(runnable) == text
    assert RunnableId.parse(text) == runnable


@pytest.mark.parametrize(
    "text",
    [
        "",
        "::",
        "::a",
        "/e.yaml::",
        "/e.yaml::a::",
        "/e.yaml::a::b::c",
        "e.yaml::a",
        "/e.yaml#triggers:",
        "/e.yaml::a#leaves:b",
    ],
)
def test_anything_else_is_no_id(text: str) -> None:
    with pytest.raises(ValueError, match="does not name"):
        RunnableId.parse(text)


def test_the_parent_runs_it_among_others() -> None:
    assert RunnableId(SUITE, "one", "short").parent == RunnableId(SUITE, "one")
    assert RunnableId(SUITE, None, "short").parent == RunnableId(SUITE)
    assert RunnableId(SUITE, "one").parent == RunnableId(SUITE)
    assert RunnableId(SUITE, prompt="Add", should_trigger=False).parent == RunnableId(SUITE)
    assert RunnableId(SUITE).parent is None
