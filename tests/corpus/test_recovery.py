"""A mistake costs what it destroys and nothing else.

Most of a broken file can still be completed and explained.
"""

import random

import pytest

from tests.corpus.recovery import apply, expected_paths, found_paths, key_paths, random_changes
from tests.shared_corpus import needs_corpus, suite_files
from waza_language_server.syntax.tree import Tree, parse

pytestmark = pytest.mark.check

LEAST = 0.95
"""The share of key paths that must survive on average."""

BUILT_IN = [
    """\
name: flow-style
skill: explainer
config: {trials_per_task: 3, timeout_seconds: 300, parallel: false, executor: mock, model: gpt-4o}
metrics:
  - {name: accuracy, weight: 0.5, threshold: 0.8}
  - {name: speed, weight: 0.5, threshold: 0.7, description: 'How fast, in words: very'}
graders:
  - {name: length, type: code, config: {assertions: ["len(output) > 10", 'output != ""']}}
  - name: words
    type: text
    config: {regex_match: ["(?i)hello"], regex_not_match: ["error"]}
tasks: ["tasks/*.yaml"]
""",
    """\
# Single quotes and the other list style.
name: 'single-quoted'
skill: 'reviewer'
graders:
- name: 'no_errors'
  type: 'text'
  weight: 2
  config:
    regex_not_match:
    - '(?i)fatal: \\w+'
    - 'can''t'
- name: 'files'
  type: 'file'
  config:
    must_exist:
    - 'README.md'
    content_patterns:
    - path: 'README.md'
      must_match:
      - '# Title'
tasks:
- 'tasks/*.yaml'
""",
    """\
id: block-text-001
name: Explain a loop
description: |
  Explains a loop: what it does,
  - step by step

inputs:
  prompt: >-
    Explain this "loop"
    to a beginner.
  files:
    - path: loop.py
expected:
  output_contains:
    - "loop"
  behavior:
    max_tool_calls: 5
graders:
  - name: judged
    type: prompt
    config:
      prompt: |
        Is it *good*? Answer with: yes or no.
      model: gpt-4o
""".replace("\n", "\r\n"),
]


def shares(texts: list[str], mistakes: int, rounds: int, seed: int) -> list[float]:
    """Return the share of surviving key paths for each of many broken files."""
    files = [(text, keys) for text in texts if (keys := key_paths(text))]
    randomness = random.Random(seed)
    found: list[float] = []
    while len(found) < rounds:
        text, keys = randomness.choice(files)
        changes = random_changes(text, randomness, mistakes)
        expected = expected_paths(keys, text, changes)
        tree = parse(apply(text, changes))
        assert_ranges_inside(tree)
        if expected:
            found.append(len(expected & found_paths(tree)) / len(expected))
    return found


def assert_ranges_inside(tree: Tree) -> None:
    size = len(tree.text)
    for fault in tree.errors:
        assert 0 <= fault.span.start <= fault.span.end <= size
        assert all(0 <= e.span.start <= e.span.end <= size for fix in fault.fixes for e in fix.edits)
    if tree.root is not None:
        for node in tree.root.walk():
            assert 0 <= node.span.start <= node.span.end <= size
            if node.parent is not None:
                assert node.parent.span.start <= node.span.start <= node.span.end <= node.parent.span.end


def average(values: list[float]) -> float:
    return sum(values) / len(values)


@pytest.mark.parametrize("mistakes", [1, 2])
def test_built_in_samples_survive_mistakes(mistakes: int) -> None:
    assert average(shares(BUILT_IN, mistakes, 1_000, seed=1)) >= LEAST


@needs_corpus
@pytest.mark.parametrize("mistakes", [1, 2])
def test_public_suites_survive_mistakes(mistakes: int) -> None:
    texts = [path.read_bytes().decode() for path in suite_files()]
    assert average(shares(texts, mistakes, 1_000, seed=2)) >= LEAST


@needs_corpus
def test_an_intact_file_is_found_complete() -> None:
    for path in suite_files():
        text = path.read_bytes().decode()
        keys = key_paths(text)
        if keys:
            assert expected_paths(keys, text, []) <= found_paths(parse(text))


def test_the_measure_notices_a_loss() -> None:
    text = BUILT_IN[1]
    keys = key_paths(text)
    half = parse(text[: len(text) // 2])
    expected = expected_paths(keys, text, [])
    assert len(expected & found_paths(half)) / len(expected) < 0.7
