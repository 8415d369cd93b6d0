# Everything a contributor runs. Each target creates what it needs on a machine with Python 3.11+, Node 20 and make.

PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
SUITE := examples/code-explainer
READY := $(VENV)/.ready
MODEL_VENV := .venv-model

# The tests start thousands of Python processes, and each would compile all it imports again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test check prepare-check test-all search-assertions search-kills search-messages search-live search-recovery search-verdicts scale test-model lint format bench schemas vscode release clean lock

demo: $(READY) ## Diagnostics, a run of every task and the scores in the source, on the example suite.
	@echo; echo "== What the editor would underline: waza-language-server check $(SUITE)"; echo
	@$(BIN)/waza-language-server check $(SUITE)
	@echo; echo "== Every task with the mock agent: waza-engine run $(SUITE)/eval.yaml"; echo
	@$(BIN)/waza-engine run $(SUITE)/eval.yaml || test $$? -eq 1
	@echo; echo "== The source with lenses and scores: waza-language-server show $(SUITE)/eval.yaml"; echo
	@$(BIN)/waza-language-server show $(SUITE)/eval.yaml

# The tests of a file stay in one process. More processes than processors disturb the gestures in VS Code.
PYTEST := $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder -n logical

test: $(READY) vscode-extension/node_modules/.ready ## All that runs in process, and some smoke tests over processes.
	$(PYTEST) -m "not check and not model" $(ARGS)

check: $(READY) vscode-extension/node_modules/.ready prepare-check ## What starts programs, servers and editors, a real VS Code included.
	$(PYTEST) -m "check and not scale" $(ARGS)

prepare-check: $(READY) ## Install what `make check` drives: the Copilot agent, VS Code, Neovim, Emacs.
	$(BIN)/python -m tests.preparation

test-all: test check ## Both.

# Searches that take long; `make check` runs a sample of each.
search-assertions: $(READY) ## Assertions on which the interpreter differs from Python's eval.
	$(BIN)/python -m tests.engine.assertions.search --count 20000 --seed 1 $(ARGS)

search-kills: $(READY) ## Paid runs killed at random moments: no answer that has arrived may be lost.
	$(BIN)/python -m tests.engine.faults.kills --times 1000 $(ARGS)
	$(BIN)/python -m tests.engine.harness.kills --times 50

search-messages: $(READY) ## Random messages to the server.
	$(BIN)/python -m tests.protocol.fuzz --messages 100000 --seed 1 --jobs 2 $(ARGS)

search-live: $(READY) ## Random edits, live verdicts against `waza-engine grade`.
	$(BIN)/python -m tests.live.equality --edits 5000 $(ARGS)

search-recovery: $(READY) ## Random edits of JSON Lines and JSON: parsed after edits and fresh, fixes in their lines.
	$(BIN)/python -m tests.server.recovery.search $(ARGS)

search-verdicts: $(READY) ## Ten thousand random sequences of runs: a running server, a fresh one and the engine agree.
	$(BIN)/python -m tests.server.verdicts.search $(ARGS)

scale: $(READY) ## Paid runs on a cluster with faults, and what a trial costs there next to threads.
	$(PYTEST) -m scale
	$(BIN)/python -m tests.engine.cluster.faults --runs 25 $(ARGS)
	$(BIN)/python -m tests.engine.cluster.fault_runs --runs 25 $(ARGS)
	$(BIN)/python -m tests.bench.scale --trials 2000 10000 100000

test-model: $(READY) $(MODEL_VENV)/.ready ## A small real model behind a real server; builds the server once (minutes, needs cmake and g++).
	$(BIN)/python -m pytest -m model tests/model $(ARGS)

lint: $(READY) vscode-extension/node_modules/.ready ## Style, formatting and types of both languages.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports .importlinter.toml --no-cache --no-logo
	$(BIN)/pyright
	cd vscode-extension && npm run --silent lint

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) ## Our server beside yaml-language-server in one interleaved run.
	$(BIN)/python -m tests.bench $(ARGS)
	$(BIN)/python -m tests.bench.regrading
	$(BIN)/python -m tests.bench.workspace

schemas: $(READY) ## Write again what is generated from the models: JSON Schemas, docs/graders.md, docs/vally.md, docs/diagnostics.md.
	$(BIN)/waza-engine schema --out waza_engine/schemas
	$(BIN)/python -m waza_engine.commands.grader_reference > docs/graders.md
	$(BIN)/python -m waza_engine.commands.vally_reference > docs/vally.md
	$(BIN)/python -m waza_language_server.diagnostics_page > docs/diagnostics.md

vscode: $(READY) vscode-extension/node_modules/.ready ## Package the extension as a .vsix.
	cd vscode-extension && PYTHON=../$(BIN)/python npm run package

# The version is that of waza_engine/version.py.
release: $(READY) vscode-extension/node_modules/.ready ## Source distribution, wheel and .vsix in dist/, checked as a package index does.
	rm -rf dist
	$(BIN)/python -m hatchling build -t sdist -t wheel -d dist
	$(BIN)/python -m twine check --strict dist/*.tar.gz dist/*.whl
	cd vscode-extension && PYTHON=../$(BIN)/python npm run --silent package -- --out ../dist/

clean:
	rm -rf dist $(VENV) $(MODEL_VENV) vscode-extension/node_modules vscode-extension/out

$(READY): pyproject.toml requirements.lock
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with venv is needed (set PYTHON=...)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q waza_engine server/waza_language_server
	@touch $@

$(MODEL_VENV)/.ready: tests/model/requirements.txt
	$(PYTHON) -m venv $(MODEL_VENV)
	$(MODEL_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

vscode-extension/node_modules/.ready: vscode-extension/package-lock.json
	cd vscode-extension && npm ci --no-audit --no-fund
	@touch $@

lock: ## Pin the dependencies again (needs uv).
	uv pip compile --universal --python-version 3.11 --generate-hashes --group dev --group installer --extra agents --extra otel --extra scale \
		--no-emit-index-url --no-annotate --no-header pyproject.toml -o requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-annotate --no-header tests/model/requirements.in -o tests/model/requirements.txt
