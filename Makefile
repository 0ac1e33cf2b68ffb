# Two commands matter: `make test` sets everything up and runs all tests; `make check` is the quick half.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
DEBIAN := tmux git rsync openssh-client busybox util-linux procps groff-base asciinema

.PHONY: setup check test docs demo bench clean

setup: $(STAMP)

$(STAMP): pyproject.toml tools/debian-packages
	tools/debian-packages $(DEBIAN)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
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

docs: setup
	$(BIN)/python -m mngr.cli.helptext && $(BIN)/python -m mngr.cli.reference

demo: setup
	PATH="$(CURDIR)/$(BIN):$$PATH" examples/first-steps.sh

bench: setup
	$(BIN)/python bench/run.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis build dist
