# `make run` and `make test` do all the set-up themselves; only the first time does it cost time.

SETUP := @sh scripts/setup.sh
BIN := .venv/bin
# Tests may write bytecode where Python may not: pytest would rewrite each module at every run.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest
# What needs a server, Spark or a browser waits for most of its time: it runs in two to four
# processes, as many as have 4 GB each, a module in one of them, the longest first
# (tests/conftest.py). All else runs on all processors.
REAL := kafka or spark or browser or stack or remote
PROCESSES ?= $(shell awk '/^MemAvailable/ {n = int($$2 / 4194304)} \
	END {print (n < 2 ? 2 : (n > 4 ? 4 : n))}' /proc/meminfo 2>/dev/null)
# Only modules that have such tests: each process collects what it is given, which takes a minute
# for all.
REAL_MODULES = $(shell grep -rlE 'mark\.(kafka|spark|browser|stack|remote)\b' tests \
	--include='test_*.py' --include=conftest.py | sed 's|/conftest.py$$||' | sort)
SPREAD = -n $(or $(PROCESSES),3) --dist loadfile --no-loadscope-reorder
# The tests that failed in either run, one a line (tests/conftest.py).
FAILED := .cache/failed-tests
# COVERAGE=1: which share of the lines of lib/ the tests without servers run, as one line at the end.
# The others mostly run lib/ in other processes. Python before 3.12 has only the slow way to trace.
COV = $(if $(COVERAGE),--cov --cov-report=)
SAY_COVERAGE = $(if $(COVERAGE),echo "make test: $$($(BIN)/coverage report --format=total) % of the \
	lines of lib/ run in the tests without servers" >&2;)
SLOWEST := --durations=15 --durations-min=1
# Spark's Java starts with two thirds of the work where its classes lie in an archive; without one
# it takes longer, and all else is the same.
QUICK_JAVA := if home=$$($(BIN)/python scripts/class_archives.py); then export JAVA_HOME="$$home"; fi

.PHONY: help run test test-fast test-long coverage check docs check-docs score rehearse-all twin-all faults fuzz trial bench setup

help: ## list what can be made
	@grep -hE '^[a-z-]+: ##' Makefile | sed 's/: ## /\t/' | expand -t 14

run: ## start the console with a broker and demo pipelines; Ctrl-C ends everything
	$(SETUP) python jars
	@exec env HEADGATE_FOLLOW_PARENT=1 $(BIN)/headgate up --demo $(ARGS)

test: ## run the tests: units, real broker, real Spark, real browser (COVERAGE=1: line coverage)
	$(SETUP) python jars stores postgres browser
ifdef ARGS
	@$(QUICK_JAVA); exec $(PYTEST) $(ARGS)
else
	@rm -f $(FAILED); export TEST_FAILURES=$(FAILED); $(QUICK_JAVA); \
	$(PYTEST) -q -n auto $(SLOWEST) $(COV) -m "not ($(REAL) or long)"; units=$$?; \
	$(PYTEST) -q $(SPREAD) $(SLOWEST) -m "($(REAL)) and not long" $(REAL_MODULES); real=$$?; \
	[ ! -s $(FAILED) ] || { echo "make test: failed are"; cat $(FAILED); } >&2; \
	echo "make test: exit $$units without servers, exit $$real with them" >&2; \
	$(SAY_COVERAGE) \
	[ $$units = 0 ] && [ $$real = 0 ]
endif

test-long: ## run what takes minutes each; a release does, CI does not
	$(SETUP) python jars stores postgres browser
	@$(QUICK_JAVA); $(PYTEST) -q $(SPREAD) $(SLOWEST) -m "long" $(ARGS)
	@exec $(PYTEST) -q -n auto -m "not ($(REAL) or long)" --hypothesis-profile=random $(ARGS)

test-fast: ## run the tests that need no broker, Spark or browser
	$(SETUP) python
	@exec $(PYTEST) -q -n auto -m "not ($(REAL) or slow or long)" $(ARGS)

# Tracing makes tests of parsers take three times the processor time: `make test` goes without.
coverage: ## run the tests without servers, and list the lines that they leave out (ARGS: tests)
	$(SETUP) python
	@exec $(PYTEST) -q -n auto -m "not ($(REAL) or long)" --cov --cov-report=term-missing:skip-covered $(ARGS)

check: ## ruff, mypy, the layers, and the words
	$(SETUP) python
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@env -u PYTHONPATH $(BIN)/mypy
	@$(BIN)/python scripts/check_words.py
	@$(PYTEST) -q tests/house/test_layering.py

docs: ## write the pages of rules, scenarios and settings, and build the site in docs/_build/html
	$(SETUP) python
	@$(BIN)/python scripts/rule_pages.py
	@$(BIN)/python scripts/scenario_pages.py
	@$(BIN)/python scripts/configuration_page.py
	@exec $(BIN)/python -m sphinx -W --keep-going -n -q -b html -d docs/_build/doctrees docs docs/_build/html $(ARGS)

# Pages of HTML take four fifths of the time of `make docs`, and only they are left out here. With
# the doctrees of an earlier run, a page that isn't read again would keep its warnings.
check-docs: ## read the site's pages without writing them: a broken link or an unknown page fails
	$(SETUP) python
	@exec $(BIN)/python -m sphinx -W --keep-going -n -q -E -j auto -b dummy -d .cache/doctrees docs .cache/docs

score: ## compare the verdicts with what the engines did, over the cases in tests/cases
	$(SETUP) python
	@exec $(BIN)/python scripts/score.py --headgate $(BIN)/headgate --list --twins docs/twin.md --twins docs/twin_streams.md tests/cases $(ARGS)

rehearse-all: ## rehearse recorded restarts (ARGS=FOLDER) and compare; writes docs/rehearsal_agreement.md
	$(SETUP) python jars
	@exec $(BIN)/python scripts/rehearse_corpus.py --table docs/rehearsal_agreement.md $(ARGS)

twin-all: ## run both versions of every recorded change on generated rows; writes docs/twin*.md
	$(SETUP) python jars
	@$(BIN)/python scripts/twin_corpus.py --table docs/twin.md $(ARGS); spark=$$?; \
	$(BIN)/python scripts/twin_streams_corpus.py --table docs/twin_streams.md $(ARGS) && [ $$spark = 0 ]

faults: ## kill workers, stop the broker, fill the disk in every scene; writes docs/faults.md
	$(SETUP) python jars
	@$(QUICK_JAVA); exec $(BIN)/python scripts/faults.py --table docs/faults.md $(ARGS)

fuzz: ## read damaged inputs of every kind (ARGS="--inputs 2000"); writes docs/fuzz.md
	$(SETUP) python
	@exec $(BIN)/python scripts/fuzz.py --table docs/fuzz.md $(ARGS)

trial: ## run other kinds of pipelines through plan, apply and undo; writes docs/trial.md
	$(SETUP) python jars
	@exec env PYTHONPATH=tests $(BIN)/python -m trial.trial docs/trial.md $(ARGS)

bench: ## measure against the peers; writes bench/RESULTS.md (one subject: ARGS=event_log)
	$(SETUP) python jars
	@exec $(BIN)/python bench/harness.py $(ARGS)

setup: ## the set-up alone
	$(SETUP) python jars
