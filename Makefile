# Everything sets itself up: a virtual environment in .venv, made once and again when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench docs clean

help:
	@echo "make demo    play the embedded ALFWorld games, print a table, write a page of one episode"
	@echo "make test    run the tests"
	@echo "make lint    ruff and mypy"
	@echo "make bench   measure speed (benchmarks/); writes JSON next to the printed tables"
	@echo "make docs    build the documentation into site/"

$(VENV)/.dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	@touch $@

demo: $(VENV)/.dev
	$(BIN)/eapo-gym demo --out demo-out

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/alfworld.py

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) site demo-out
