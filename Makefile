# `make help` lists the targets; each sets up what it needs.
PYTHON ?= python3
PYTHONS ?= python3.11 python3.12 python3.13
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
FIRST := $(VENV)/.first
PAGE := src/mngr_view/static/page.html
BASE := build/docker/base.tar
DIR ?= mngr-demo
DEBIAN := tmux git rsync openssh-client openssh-server iproute2 iptables docker.io mmdebstrap busybox util-linux procps groff-base asciinema chromium gh shellcheck dash
PATHS ?= tests/e2e/test_finding_your_way.py
WORKERS ?= 4
TESTS ?= tests
# What a set-up installs comes from three registries: no part of it waits for another's.
MAKEFLAGS += --jobs=3

.PHONY: help demo test test-cost check release lint compiled setup web self-test soak docs acceptance changelog bench clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 18

# All that the demo needs: tmux, git, Python, and Node for the page; no browser, no container, no coding agent.
demo: $(FIRST) $(PAGE) ## the whole loop on a bundled example; about a minute, no account
	$(BIN)/mngr demo --dir '$(DIR)'

setup: $(STAMP) $(PAGE) build/agents/installed build/third-party/fetched ## install all that tests need

web: $(PAGE) ## build the page from web/

$(FIRST): pyproject.toml tools/python-env
	tools/debian-packages --needed tmux git
	tools/python-env $(PYTHON) $(VENV) demo
	tools/node >/dev/null
	touch $@

$(STAMP): $(FIRST) tools/debian-packages
	tools/debian-packages $(DEBIAN)
	tools/python-env $(PYTHON) $(VENV) dev
	touch $@

$(PAGE): $(wildcard web/*.js* web/*.html web/src/*.ts* web/src/*/*.ts* web/src/style/*.css) | $(FIRST)
	tools/page
	touch $@

# The coding agents that tests drive; where they cannot be had, those tests say so.
build/agents/installed: tests/agents/programs/package-lock.json tools/agent-programs | $(FIRST)
	PATH="$$(tools/node):$$PATH" tools/agent-programs

# Projects of other people that tests run the pipeline on; where they cannot be had, those tests say so.
build/third-party/fetched: tools/third-party | $(FIRST)
	$(BIN)/python tools/third-party build/third-party && touch $@ || :

# What is decided without tmux, containers, browsers or agents.
UNIT := tests/model tests/config tests/store tests/transfer tests/hosts/test_local.py tests/tmr/engine tests/tmr/model tests/tmr/report \
	tests/e2e_kit/tutorial tests/e2e_kit/view tests/e2e_kit/authoring tests/cli/test_main.py tests/cli/test_reference.py \
	tests/test_api.py tests/test_contracts.py tests/test_process.py tests/test_self_test.py

lint: setup ## ruff, mypy, shellcheck and the word list; Biome and the unit tests of the front end
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	tools/lint-shell
	tools/words
	PATH="$$(tools/node):$$PATH" && npm --prefix web run --silent lint && npm --prefix web run --silent test

# Each worker reads all tests, which takes a third of the time once they are compiled; that is done beside the lint.
# So are our own modules, each twice: as pytest reads them and as every other process does, of which tests start
# thousands, and where PYTHONDONTWRITEBYTECODE is set none of these would keep what it compiled.
compiled: setup
	@$(BIN)/python -m compileall -q -x /project/ src >/dev/null || :
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest --collect-only -qq >/dev/null 2>&1 || :

# What containers of tests start from; where it cannot be made here, those tests say so.
$(BASE): tools/docker-base | $(STAMP)
	[ "$$(id -u)" != 0 ] || tools/docker-base $@ || :

check: lint ## lint, and the tests that need neither tmux, containers nor browsers
	tools/test $(BIN)/pytest -q -n $(WORKERS) -m 'not slow' $(UNIT)

test: lint compiled $(BASE) ## all tests; what passes here may land
	tools/test $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --junitxml=build/junit.xml

# `make test-cost TESTS=tests/faults`; into build/cpu.json too. Alone on the machine, or caches and waits of others count.
test-cost: setup $(BASE) ## where the CPU seconds of tests go, by file and by test: TESTS=tests
	tools/test tools/test-cost $(BIN)/pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(TESTS)

# The pipeline on our own suite, an agent for each test; all of it: make self-test PATHS=tests/e2e (docs/self-test.md).
self-test: setup ## the pipeline on our own tests: PATHS=tests/e2e
	PATH="$(CURDIR)/$(BIN):$$PATH" tools/self-test $(PATHS)

# Hours are fine here: what `make test` does a few times is done hundreds of times.
soak: setup ## hours: hostile hosts and kill loops, hundreds of times
	MNGR_TEST_KILLS=200 MNGR_TEST_SIGKILLS=500 MNGR_TEST_GC=300 MNGR_TEST_ROUNDS=60 MNGR_TEST_FORGED=10000 MNGR_TEST_MANAGERS_S=300 MNGR_TEST_BUDGET_SEEDS=1000 MNGR_TEST_MUTATIONS=200 MNGR_CANARY_SEEDS="1 2 3 4 5 6 7 8" \
		tools/test $(BIN)/pytest --timeout=7200 tests/hostile tests/actions/test_claim.py tests/tmr/run/test_kills.py tests/tmr/engine/test_budget.py \
		tests/tmr/unchanged/test_mutations.py

docs: setup ## write the generated pages again
	$(BIN)/python -m tools.helptext && $(BIN)/python -m tools.reference
	$(BIN)/python -m mngr_e2e.authoring.agent.slash_command

# Which acceptance lines the last `make test` met, into docs/acceptance.md.
acceptance: ## which acceptance lines the last test run met
	$(BIN)/python tools/acceptance

changelog: $(FIRST) ## what the next release would say
	$(BIN)/python tools/changelog

release: setup ## build wheel and sdist, and try the wheel on each of PYTHONS
	tools/release $(PYTHONS)

bench: setup ## measure against floors and a peer
	$(BIN)/python bench/run.py

clean: ## remove what was installed and built here
	rm -rf $(VENV) web/node_modules $(PAGE) .mypy_cache .ruff_cache .hypothesis build dist
