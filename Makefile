.DEFAULT_GOAL := help
.PHONY: help up install test scenarios faults lint types client golden format lock

# The first Python of this machine that is new enough.
PYTHON := $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)
ifeq ($(PYTHON),)
$(error Headrace needs Python 3.11 or newer: install it, on Debian with `apt-get install python3`)
endif

PY := .venv/bin/python
WITH_JAVA = JAVA_HOME="$$($(PY) -m builder.local.java)"
WITH_NODE = PATH="$$($(PY) -m builder.local.node):$$PATH"
# Playwright's own Node needs a library that not every machine has.
WITH_BROWSER = PLAYWRIGHT_NODEJS_PATH="$$($(PY) -m builder.local.node)/node"
EXPORT_API = $(PY) manage.py export_openapi_schema --api builder.api.api --indent 1 --output
COMPILE_LOCK = .venv/bin/uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-header

help: ## say what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

up: ## install what is missing, start Headrace, stop it on Ctrl+C
	@$(PYTHON) -m builder.local.install && exec $(PY) -m builder.local.up

install: ## install what is missing, for work on Headrace too
	@$(PYTHON) -m builder.local.install --dev

test: install ## every test: Python, frontend, browser
	$(WITH_JAVA) $(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder \
		tests/runner tests/builder tests/local
	$(WITH_NODE) npm --prefix frontend test
	$(WITH_JAVA) $(WITH_BROWSER) $(PY) -m pytest tests/e2e tests/faults

lint: install ## style of Python and TypeScript
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	$(WITH_NODE) npm --prefix frontend run lint

format: install ## repair what lint can repair by itself
	.venv/bin/ruff check --fix
	.venv/bin/ruff format
	$(WITH_NODE) npm --prefix frontend run format

types: export HEADRACE_DATA = .venv/types
types: install ## types of Python and TypeScript, and the checked-in client against the API
	.venv/bin/mypy
	$(WITH_NODE) npm --prefix frontend run types
	@rm -rf .venv/api && mkdir -p .venv/api
	@$(EXPORT_API) .venv/api/openapi.json
	@$(WITH_NODE) npm --prefix frontend run client -- \
		--input $(CURDIR)/.venv/api/openapi.json --output $(CURDIR)/.venv/api/client
	@diff --recursive frontend/src/api/client .venv/api/client \
		&& diff frontend/src/api/openapi.json .venv/api/openapi.json \
		|| { echo "The API has changed: run \`make client\` and commit what it writes."; exit 1; }

client: export HEADRACE_DATA = .venv/types
client: install ## write the API's description and the frontend's client anew
	$(EXPORT_API) frontend/src/api/openapi.json
	$(WITH_NODE) npm --prefix frontend run client

scenarios: install ## deploy every scenario in both modes, kill each job half way, compare; what else is long
	$(WITH_JAVA) HEADRACE_SCENARIOS=all $(PY) -m pytest tests/runner/test_scenarios.py \
		tests/runner/test_operators.py tests/runner/test_windows.py \
		tests/runner/test_standalone.py tests/runner/test_kafka_changes.py \
		tests/runner/test_full_disk.py tests/runner/test_state.py tests/runner/test_host.py \
		tests/builder/test_true_numbers.py

faults: install ## 20 faults, a minute each where something is stopped, under numbered input
	$(WITH_JAVA) HEADRACE_FAULTS=20 HEADRACE_FAULT_SECONDS=60 $(PY) -m pytest -s tests/faults

golden: install ## write the compiled programs of the golden tests anew, for review
	HEADRACE_GOLDEN=1 $(PY) -m pytest tests/runner

lock: install ## pin the newest versions that pyproject.toml allows, hashes without addresses
	$(COMPILE_LOCK) --upgrade pyproject.toml -o requirements.lock
	$(COMPILE_LOCK) --upgrade pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock
	$(foreach group,uv java node,$(COMPILE_LOCK) --upgrade --group $(group) -o requirements-$(group).lock;)
