# Every target is one line a person could type. CI runs `make test`, `make test-balancer` and `make test-browser`.

GO       ?= go
# Where the environment forbids other toolchains, the line of go.mod alone would be ignored.
export GOTOOLCHAIN := $(shell awk '$$1 == "toolchain" {print $$2}' go.mod)
TOOL     := $(GO) tool -modfile=tools.mod
BASE     ?= origin/main
COUNT    ?= 10
FUZZ     ?= 30s
ROUNDS   ?= 5
BLOCKS   ?= 10000
OUTPUTS  ?= 2000
ELEMENTS ?= 500000000
KILLS    ?= 200
FLIPS    ?= 10000
CASES    ?= 100000
COINS    ?= 165000000
STEPS    ?=
WITHOUT  ?=
VERSION  ?=
PLATFORMS ?=
CHAINS   ?= short
PLACES   ?= 20
PACKAGES ?=
LINT_VERSION := v2.10.1
LINTERS  := $(shell awk '/^  settings:/ {exit} $$1 == "-" {print $$2}' .golangci.yml)
# Built once for all clones of a user, with the linters that .golangci.yml names: with all it takes minutes.
LINT     := $(or $(XDG_CACHE_HOME),$(addsuffix /.cache,$(HOME)),$(CURDIR)/bin)/trawl/golangci-lint-$(LINT_VERSION)-$(GOTOOLCHAIN)-$(firstword $(shell echo $(LINTERS) | cksum))

# Folders that are modules of their own, and that CI tests: what programs that embed a node need not have.
MODULES  := bench deploy/grafana internal/e2e/browser

MAKEFLAGS += --no-print-directory

# A test that fails is not hidden by what its output is piped to.
SHELL := bash
.SHELLFLAGS := -o pipefail -c

.PHONY: help demo build test test-balancer test-browser vendor-web race race-packages race-nodes large large-nodes large-wallets large-stores large-pure strace haproxy chromium lint fmt tidy vet vuln platforms arm64 release test-packages fuzz soak mutate bench bench-report bench-data bench-scan bench-rpc bench-store bench-full bench-calls bench-metrics bench-notify bench-searches bench-discovery bench-spend bench-many bench-cluster bench-page bench-gaps bench-attach bench-sync bench-memory bench-coins bench-coinset bench-compare cover clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: build ## load the first 14,131 real blocks and search them
	$(GO) run ./internal/demo -bin bin

build: ## build the programs into bin/
	$(GO) build -trimpath -o bin/ ./cmd/...

# The linter computes while tests wait; beside nodes, whose tests have time limits, it would be in the way.
test: tidy ## everything that CI runs
	@failed=0; $(MAKE) -kj2 -Otarget vet lint race || failed=1; $(MAKE) large || failed=1; exit $$failed

# The race detector needs a C compiler on some systems.
RACE := $(if $(shell command -v $${CC:-cc}),-race,)

# Tests write to memory where there is room: most wait for the disk. The go command keeps its programs on the disk, by
# a variable that temporary folders of tests would follow as well.
TMP  := $(shell test "$$(df --output=avail -m /dev/shm 2>/dev/null | tail -1)" -gt 6000 && echo /dev/shm)
RUNS := race race-packages serial-packages race-nodes large-nodes large-wallets large-stores large-pure test-balancer test-browser
$(RUNS): export GOTMPDIR := $(if $(TMP),$(or $(GOTMPDIR),$(TMPDIR),/tmp))
$(RUNS): export TMPDIR := $(or $(TMP),$(TMPDIR))
# Tests are linked without tables for debuggers, and not vetted again. The compiler does not make these tables either, nor
# writes down where the sources are, for the linter too: what it has compiled is not compiled again, nor in another clone.
QUICK := -vet=off -ldflags=-w $(if $(TMP),-exec='env -u GOTMPDIR')
# The race detector is left out where it only slows: in the C of sqlite, which has its own memory, and in arithmetic
# of curves and hashes, which begins no goroutine and keeps nothing.
ARITHMETIC := github.com/decred/dcrd/... github.com/btcsuite/btcd/btcec/v2/... golang.org/x/crypto/... $(shell awk '$$1 == "module" {print $$2}' go.mod)/internal/curve
NO_RACE := $(foreach p,modernc.org/sqlite/lib modernc.org/libc/... $(ARITHMETIC),'-gcflags=$(p)=-dwarf=false -race=false')
fmt lint vet $(RUNS): export GOFLAGS := $(shell $(GO) env GOFLAGS) -trimpath -gcflags=all=-dwarf=false $(NO_RACE)
# A program under the race detector rests for a second before it ends, for races of goroutines that are left.
race-packages race-nodes: export GORACE := atexit_sleep_ms=100

