# The daily targets. `make` builds, `make test` is scripts/test.
.PHONY: all setup demo test unit bench docs clean

all: .venv
	scripts/build

.venv setup:
	scripts/setup

demo:
	scripts/demo

test:
	scripts/test

unit: .venv  # the C++ tests alone
	scripts/build all
	ctest --test-dir build --output-on-failure

bench: .venv
	bench/run

docs: .venv  # the pages that are made from tables
	scripts/build
	.venv/bin/python scripts/make_docs.py

clean:
	rm -rf build
