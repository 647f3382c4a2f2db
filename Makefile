# `make run` and `make test` do all the set-up themselves; only the first time does it cost time.

SETUP := @sh scripts/setup.sh
BIN := .venv/bin
# What needs a server, Spark or a browser runs one after the other, everything else at once.
REAL := kafka or spark or browser or stack or remote

.PHONY: run test test-fast check docs score rehearse-all bench setup

run: ## start the console with a broker and demo pipelines; Ctrl-C ends everything
	$(SETUP) python jars
	@exec env HEADGATE_FOLLOW_PARENT=1 $(BIN)/headgate up --demo $(ARGS)

test: ## run every test: units, real broker, real Spark, real browser
	$(SETUP) python jars stores browser
ifdef ARGS
	@exec $(BIN)/pytest $(ARGS)
else
	@$(BIN)/pytest -q -n auto -m "not ($(REAL))"; first=$$?; $(BIN)/pytest -m "$(REAL)" && exit $$first
endif

test-fast: ## run the tests that need no broker, Spark or browser
	$(SETUP) python
	@exec $(BIN)/pytest -q -n auto -m "not ($(REAL) or slow)" $(ARGS)

check: ## ruff, mypy, and the layers
	$(SETUP) python
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/pytest -q tests/test_layering.py

docs: ## write the rules' pages in docs/rules
	$(SETUP) python
	@exec $(BIN)/python scripts/rule_pages.py

score: ## compare the verdicts with what the engines did, over the cases in tests/cases
	$(SETUP) python
	@exec $(BIN)/python scripts/score.py --headgate $(BIN)/headgate --list tests/cases $(ARGS)

rehearse-all: ## rehearse recorded restarts (ARGS=FOLDER) and compare; writes docs/rehearsal_agreement.md
	$(SETUP) python jars
	@exec $(BIN)/python scripts/rehearse_corpus.py --table docs/rehearsal_agreement.md $(ARGS)

bench: ## measure against the peers; writes bench/RESULTS.md (one subject: ARGS=event_log)
	$(SETUP) python jars
	@exec $(BIN)/python bench/harness.py $(ARGS)

setup: ## the set-up alone
	$(SETUP) python jars
