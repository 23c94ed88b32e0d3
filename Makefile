# make build | install | demo | wheel | test | test-asan | test-python-checked | end-to-end | convert-test | upstream-test | fuzz | soak | bench | format | tidy | clean
PRESET ?= release
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)

.PHONY: all setup configure configure-python build install demo wheel test test-asan test-python-checked end-to-end-test convert-test upstream-test fuzz soak bench format tidy clean
all: build

setup:
	scripts/setup

configure: setup
	cmake --preset $(PRESET) >/dev/null

# With the Python package, which needs what pip installs. The sanitizers' presets do without, but python-checked.
PYTHON_ENV := $(CURDIR)/build/python-env
configure-python: setup
ifeq ($(PRESET),release)
	scripts/setup-python
	cmake --preset $(PRESET) -DTULLE_BUILD_PYTHON=ON -DPython_EXECUTABLE=$(PYTHON_ENV)/bin/python >/dev/null
else
	cmake --preset $(PRESET) >/dev/null
endif

# The command line tools alone; `make test` builds the tests too.
build: configure
	cmake --build $(BUILD) --target tulle tulle-opt tulle-lsp-server

# The command line tools and the C++ package: make install PREFIX=FOLDER (default /usr/local); DESTDIR is put before it.
install: configure
	cmake --build $(BUILD) --target tulle tulle-opt tulle-lsp-server libtulle
	cmake --install $(BUILD) --prefix $(abspath $(PREFIX))

demo: build
	PATH="$(CURDIR)/$(BUILD)/bin:$$PATH" scripts/demo

# build/wheel/tulle-*.whl: pip install FILE.
wheel: PRESET := release
wheel: configure-python
	scripts/wheel

test: configure-python
	cmake --build $(BUILD)
ifeq ($(PRESET),release)
	scripts/wheel
endif
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

# The same tests under AddressSanitizer and UndefinedBehaviorSanitizer.
test-asan:
	$(MAKE) test PRESET=asan

# The tests of the Python package in CPython's debug build (Debian's package python3-dbg), under the same sanitizers.
test-python-checked: setup
	scripts/setup-python debug
	cmake --preset python-checked >/dev/null
	cmake --build --preset python-checked
	scripts/python-checked

# SpMV and MTTKRP on every .mtx.gz and .tns.gz of a folder: make end-to-end-test DATA=FOLDER.
end-to-end-test: build
	@test -n "$(DATA)" || { echo "usage: make end-to-end-test DATA=FOLDER"; exit 1; }
	test/end_to_end/end_to_end.py --tulle $(BUILD)/bin/tulle --data $(DATA)

# Every .mtx.gz and .tns.gz of a folder, up to MOST entries, between all pairs of formats: make convert-test DATA=FOLDER.
MOST ?= 65000
convert-test: configure
	@test -n "$(DATA)" || { echo "usage: make convert-test DATA=FOLDER [MOST=ENTRIES]"; exit 1; }
	cmake --build $(BUILD) --target tulle-convert-test
	test/convert/run.py --tool $(BUILD)/bin/tulle-convert-test --data $(DATA) --most $(MOST) --jobs $(JOBS)

# MLIR's own tests of its sparsifier with tulle-opt --tulle-sparsifier, and the functions of its dialect's tests; their sources are
# fetched once.
upstream-test: configure
	cmake --build $(BUILD) --target tulle-opt
	scripts/upstream-tests --tool $(CURDIR)/$(BUILD)/bin/tulle-opt --dialect --least 406
	scripts/upstream-tests --tool $(CURDIR)/$(BUILD)/bin/tulle-opt

# Runs the fuzzers one after the other, for ever: SECONDS_EACH=600 for so long each, REPETITIONS=1 once.
fuzz: PRESET := fuzz
fuzz: setup
	cmake --preset fuzz >/dev/null
	cmake --build build/fuzz
	scripts/fuzz build/fuzz

# Random programs and every fuzzer in turn, for so many hours, JOBS (1) at a time; findings are kept in build/soak: make soak HOURS=8 JOBS=2.
soak: setup
	@test -n "$(HOURS)" || { echo "usage: make soak HOURS=NUMBER [JOBS=NUMBER]"; exit 1; }
	cmake --preset release >/dev/null
	cmake --build build/release --target differential_test
	cmake --preset fuzz >/dev/null
	cmake --build build/fuzz
	scripts/soak $(HOURS) build/release build/fuzz --jobs $(or $(JOBS),1)

# Installs the peers that are missing where it can, and writes docs/performance.md and what README.md shows of it.
# DATA=FOLDER: with the suite of the matrices there.
bench: setup
	-scripts/setup-bench
	cmake --preset $(PRESET) >/dev/null
	cmake --build $(BUILD) --target tulle bench
	$(BUILD)/bin/tulle bench all --threads 1,2 --seconds 0.5 --write docs $(if $(DATA),--data $(DATA))
	scripts/headline

format:
	git ls-files '*.cpp' '*.h' | xargs clang-format-22 -i

tidy: configure
	git ls-files 'lib/*.cpp' 'tools/*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy-22 -p $(BUILD) --quiet

clean:
	rm -rf build