# Runs tests by the arguments of `go test`, and names the ten slowest.
sum = @log=$$(mktemp) && trap "rm -f $$log" EXIT && failed=0 && \
  { $(TOOL) gotestsum --format=standard-quiet --hide-summary=skipped --jsonfile=$$log -- $(1) || failed=1; } && \
  $(TOOL) gotestsum tool slowest --num=10 --threshold=1s --jsonfile=$$log && exit $$failed

# Packages without goroutines, and packages whose tests need a Bitcoin Core or tools: the race detector only slows them.
SERIAL := internal/arch/testdata/serial.txt

# Nodes of which many ask at the same time, and whose parts fail. The race detector runs over them alone: a whole run of
# internal/e2e under it takes longer than all other tests, and belongs to `make soak`.
RACE_NODES := TestAbortLatency|TestClusterAbort|TestManySearches|TestPublished|TestSearchEvents|TestShop|TestThreeNodesAgree

race: ## tests under the race detector where goroutines run, then the other tests; or those of PACKAGES, COUNT times
	$(if $(PACKAGES),$(GO) test $(RACE) $(QUICK) -count=$(COUNT) -shuffle=on -timeout=60m $(PACKAGES),\
	  @failed=0; for target in race-packages serial-packages; do $(MAKE) $$target || failed=1; done; exit $$failed)

# Many tests wait: for a deadline, a disk, another process. More packages than processors at a time use both.
race-packages:
	$(if $(RACE),,@echo 'no C compiler: the tests run without the race detector')
	$(call sum,$(RACE) $(QUICK) -p=4 -shuffle=on -timeout=15m $$($(GO) list ./... | grep -v '/e2e$$' | grep -vxFf $(SERIAL)))

serial-packages:
	$(call sum,$(QUICK) -p=4 -shuffle=on -timeout=5m $$(cat $(SERIAL)))
	@for module in $(filter-out %/browser,$(MODULES)); do $(GO) -C $$module test $(QUICK) -timeout=5m ./... || exit 1; done

race-nodes:
	$(GO) test $(RACE) $(QUICK) -shuffle=on -timeout=10m -run='^($(RACE_NODES))$$' ./internal/e2e

# Tests that skip themselves under the race detector. Those of internal/e2e are run with all of that package.
LARGE_WALLETS := TestAnyOrderOfNews|TestKillWhileMigrating|TestKillWhileRestoring|TestMigrateFaults|TestPreview|TestPreviewOfManyRecords
LARGE_WALLETS := $(LARGE_WALLETS)|TestExportRecordings|TestRecordings|TestReorganisationDuringRescan|TestRescanAgreesWithFullScan|TestCheckFindsAll
LARGE_STORES := TestEveryCallFails|TestFailures|TestTablesCannotBeWritten|TestRebuildFails|TestLag|TestSnapshotPowerLoss
LARGE_STORES := $(LARGE_STORES)|TestSnapshotKilled|TestSnapshotWritesFail|TestIdleCache
LARGE_STORES := $(LARGE_STORES)|TestEveryCallOfOneUseFails|TestEveryCallOfOpenFails
LARGE_PURE   := TestMusigSecrets|TestPushes|TestSignWithNonce

