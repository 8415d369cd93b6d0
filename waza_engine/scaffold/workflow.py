"""The workflow file that checks and runs a project's suites in a CI system."""

from __future__ import annotations

from pathlib import Path

from waza_engine.boundary import checkout_around
from waza_engine.project_page import project_page
from waza_engine.scaffold.file_changes import ScaffoldError, write_files
from waza_engine.version import __version__

_GITHUB = """\
name: Waza

on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read
  pull-requests: write  # the comment
  security-events: write  # the findings in code scanning

jobs:
  evals:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
        with:
          fetch-depth: 0  # for --changed-since
      - uses: ACTION@vVERSION
        # A real agent needs the extra, a limit and a key:
        # with:
        #   extras: agents
        #   args: --executor copilot-sdk --max-cost 2
        # env:
        #   COPILOT_GITHUB_TOKEN: ${{ secrets.COPILOT_GITHUB_TOKEN }}
"""

_GITLAB = """\
waza:
  image: python:3.13-slim
  variables:
    GIT_DEPTH: 0  # for --changed-since
    PIP_CACHE_DIR: $CI_PROJECT_DIR/.cache/pip
  cache:
    paths: [.cache/pip]
  script:
    - python -m pip install waza-language-server==VERSION
    - waza-language-server check --format gitlab > gl-code-quality-report.json || waza-language-server check
    # A real agent: install waza-language-server[agents], add --executor and --max-cost,
    # and set its key as a masked variable.
    - waza-engine run --reporter junit:waza-junit.xml
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
      junit: waza-junit.xml
"""

_AZURE = """\
trigger: [main]

pool:
  vmImage: ubuntu-latest

steps:
  - checkout: self
    fetchDepth: 0  # for --changed-since
  - task: UsePythonVersion@0
    inputs:
      versionSpec: "3.13"
  - script: python -m pip install waza-language-server==VERSION
    displayName: Install
  - script: waza-language-server check --format junit > waza-check.xml || waza-language-server check
    displayName: Check
  # A real agent: install waza-language-server[agents], add --executor and --max-cost,
  # and pass its key in `env`.
  - script: waza-engine run --reporter junit:waza-junit.xml
    displayName: Run
    condition: succeededOrFailed()
  - task: PublishTestResults@2
    condition: succeededOrFailed()
    inputs:
      testResultsFormat: JUnit
      testResultsFiles: waza-*.xml
"""

WORKFLOWS = {
    "github": (".github/workflows/waza.yml", _GITHUB),
    "gitlab": (".gitlab-ci.yml", _GITLAB),
    "azure": ("azure-pipelines.yml", _AZURE),
}
"""The file and its content, by CI system."""


def new_workflow(system: str, *, force: bool) -> list[Path]:
    """Write the workflow file at the root of the repository around the working directory.

    Raises ``ScaffoldError`` for an unknown system, and as ``write_files``.
    """
    if system not in WORKFLOWS:
        raise ScaffoldError(f"Unknown CI system {system!r}: write {', '.join(WORKFLOWS)}.")
    name, template = WORKFLOWS[system]
    action = project_page().removeprefix("https://github.com/")
    text = template.replace("ACTION", action).replace("VERSION", __version__)
    here = Path.cwd()
    return write_files(checkout_around(here) or here, {name: text}, force=force)
