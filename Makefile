# Every target sets up what it needs; PYTHON is the only thing that must be there. With WHEELS=<folder> all of it is
# installed from the wheels in that folder and nothing is fetched. make wheels makes that folder for make gpu.
PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin/python
GPU_OUT ?= benchmarks/results/gpu-$(shell date -u +%Y-%m-%d)
GPU_SECONDS ?= 570
STANDIN := CUDA_VISIBLE_DEVICES= HIP_VISIBLE_DEVICES= JAX_PLATFORMS=cpu PYTHONPATH=$(CURDIR)/tests/standins/cupy

# The tests start many processes, and each would compile the sources again.
unexport PYTHONDONTWRITEBYTECODE

ifneq ($(filter wheels,$(MAKECMDGOALS)),)
WHEELS ?= dist/wheels
else ifdef WHEELS
export PIP_NO_INDEX := 1
export PIP_FIND_LINKS := $(abspath $(WHEELS))
export WHEELS := $(abspath $(WHEELS))
endif

.PHONY: help env bench claims test test-all sweeps fuzz-numpy durations base lint types docs check size conformance exchange clients \
	peers ports planted-faults generate xla cubed cupy-signatures compile-devices gpu gpu-list gpu-rehearsal wheels clean

help:            ## this list
	@grep -E '^[a-z-]+: .*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 17

env:
	@$(PYTHON) tools/environment.py $(VENV) cpu

bench: env       ## compare the same workloads on every backend that this machine has
	$(RUN) -m xarrayops.bench --all

claims: env      ## published figures, measured again on this machine
	$(RUN) benchmarks/claims --out benchmarks/results/claims.json

test: env        ## run the tests that find most in a short time, on every backend that this machine has
	@$(PYTHON) tools/environment.py $(VENV) test
	$(RUN) -m pytest -q -n auto --dist worksteal -m "not long"

test-all: env    ## run all short tests, and a sample of the long ones
	@$(PYTHON) tools/environment.py $(VENV) test
	$(RUN) -m pytest -q -n auto --dist worksteal

planted-faults: env ## plant faults one at a time and record which tests find them; an hour, ARGUMENTS="--only dask"
	@$(PYTHON) tools/environment.py $(VENV) test
	$(RUN) tools/planted_faults.py $(ARGUMENTS)

sweeps: env      ## run the whole of the long tests, 20 minutes or more, and write the counts to benchmarks/results/sweeps
	@$(PYTHON) tools/environment.py $(VENV) test
	# with =, because pytest takes a separate word for a path of tests before it knows the option
	$(RUN) -m pytest -q -n auto --dist worksteal --sweeps=benchmarks/results/sweeps
	@$(PYTHON) tools/environment.py .venv-clients clients
	.venv-clients/bin/python benchmarks/clients all --sample 40 --out bench-results/clients
	$(RUN) benchmarks/port_packages.py bench-results/port_packages --out benchmarks/results/sweeps/port_packages.json
	.venv-clients/bin/python -m pip install --quiet -r benchmarks/foreign_requirements.txt
	.venv-clients/bin/python benchmarks/foreign_calls.py --table xarrayops/port/source/foreign.json --out benchmarks/results/sweeps/foreign_calls.json
	$(RUN) benchmarks/verify_faults --out benchmarks/results/sweeps/verify_faults.json
	$(PYTHON) -m benchmarks.compile_devices
	$(MAKE) cubed

fuzz-numpy: env  ## compare xarrayops.numpy with NumPy on random calls: ARGUMENTS="--names roll --library torch --seed 3 --count 1"
	@$(PYTHON) tools/environment.py $(VENV) test
	JAX_ENABLE_X64=1 $(RUN) -m tests.fuzz.differential $(ARGUMENTS)

durations: env   ## run every test without kept programs, and record how long they take in tests/durations.json
	@$(PYTHON) tools/environment.py $(VENV) test
	XARRAYOPS_TEST_CACHE=$$(mktemp -d) $(RUN) -m pytest -q -n auto --dist worksteal --record-durations

base: env        ## prove the base install: the built wheel in a clean environment with NumPy alone
	$(RUN) tests/base_install.py

lint: env        ## style, spelling, and whether generated files and the tables of README and docs are current
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(VENV)/bin/typos
	$(RUN) tools/generate.py --check
	$(RUN) tools/readme.py --check

size: env        ## the lines of code by room, and the limit of their sum
	$(RUN) tools/size.py

types: env       ## the strict type checker, by package
	cd backends && ../$(RUN) -m mypy --config-file ../pyproject.toml

docs: env        ## the documentation site, in docs/_build/html; warnings are errors
	@$(PYTHON) tools/environment.py $(VENV) docs
	$(RUN) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "The site is docs/_build/html/index.html"

check: test-all base lint types docs  ## all that CI runs

conformance: env ## the public conformance suite on every backend: make conformance SUITE=<checkout>
	@test -n "$(SUITE)" || { echo "usage: make conformance SUITE=<checkout of data-apis/array-api-tests>"; exit 2; }
	$(RUN) -m pip install --quiet -r $(SUITE)/requirements.txt
	$(RUN) benchmarks/conformance.py $(SUITE) --baselines

