# Each target works as the first command on a clean clone: Debian, as root, with nothing but make.
# The first one makes .venv and installs what the test bed needs; later ones find it there.

PYTHON := .venv/bin/python
# The tests bring their own Docker daemons, SSH servers and Redis, from packages: install those.
export MQCTL_BED_INSTALL := 1

.PHONY: demo test check bench soak fmt readme completions
.PHONY: lint style types contracts scripts generated
.NOTPARALLEL:

# mqctl at work on two real Docker hosts, about a minute
demo: .venv/ready
	@$(PYTHON) -m tests.demo

# every test but the long ones
test: .venv/ready
	$(PYTHON) -m pytest -m 'not soak' -n 3 --dist loadfile --no-loadscope-reorder

# all that must be true before a commit
check: lint test

lint: style types contracts scripts generated

style: .venv/ready
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .

types: .venv/ready
	$(PYTHON) -m mypy -p mqctl -p tests -p benchmarks

contracts: .venv/ready
	.venv/bin/lint-imports --no-logo

# The guard's files are one text when they travel, and short on purpose (SC2015: A && B || C).
scripts: .venv/ready
	shellcheck .ci/prepare .ci/run
	shellcheck --shell=sh src/mqctl/host/scripts/*.sh
	cat src/mqctl/host/guard/*.sh | shellcheck --shell=sh --exclude=SC2015 -

# what is written by a program is up to date, and the example is valid
generated: .venv/ready
	$(PYTHON) -m tests.repo.generated --check
	$(PYTHON) -m mqctl.cli.completions .venv/completions
	diff -r completions .venv/completions
	$(PYTHON) -m mqctl config check --config marquees.example.yaml

# what a cycle costs, counted on real hosts
bench: .venv/ready
	@$(PYTHON) -m benchmarks

# the long tests
soak: .venv/ready
	$(PYTHON) -m pytest -m soak --timeout 3600
	MQCTL_WORK_STATES=500 $(PYTHON) -m pytest tests/work

fmt: .venv/ready
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

# write the README's help texts anew
readme: .venv/ready
	$(PYTHON) -m tests.repo.generated

completions: .venv/ready
	$(PYTHON) -m mqctl.cli.completions completions

.venv/ready: pyproject.toml .ci/prepare
	@.ci/prepare
