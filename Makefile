# Two commands matter: `make test` sets everything up and runs all tests; `make check` is the quick half.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
PAGE := src/mngr_view/static/page.html
DEBIAN := tmux git rsync openssh-client openssh-server iproute2 iptables docker.io debootstrap busybox util-linux procps groff-base asciinema chromium gh

PATHS ?= tests/e2e/test_finding_your_way.py

.PHONY: setup web check test self-test soak docs demo bench clean

setup: $(STAMP) $(PAGE) build/agents/installed

web: $(PAGE)

# The coding agents that tests drive; where they cannot be had, those tests say so.
build/agents/installed: tests/agents/programs/package-lock.json tools/agent-programs
	command -v npm >/dev/null || tools/debian-packages nodejs npm
	tools/agent-programs

$(STAMP): pyproject.toml tools/debian-packages
	tools/debian-packages $(DEBIAN)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

web/node_modules/.package-lock.json: web/package-lock.json
	command -v npm >/dev/null || tools/debian-packages nodejs npm
	# Not `npm ci`: it insists on builds for other machines, which some registries lack. The lockfile still rules.
	cd web && npm install --silent --no-save
	touch $@

$(PAGE): web/node_modules/.package-lock.json web/page.html $(wildcard web/*.js* web/src/*.ts* web/src/style/*.css)
	cd web && npm run --silent check && npm run --silent build
	touch $@

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	tools/test $(BIN)/pytest -q -n 2 -m 'not slow'

test: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	tools/test $(BIN)/pytest -n 2 --junitxml=build/junit.xml

# The pipeline on our own suite, an agent for each test; all of it: make self-test PATHS=tests/e2e (docs/self-test.md).
self-test: setup
	PATH="$(CURDIR)/$(BIN):$$PATH" tools/self-test $(PATHS)

# Hours are fine here: what `make test` does ten times is done a hundred times.
soak: setup
	MNGR_TEST_KILLS=100 tools/test $(BIN)/pytest tests/tmr/run/test_kills.py

docs: setup
	$(BIN)/python -m mngr.cli.helptext && $(BIN)/python -m mngr.cli.reference
	$(BIN)/python -m mngr_e2e.authoring.slash_command

demo: setup
	PATH="$(CURDIR)/$(BIN):$$PATH" examples/first-steps.sh

bench: setup
	$(BIN)/python bench/run.py

clean:
	rm -rf $(VENV) web/node_modules $(PAGE) .mypy_cache .ruff_cache .hypothesis build dist