large: strace ## all end-to-end tests, a few of them under the race detector too, and tests that take too long with it; strace is installed if it is missing and may be
	$(MAKE) -j3 -Otarget race-nodes large-nodes large-wallets large-stores large-pure
large-nodes:
	$(GO) test $(QUICK) -shuffle=on -parallel=3 -timeout=15m ./internal/e2e
large-wallets:
	$(GO) test $(QUICK) -shuffle=on -run='^($(LARGE_WALLETS))$$' -timeout=5m ./actors/wallets
large-stores:
	$(GO) test $(QUICK) -run='^($(LARGE_STORES))$$' -timeout=5m ./store/chaindb ./store/internal/ledger ./internal/engine/chainstate
large-pure:
	$(GO) test $(QUICK) -run='^($(LARGE_PURE))$$' -timeout=5m ./internal/rawtx

test-balancer: haproxy ## nodes behind haproxy, which is installed from Debian's packages if it is missing
	TRAWL_BALANCER=1 $(GO) test $(QUICK) -count=1 -timeout=5m -run='^TestBalancer$$' ./internal/e2e

test-browser: chromium ## the page in Chromium, which is installed from Debian's packages if it is missing
	$(GO) -C internal/e2e/browser test $(QUICK) -count=1 -parallel=4 -timeout=10m .

# Programs of Debian that tests need. They are installed one at a time: its package manager does not wait for itself.
chromium: DEBIAN := chromium fonts-dejavu-core
strace haproxy chromium:
	@command -v $@ >/dev/null || (apt-get update -q && apt-get install -qy --no-install-recommends $(or $(DEBIAN),$@)) >/dev/null 2>&1 || echo '$@ could not be installed: tests that need it are left out, or fail'

vendor-web: ## bring the files of others that the tests of the page have into the tree again (asks npm's registry)
	./internal/e2e/browser/vendor.sh

vet: ## go vet of the assembly; golangci-lint vets all else
	$(GO) vet ./filters ./internal/curve ./internal/slhdsa

platforms: ## go vet of the assembly for ARM; the packages without a disk build for Windows
	GOARCH=arm64 $(GO) vet ./filters ./internal/slhdsa
	GOOS=windows $(GO) build ./descriptor ./filters ./messages

lint: $(LINT) ## golangci-lint, see .golangci.yml, the format too; with 5 GB of memory, which take a quarter less time than 2.5
	$(foreach m,. $(MODULES),cd $(CURDIR)/$(m) && GOGC=400 $(LINT) run ./... &&) true

fmt: $(LINT) ## fail when a file is not formatted
	@test -z "$$($(LINT) fmt --diff)" || { $(LINT) fmt --diff; exit 1; }

$(LINT):
	.ci/build-linter $(LINT_VERSION) $@ $(LINTERS)

tidy: ## fail when go.mod is not tidy
	$(GO) mod tidy -diff
	$(foreach m,$(MODULES),$(GO) -C $(m) mod tidy -diff &&) true

arm64: ## the tests of scans as a processor of ARM runs them; needs qemu-aarch64 (Debian: qemu-user)
	GOARCH=arm64 $(GO) test -exec=qemu-aarch64 -timeout=20m ./filters ./internal/match ./internal/siphash ./actors/scanner

fuzz: ## run every fuzz target for FUZZ
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    $(GO) test -run='^$$' -fuzz="^$$f$$" -fuzztime=$(FUZZ) -fuzzminimizetime=10x $$pkg || exit 1; \
	  done; \
	done

soak: ## the long loops, of which `make test` runs a sample; what is not run is a failure, unless WITHOUT names what is missing; KILLS, FLIPS, CASES, STEPS, WITHOUT, BITCOIND, BITCOIND32, QBITD, CORE_BUILD, CORE32_BUILD, QBIT_BUILD
	$(GO) run ./internal/soak -kills $(KILLS) -flips $(FLIPS) -cases $(CASES) -steps '$(STEPS)' -without '$(WITHOUT)'

