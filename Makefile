# Two commands do everything on a fresh clone: `make run` and `make test`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
EXTRAS ?= dev
DATA ?= $(or $(MOHONE_DATA),$(HOME)/.cache/mohone)
TABLE ?= outputs/table
STRENGTH ?= outputs/strength
SCALES ?= outputs/scales
EVIDENCE ?= outputs/evidence-table
EVIDENCE_SWEEP = $(BIN)/python -m mohone.run -m experiment=table "data_dir=$(DATA)" "hydra.sweep.dir=$(EVIDENCE)"
FIGURE = $(BIN)/python -m mohone.figure
PEERS := .venv-peers
TABLE_SWEEP = $(BIN)/python -m mohone.run -m experiment=table "data_dir=$(DATA)" "hydra.sweep.dir=$(TABLE)"

.DEFAULT_GOAL := help
.PHONY: help setup run table paper evidence figures docs test bench bench-networks lint format clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv with the pinned versions of constraints.txt

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt "torch==2.13.0"
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[$(EXTRAS)]"
	touch $(STAMP)

run: $(STAMP) ## The quick start: two models x two network embeddings on UMLS, and the table
	$(BIN)/python -m mohone.run -m kge_model=transe,complex netemb=shnb,struct

table: $(STAMP) ## The paper's tables from DATA (or a download) into TABLE (hours; the same command goes on where it was)
	$(TABLE_SWEEP); first=$$?; \
	$(TABLE_SWEEP) infusion=query,retrain netemb=shnb; second=$$?; \
	$(BIN)/python -m mohone.report "$(TABLE)" --format markdown --against paper --out "$(TABLE)" \
		&& test $$first = 0 -a $$second = 0

paper: $(STAMP) ## Keep the results, tables and charts of TABLE in outputs/paper, and its MRR in docs/tables.md
	$(BIN)/python scripts/collect_results.py "$(TABLE)" outputs/paper
	$(BIN)/python -m mohone.report outputs/paper --format csv --out outputs/paper
	for form in markdown latex; do \
		$(BIN)/python -m mohone.report "$(TABLE)" --format $$form --against paper --out outputs/paper; \
	done
	for setting in typed filtered; do \
		$(BIN)/python -m mohone.report "$(TABLE)" --format png --setting $$setting --out outputs/paper; \
	done
	$(BIN)/python scripts/page_tables.py outputs/paper docs/tables.md

evidence: $(STAMP) ## Evidence in the score, both recipes, into EVIDENCE, outputs/evidence, the README and docs/evidence.md (hours)
	$(EVIDENCE_SWEEP) infusion=evidence netemb=shnb,node2vec
	$(EVIDENCE_SWEEP) infusion=evidence_random netemb=shnb
	$(BIN)/python scripts/collect_results.py "$(EVIDENCE)" outputs/evidence
	$(BIN)/python -m mohone.report "$(EVIDENCE)" --format markdown --against paper --out outputs/evidence
	$(BIN)/python scripts/page_tables.py outputs/evidence/strong README.md
	$(BIN)/python scripts/page_tables.py outputs/evidence/paper docs/evidence.md

figures: $(STAMP) ## The other pictures of outputs/paper: of TABLE, outputs/strength and outputs/scales
	$(FIGURE) barbell --out outputs/paper/barbell.png
	$(FIGURE) map "$(TABLE)/strong/fb15k237/transe-shnb-retrofit-0" --entity "Special Effects Supervisor" \
		--labels "$(DATA)/fb15k-237/entity_labels.tsv" --out outputs/paper/map.png
	for kind in grid degree; do \
		$(FIGURE) $$kind "$(TABLE)/paper/wn18rr/complex-shnb-retrofit-0" --out outputs/paper/$$kind.png; \
	done
	$(FIGURE) strength "$(STRENGTH)" --out outputs/paper/strength.png
	$(FIGURE) scale "$(SCALES)" --out outputs/paper/scale.png

docs: $(STAMP) ## The pages of docs/ as a site, in build/docs
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[docs]"
	$(BIN)/sphinx-build -W --keep-going -q docs build/docs

test: $(STAMP) ## Run the tests, in up to four processes of one thread
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal

bench: $(STAMP) ## Time models beside PyKEEN's on DATA/fb15k-237 (DATA=FOLDER), into outputs/bench
	@test -d "$(DATA)/fb15k-237" || { echo "DATA must be a folder with fb15k-237 in it, but is $(DATA)."; exit 1; }
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[bench,plots]"
	$(BIN)/python -m benchmarks.kge --data-dir "$(DATA)" --out outputs/bench

bench-networks: $(STAMP) ## Time network embeddings beside PecanPy's, on DATA and power-law graphs (half an hour)
	@test -d "$(DATA)/fb15k-237" || { echo "DATA must be a folder with fb15k-237 in it, but is $(DATA)."; exit 1; }
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[plots]"
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet "numpy<2" pecanpy==2.0.9 gensim==4.4.0
	$(BIN)/python -m benchmarks.networks --data-dir "$(DATA)" --out outputs/bench \
		--peer-python $(PEERS)/bin/python

lint: $(STAMP) ## Check format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(STAMP) ## Format the code and mend what ruff can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## Remove caches and builds, never outputs/
	rm -rf dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -type d -prune -exec rm -rf {} +
