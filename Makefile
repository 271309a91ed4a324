# Every step has one home, and it is here: hooks and CI call these targets and restate nothing.
# `make` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := build/demo
PREFIX ?= /usr/local
# Of the package, for make install: http, validate, pictures, with commas between them.
EXTRAS ?=
# Narrow the tests: make test T=tests/test_wire.py K=batch (without the floor under coverage then)
T ?=
K ?=
# For a trial of the measurements: make bench BENCH="--quick --only call"
BENCH ?=

export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Whoever calls decides neither what is tested (a pipe that is buffered) nor that all is compiled each time.
unexport PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED

.PHONY: help demo captures check fix format lint types man test zoo real conformance load fuzz bench bench-peers install dist clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(DEMO)/ready ## pin a real server, check it, and call it from a pipeline
	@sh docs/demo.sh $(DEMO)

captures: $(BIN)/ready ## what a terminal shows, as text in docs/captures (needs tmux)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python docs/captures.py

check: format lint types man test zoo ## the whole gate; CI runs this and nothing else

fix: $(BIN)/ready ## let ruff repair and format what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

format: $(BIN)/ready ## is everything formatted?
	$(BIN)/ruff format --check .

lint: $(BIN)/ready ## ruff, all rules but those listed in pyproject.toml
	$(BIN)/ruff check .

types: $(BIN)/ready ## mypy, strict
	$(BIN)/mypy

man: ## do the man pages render without a warning?
	@if command -v mandoc >/dev/null; then \
	  echo "mandoc -T lint -W warning man/*"; mandoc -T lint -W warning man/*.[15]; \
	else echo "man: mandoc is not installed, so the pages were not linted"; fi

# Beside the halves run the properties: thousands of random cases take half the time if nobody counts
# branches, and so no branch is covered by chance.
test: $(BIN)/ready ## the tests in this process, with all branches covered
ifeq ($(T)$(K),)
	@mkdir -p build; rm -f .coverage .coverage.* build/test-*.log; processes=; status=0; \
	for part in 1 2; do \
	  TEST_PART=$$part/2 $(BIN)/coverage run -p -m pytest -q -m "not real and not zoo and not load and not fuzz" \
	    --ignore-glob="*properties.py" >build/test-$$part.log 2>&1 & \
	  processes="$$processes $$!"; \
	done; \
	$(BIN)/pytest -q tests/test_*properties.py >build/test-3.log 2>&1 & \
	processes="$$processes $$!"; \
	for process in $$processes; do wait $$process || status=1; done; \
	cat build/test-*.log; exit $$status
	$(BIN)/coverage combine -q
	$(BIN)/coverage report
else
	$(BIN)/pytest -x $(T) $(if $(K),-k "$(K)")
endif

# Four at a time: they mostly wait.
zoo: $(BIN)/ready ## the installed command against misbehaving servers (some minutes)
	@mkdir -p build; rm -f build/zoo-*.log; processes=; status=0; \
	for part in 1 2 3 4; do \
	  TEST_PART=$$part/4 $(BIN)/pytest -q -m zoo tests/zoo tests/drift >build/zoo-$$part.log 2>&1 & \
	  processes="$$processes $$!"; \
	done; \
	for process in $$processes; do wait $$process || status=1; done; \
	cat build/zoo-*.log; exit $$status

real: $(BIN)/ready ## the installed command against servers from the registries
	$(BIN)/python tests/real/install.py
	$(BIN)/pytest -q -m real tests/real

conformance: $(BIN)/ready ## the installed command in the official MCP conformance suite, on both sides
	$(BIN)/python tests/conformance/install.py
	$(BIN)/python tests/conformance/run.py
	$(BIN)/python tests/conformance/run_server.py

load: $(BIN)/ready ## thrall serve under load and among accidents (about 3 minutes)
	$(BIN)/pytest -q -s -m load tests/serve

fuzz: $(BIN)/ready ## 100,000 runs of the fuzzer
	THRALL_FUZZ_RUNS=100000 $(BIN)/pytest -q -m fuzz tests/test_fuzz.py

# An environment of its own, because .pth files of a development one cost 11 ms a start.
bench: ## what thrall costs, in bench/RESULTS.md and as plots (BENCH=--quick for a trial)
	$(PYTHON) bench/run.py $(BENCH)

bench-peers: ## the same beside other clients, from PyPI and npm
	$(PYTHON) bench/run.py --peers $(BENCH)

install: ## install the command, its pages and completions below PREFIX (/usr/local), with EXTRAS=http,...
	$(PYTHON) -m venv $(PREFIX)/lib/thrall
	$(PREFIX)/lib/thrall/bin/pip install -q ".$(if $(EXTRAS),[$(EXTRAS)])"
	install -d $(PREFIX)/bin $(PREFIX)/share/man/man1 $(PREFIX)/share/man/man5
	ln -sf ../lib/thrall/bin/thrall $(PREFIX)/bin/thrall
	install -m 644 man/*.1 $(PREFIX)/share/man/man1
	install -m 644 man/*.5 $(PREFIX)/share/man/man5
	install -d $(PREFIX)/share/bash-completion/completions $(PREFIX)/share/zsh/site-functions \
	  $(PREFIX)/share/fish/vendor_completions.d
	install -m 644 thrall_py/shell/thrall.bash $(PREFIX)/share/bash-completion/completions/thrall
	install -m 644 thrall_py/shell/thrall.zsh $(PREFIX)/share/zsh/site-functions/_thrall
	install -m 644 thrall_py/shell/thrall.fish $(PREFIX)/share/fish/vendor_completions.d

dist: $(BIN)/ready ## wheel and sdist in dist/, tried in an empty environment
	rm -rf dist build/dist
	$(BIN)/python -m build --no-isolation
	$(PYTHON) -m venv build/dist
	build/dist/bin/pip install -q dist/*.whl
	build/dist/bin/thrall --version
	build/dist/bin/thrall --help >/dev/null

clean: ## remove what these targets made
	rm -rf $(VENV) build dist .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

$(BIN)/ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "thrall needs Python 3.11 or newer")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q --editable . --group dev
	@touch $@

$(DEMO)/ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "thrall needs Python 3.11 or newer")'
	$(PYTHON) -m venv --clear $(DEMO)
	$(DEMO)/bin/python -m pip install -q --editable .
	$(PYTHON) -m venv --clear $(DEMO)/server
	$(DEMO)/server/bin/python -m pip install -q mcp-server-time
	@touch $@