mutate: ## break the packages that decide at PLACES places each, and count what their tests notice; PACKAGES
	$(GO) run ./internal/mutate -n $(PLACES) -write bench/results/mutate.md $(PACKAGES)

bench: ## run the benchmarks COUNT times into bench/new.txt
	{ $(GO) test -run='^$$' -bench=. -benchmem -count=$(COUNT) ./... && $(GO) -C bench test -run='^$$' -bench=. -benchmem -count=$(COUNT) ./...; } | tee bench/new.txt

bench-report: ## measure the whole node beside its rivals, into bench/results
	$(GO) -C bench run ./report

SIZE := -blocks $(BLOCKS) -outputs $(OUTPUTS) -elements $(ELEMENTS)

bench-data: ## make the chain, data directories and store that the benchmarks need; BLOCKS, OUTPUTS, ELEMENTS, BITCOIND
	$(GO) -C bench test -run='^$$' -bench='^BenchmarkPrepare$$' -benchtime=1x -timeout=0 . $(SIZE)

bench-scan: ## measure scans: in memory, where its ways cross, and over RPC; ROUNDS, BLOCKS, OUTPUTS, BITCOIND
	$(GO) -C bench run ./report -name scan -packages .,../filters -bench '^Benchmark(Scan|Modes|Layout|ScanBlocks)$$' -rounds $(ROUNDS) $(SIZE)

bench-rpc: ## measure scans over RPC alone; ROUNDS, BLOCKS, OUTPUTS, BITCOIND
	$(GO) -C bench run ./report -name rpc-$(BLOCKS)x$(OUTPUTS) -bench '^BenchmarkScanBlocks$$' -rounds $(ROUNDS) $(SIZE)

bench-sync: ## measure the import of blocks from files and their download from a peer beside Core, what the filter index and scans cost meanwhile, and what a new block costs, CHAINS short or long; ROUNDS, BITCOIND, OLDER (another trawld)
	$(GO) -C bench run ./report -name sync-$(CHAINS) -bench '^Benchmark(Import|Download|IndexCost|Beside|Tip)$$' -rounds $(ROUNDS) -chains $(CHAINS)

bench-memory: ## measure memory at rest, at most, and after a peak, and what 900,000 blocks cost, beside Core; CHAINS, BITCOIND
	$(GO) -C bench run ./report -name memory -bench '^Benchmark(Memory|Many)$$' -rounds 1 -chains $(CHAINS)

bench-coins: ## measure blocks that spend old coins of a set of COINS on the disk beside Core (makes 11 GB for each); ROUNDS, CHAINS, BITCOIND
	$(GO) -C bench run ./report -name coins -bench '^BenchmarkAged$$' -rounds $(ROUNDS) -chains $(CHAINS) -coins $(COINS)

bench-store: ## measure scans of a generated store of ELEMENTS elements on the disk; ROUNDS
	$(GO) -C bench run ./report -name store -bench '^BenchmarkStore$$' -rounds $(ROUNDS) $(SIZE)

bench-full: ## measure scans of a store of the main chain's size from the disk and from memory (makes 17 GB); ROUNDS
	$(GO) -C bench run ./report -name full -bench '^BenchmarkFull$$' -rounds $(ROUNDS) -elements 4600000000

bench-coinset: ## measure gettxoutsetinfo beside Core, with and without its index; ROUNDS, CHAINS, BITCOIND
	$(GO) -C bench run ./report -name coinset-$(CHAINS) -bench '^BenchmarkCoinSet$$' -rounds $(ROUNDS) -chains $(CHAINS)

bench-spend: ## measure choices among 100,000 coins, 1,000 signatures, lists of 100,000 transactions, balances after each of 1,000 blocks, beside Core; ROUNDS, BITCOIND
	$(GO) -C bench run ./report -name spend -bench '^Benchmark(Spend|BalanceOfBlocks)$$' -rounds $(ROUNDS)

bench-metrics: ## measure what metrics cost a scan, and a scrape; ROUNDS, BLOCKS, OUTPUTS
	$(GO) -C bench run ./report -name metrics -bench '^BenchmarkMetrics$$' -rounds $(ROUNDS) $(SIZE)