clients:         ## tests of packages that use array-api-compat: make clients NAMES="scipy sklearn" SAMPLE=20
	@$(PYTHON) tools/environment.py .venv-clients clients
	.venv-clients/bin/python benchmarks/clients $(or $(NAMES),all) --sample $(or $(SAMPLE),1)

exchange: env    ## measure the exchange matrix and write docs/results/exchange.md
	$(RUN) -m benchmarks.exchange_matrix --out bench-results/exchange
	cp bench-results/exchange/exchange.json benchmarks/results/
	$(RUN) tools/readme.py

peers: env       ## measure against other libraries, side by side
	$(RUN) benchmarks/peers/imports.py --out benchmarks/results/imports.json
	$(RUN) benchmarks/peers/dispatch.py --out benchmarks/results/dispatch.json
	@$(PYTHON) tools/environment.py .venv-clients clients
	.venv-clients/bin/python benchmarks/peers/chains.py --out benchmarks/results/chains.json
	$(RUN) benchmarks/peers/operations.py --out benchmarks/results/operations.json
	$(RUN) benchmarks/peers/at.py --out benchmarks/results/at.json
	$(RUN) benchmarks/peers/sums.py --out benchmarks/results/sums.json
	$(RUN) benchmarks/peers/convolution.py --out benchmarks/results/convolution.json
	$(RUN) benchmarks/peers/jit.py --out benchmarks/results/jit.json
	$(RUN) benchmarks/peers/products.py --out benchmarks/results/products.json
	$(RUN) benchmarks/peers/kernels.py --out benchmarks/results/kernels.json
	$(RUN) benchmarks/peers/engines.py --out benchmarks/results/engines.json
	$(RUN) benchmarks/peers/exchange.py --out benchmarks/results/exchange_cost.json
	$(RUN) benchmarks/peers/layout.py --out benchmarks/results/layout.json
	$(RUN) benchmarks/peers/attention.py --out benchmarks/results/attention.json
	$(RUN) benchmarks/peers/sparse_formats.py --out benchmarks/results/sparse.json
	$(RUN) benchmarks/peers/sparse_functions.py --out benchmarks/results/sparse_functions.json
	$(RUN) benchmarks/peers/random_numbers.py --out benchmarks/results/random.json
	$(RUN) benchmarks/peers/timing.py --out benchmarks/results/timing.json
	$(RUN) benchmarks/peers/rewrite.py --out benchmarks/results/rewrite.json
	$(RUN) benchmarks/peers/worked_ports.py --out benchmarks/results/worked_ports.json
	OMP_NUM_THREADS=1 $(RUN) benchmarks/peers/spectrogram.py --out benchmarks/results/spectrogram.json

ports: env       ## write anew what the tool makes of the worked ports in examples/porting
	for folder in examples/porting/*/; do $(RUN) -m xarrayops.port rewrite $$folder/original.py -o $$folder/rewritten.py; done

generate: env    ## write the generated modules and the tables of README and docs anew
	$(RUN) tools/generate.py
	$(RUN) tools/readme.py

xla:             ## PyTorch/XLA on its CPU device, in an environment of its own (7 GB)
	@$(PYTHON) tools/environment.py .venv-xla xla
	# the suite alone: next to XLA this environment has no library that the other contract tests need
	PJRT_DEVICE=CPU .venv-xla/bin/python -m pytest -q tests/contract/test_contract.py -k torch_xla
	PJRT_DEVICE=CPU .venv-xla/bin/python -m pytest -q tests/unit/backends/torch_xla

cubed:           ## the tests of cubed, in an environment of its own
	@$(PYTHON) tools/environment.py .venv-cubed cubed
	.venv-cubed/bin/python -m pytest -q tests/unit/backends/cubed

cupy-signatures: ## compare the CuPy backend and its stand-in with the real CuPy, which imports without a GPU
	@$(PYTHON) tools/environment.py .venv-cupy cupy
	.venv-cupy/bin/python tools/cupy_signatures.py --check
	.venv-cupy/bin/python -m pytest -q tests/standins/real_cupy_suite.py

compile-devices: ## compile all paths for CUDA, ROCm and TPU without a device; an hour, 9 GB, ARGUMENTS="--only xla_cuda"
	$(PYTHON) -m benchmarks.compile_devices $(ARGUMENTS)

gpu:             ## probes, tests and benchmark on the accelerators that the libraries of PYTHON=python3 see; GPU_SECONDS=570
	@$(PYTHON) tools/gpu.py .venv-gpu $(GPU_OUT) --seconds $(GPU_SECONDS)

gpu-list:        ## what make gpu runs, and what of it on which device; after make gpu has made its environment
	@$(PYTHON) tools/gpu.py .venv-gpu $(GPU_OUT) --list

gpu-rehearsal:   ## make gpu with the stand-in CuPy instead of all accelerators
	@$(STANDIN) $(PYTHON) tools/gpu.py .venv-gpu $(GPU_OUT) --seconds $(GPU_SECONDS)

wheels: env      ## a folder of wheels, dist/wheels or WHEELS=<folder>, for make gpu without a network
	$(RUN) tools/wheels.py $(WHEELS)

clean:           ## remove environments and caches
	rm -rf .venv .venv-xla .venv-cubed .venv-clients .venv-cupy .venv-gpu .venv-compile-* dist bench-results docs/_build .pytest_cache .mypy_cache .ruff_cache
