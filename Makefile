# Two commands matter: `make test` sets everything up and runs all tests; `make check` is the quick half.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
DEBIAN := tmux git rsync openssh-client busybox util-linux procps

.PHONY: setup check test demo bench clean

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

demo: setup
	PATH="$(CURDIR)/$(BIN):$$PATH" examples/first-steps.sh

bench: setup
	$(BIN)/python bench/run.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis build dist