bench-notify: ## measure what is published by ZeroMQ and public REST requests, beside Core; ROUNDS, CHAINS, BITCOIND
	$(GO) -C bench run ./report -name notify -bench '^Benchmark(Publish|REST)$$' -rounds $(ROUNDS) -chains $(CHAINS)

bench-calls: ## measure calls that read, by 64 callers, beside Core; ROUNDS, CHAINS, BITCOIND
	$(GO) -C bench run ./report -name calls -bench '^BenchmarkMixed$$' -rounds $(ROUNDS) -chains $(CHAINS)

bench-searches: ## measure searches beside scanblocks and Core, searches that follow, and readers of events; ROUNDS, BITCOIND
	$(GO) -C bench run ./report -name searches -bench '^Benchmark(Searches|SearchTurn|Following|EventReaders)$$' -rounds $(ROUNDS) $(SIZE)

bench-discovery: ## measure discoveraccounts beside one scanblocks for the same scripts; ROUNDS, BLOCKS, OUTPUTS
	$(GO) -C bench run ./report -name discovery -bench '^BenchmarkDiscovery$$' -rounds $(ROUNDS) $(SIZE)

bench-many: ## measure scans for 10,000 to ten million scripts by filters, with range filters and by the blocks themselves, and where they cross; ROUNDS
	$(GO) -C bench run ./report -name many -bench '^BenchmarkManyScripts$$' -rounds $(ROUNDS)

bench-cluster: ## measure a front with one member beside a lone node, 1 to 64 members of artificial cost, small scans, and aborts
	$(GO) -C bench run ./report -name cluster -bench '^BenchmarkCluster(Members|Overhead|Small|Abort)$$' -rounds 1

bench-page: ## measure 1,000 open pages with 10 running searches, and a call beside them; ROUNDS, BLOCKS, OUTPUTS
	$(GO) -C bench run ./report -name page -bench '^BenchmarkPage$$' -rounds $(ROUNDS) $(SIZE)

bench-gaps: ## measure scans with a gap, receipts and their verification beside scans of known ranges; ROUNDS, BLOCKS, OUTPUTS
	$(GO) -C bench run ./report -name gaps -bench '^BenchmarkGaps$$' -rounds $(ROUNDS) $(SIZE)

bench-attach: ## measure the first index beside a Bitcoin Core from its files, REST and filters, news and calls passed on; ROUNDS, CHAINS, BITCOIND
	$(GO) -C bench run ./report -name attach -bench '^Benchmark(Attach|Attached)$$' -rounds $(ROUNDS) -chains $(CHAINS)

release: ## make the files of a release in dist/: VERSION, PLATFORMS
	$(GO) run ./deploy/release -version '$(VERSION)' -platforms '$(PLATFORMS)' -out dist

test-packages: ## complete words in each shell, try the alert rules, build a release twice, install it in a clean root, run its image; root on Debian, half an hour
	@{ command -v zsh && command -v fish && command -v promtool; } >/dev/null || (apt-get update -q && apt-get install -qy --no-install-recommends zsh fish prometheus) >/dev/null
	TRAWL_PACKAGES=1 $(GO) test -count=1 -run='Completion|OtherShells' ./cmd/trawl-cli
	promtool check rules deploy/grafana/alerts.yml && cd deploy/grafana && promtool test rules alerts_test.yml
	TRAWL_PACKAGES=1 $(GO) test -count=1 -v -timeout=60m ./deploy/release
	cd deploy/validate && $(GO) test -count=1 ./...

vuln: ## known weaknesses of the dependencies that the code reaches (asks vuln.go.dev)
	$(TOOL) govulncheck ./...

bench-compare: ## compare this tree with BASE
	./bench/compare.sh $(BASE) $(COUNT)

cover: ## coverage by package
	$(GO) test -cover ./...

clean: ## remove what was built
	rm -rf bin dist
