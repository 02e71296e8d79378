# make help lists the targets.

export CGO_ENABLED = 0

# As in packages, so that packages, tests and guests share the compiled libraries.
export GOFLAGS += -trimpath

BUILD   = build
RESULTS = $(BUILD)/results

# Runs a check and keeps its results for the summary.
CHECK = tools/check

# Enough for the seeds and their neighbours; a search needs minutes.
FUZZTIME  ?= 2s
FUZZTIME_CODECS ?= 5s

# Codecs of MADs and of files that users write.
CODECS = mad fabric umad/ibsim internal/ibdiagconf
BENCHFLAGS =

# 1: tests with long lists of cases (sizes, transports, fabrics, command lines) run all of
# them. Empty: one of each kind.
ALL_CASES ?=

# More than four times the duration on a quiet machine with two cores.
TIMEOUT = 15m
ORACLE_TIMEOUT = $(if $(ALL_CASES),3h,45m)
GUEST_TIMEOUT = $(if $(ALL_CASES),3h,30m)

LINTERS = goimports vet staticcheck revive errcheck errorlint ineffassign unconvert usestdlibvars misspell prose

# Packages with goroutines, locks or atomic operations, in the code or its tests. Those of
# cmd itself run commands, which is slow under the race detector; each command has its own.
RACY = $(addprefix ./,$(sort $(dir $(shell git grep -lE '^[[:space:]]*go (func|[a-z])|[.]Go[[:punct:]]|"sync(/atomic)?"' -- '*.go' ':!test' ':!*_guest_test.go' ':!cmd/messages_test.go'))))

# Packages with fuzz targets.
FUZZED = $(patsubst %/,%,$(sort $(dir $(shell git grep -lE '^func Fuzz' -- '*_test.go'))))

# What the tests compare with, and the compiler for the race detector.
DEB_PACKAGES = ibsim-utils infiniband-diags ibutils opensm gcc libc6-dev tmux
# What packages, manual pages and completions are checked with.
DEB_PACKAGES += lintian mandoc man-db groff rpm rpmlint systemd cpio debootstrap debian-archive-keyring bash-completion zsh fish
# What guests are made of, and what runs and builds modules for them.
DEB_PACKAGES += qemu-system-x86 busybox-static iproute2 ethtool ibverbs-providers ibverbs-utils rdmacm-utils perftest strace
# What reads the files of topology: pages, graphs and topology.conf.
DEB_PACKAGES += chromium graphviz slurmctld slurm-client
# What runs check node and reads its results.
DEB_PACKAGES += slurmd monitoring-plugins-basic python3-junitparser
# What reads the packets between two guests.
DEB_PACKAGES += tshark
# What scrapes the metrics of a fabric and of a host, and checks alert rules.
DEB_PACKAGES += prometheus prometheus-node-exporter curl
# What decodes the configuration space of PCI functions.
DEB_PACKAGES += pciutils
DEB_PACKAGES += kmod xz-utils zstd make linux-headers-amd64
# What programs for libmlx5 are compiled with, and what runs tests of other processors.
DEB_PACKAGES += libibverbs-dev qemu-user-static
# What starts the workers of cluster tests.
DEB_PACKAGES += openssh-client openssh-server procps pdsh clustershell ansible-core mpich openmpi-bin openssl

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build ibkit
	go build -o $(BUILD)/ibkit .

.PHONY: demo
demo: ## show the links of a simulated fabric
	go run . linkinfo --sim demo

.PHONY: deps
deps: ## install the Debian packages that the tests need
	@$(CHECK) "install packages" sh -c 'apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $(DEB_PACKAGES)'

# Two jobs at a time use both cores while one waits. The installation of packages waits
# for the network, guests for timers: guests take the longest and start early.
JOBS = $(MAKE) --no-print-directory --keep-going --jobs=2 --output-sync

.PHONY: test-all
test-all: ## install what the tests need, run all checks with cases of each kind, and count them
	@rm -rf $(RESULTS)
	@$(JOBS) INSTALLED=deps deps lint guest test manifests race oracle scripts foreign package fuzz || true
	@$(MAKE) --no-print-directory summary

.PHONY: test-full
test-full: export ALL_CASES = 1
test-full: ## as test-all, with all cases: takes hours
	@rm -rf $(RESULTS)
	@$(JOBS) INSTALLED=deps deps lint guest test manifests race oracle kubernetes scripts foreign package fuzz || true
	@$(MAKE) --no-print-directory summary

# In test-all and test-full, these wait for the installation of packages.
guest race oracle kubernetes scripts foreign package: $(INSTALLED)

.PHONY: summary
summary: # add up the results of the checks
	@tools/summary $(RESULTS)/*.json

.PHONY: test
test: ## run the tests that need Go only
	@$(CHECK) test go test -timeout $(TIMEOUT) ./...

.PHONY: manifests
manifests: ## check the Kubernetes manifests against the types of its API
	@$(CHECK) manifests go test -modfile=tools/manifests/go.mod -tags manifests -timeout $(TIMEOUT) ./packaging/kubernetes

.PHONY: race
race: export CGO_ENABLED = 1
race: ## run the tests of packages with concurrency under the race detector
	@$(CHECK) race go test -timeout $(TIMEOUT) -race $(RACY)

# Tests beside programs and kernels that are not ours run once more if they fail.
oracle kubernetes scripts guest: export REPEAT = 1

.PHONY: oracle
oracle: ## compare with Debian's tools on simulated fabrics
	@$(CHECK) oracle go test -timeout $(ORACLE_TIMEOUT) -tags oracle ./test/ibsimtest ./test/oracle
	@$(CHECK) "kernel headers" go test -timeout $(TIMEOUT) -tags oracle ./internal/uapi
	@$(CHECK) "oracle docs" go test -timeout $(ORACLE_TIMEOUT) -tags oracle -run Debian ./docs

# A build of Kubernetes takes ten minutes and 5 GB of caches, once.
.PHONY: kubernetes
kubernetes: ## run mesh in pods on a Kubernetes cluster, which the first run builds
	@$(CHECK) "vet kubernetes" go vet -C test/kubernetes/cluster ./...
	@$(CHECK) kubernetes go test -timeout $(ORACLE_TIMEOUT) -count 1 -tags kubernetes ./test/kubernetes

# Processors with barriers of their own, by the names of Go and of QEMU.
FOREIGN = arm64:aarch64 ppc64le:ppc64le riscv64:riscv64 s390x:s390x

.PHONY: foreign
foreign: ## run the assembly of other processors in QEMU's user mode
	@for processor in $(FOREIGN); do \
		GOARCH=$${processor%:*} $(CHECK) "queues on $${processor%:*}" \
			go test -timeout $(TIMEOUT) -exec qemu-$${processor#*:}-static ./verbs/internal/mmio ./verbs/internal/mlx5 ./verbs/internal/irdma ./verbs/internal/bnxt ./verbs/internal/efa || status=1; \
	done; exit $${status:-0}

.PHONY: scripts
scripts: ## run the command-line scripts on simulated fabrics
	@$(CHECK) scripts go test -timeout $(TIMEOUT) -tags oracle -run TestIbsim ./test/scripts
	@$(CHECK) "scripts cmd" go test -timeout $(TIMEOUT) -tags oracle -run TestLostReplies ./cmd

.PHONY: guest
guest: ## run the tests that boot a kernel with Soft-RoCE in QEMU
	@$(CHECK) guest go test -timeout $(GUEST_TIMEOUT) -p 1 -count 1 -tags guest ./test/debian ./test/guest/...

.PHONY: soak
soak: ## measure between two guests for ten minutes while the link goes down every 20 s
	go test -tags guest -count 1 -timeout 20m ./test/guest/perf -run '^TestSoak$$' -v -args -soak 10m -flap 20s

.PHONY: guest-shell
guest-shell: ## open a shell in a guest with ibkit and Debian's RDMA tools
	@go run ./test/guest/shell

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME, those of codecs for FUZZTIME_CODECS
	@mkdir -p $(BUILD)
	@for dir in $(if $(ALL_CASES),$(filter-out $(CODECS),$(FUZZED))); do echo "$(FUZZTIME) $$dir"; done >$(BUILD)/fuzzed
	@for dir in $(CODECS); do echo "$(FUZZTIME_CODECS) $$dir"; done >>$(BUILD)/fuzzed
	@nice -n 5 xargs -a $(BUILD)/fuzzed -P 2 -L 1 sh -c '$(CHECK) "fuzz $$1" go tool test2json -t -p $$1 tools/fuzz $$0 $$1'

.PHONY: lint
lint: $(addprefix lint-,$(LINTERS)) ## check formatting and style

.PHONY: $(addprefix lint-,$(LINTERS))
$(addprefix lint-,$(LINTERS)): lint-%:
	@$(CHECK) "lint $*" tools/lint/lint $*

.PHONY: apidiff
apidiff: ## list the API changes of the public packages since BASE, by default the last release
	@tools/apidiff $(BASE)

# goreleaser has a module file of its own: its 300 modules would decide the versions
# of the other tools. Most of its duration is its compilation, so that goes without
# optimization.
GORELEASER = $(BUILD)/goreleaser release --snapshot --clean --skip publish

.PHONY: goreleaser
goreleaser: # compile goreleaser
	@go build -modfile=tools/goreleaser/go.mod -gcflags='all=-N -l -dwarf=false' -ldflags=-w -o $(BUILD)/goreleaser github.com/goreleaser/goreleaser/v2

# Without a remote goreleaser does not read the commit.
dist package: export GIT_CONFIG_COUNT = 1
dist package: export GIT_CONFIG_KEY_0 = remote.origin.url
dist package: export GIT_CONFIG_VALUE_0 = https://github.com/ibkit/ibkit

.PHONY: dist
dist: goreleaser ## build the archives and packages of a release in build/dist
	@$(CHECK) "build packages" $(GORELEASER)

# One architecture shows that a build is reproducible.
.PHONY: package
package: goreleaser ## test the packages: build one twice, compare, install, remove
	@sed 's/goarch: .*/goarch: [amd64]/' goreleaser.yaml >$(BUILD)/goreleaser-amd64.yaml
	@sed 's/^dist: .*/&-again/' $(BUILD)/goreleaser-amd64.yaml >$(BUILD)/goreleaser-again.yaml
	@$(CHECK) "build packages" $(GORELEASER) --config $(if $(ALL_CASES),goreleaser.yaml,$(BUILD)/goreleaser-amd64.yaml)
	@$(CHECK) "build packages again" $(GORELEASER) --config $(BUILD)/goreleaser-again.yaml
	@$(CHECK) packages go test -count 1 -timeout $(TIMEOUT) -tags packages ./packaging ./man

# The files of packages beside the binary.
.PHONY: package-files
package-files:
	@rm -rf $(BUILD)/package
	@mkdir -p $(BUILD)/package/man $(BUILD)/package/completions $(BUILD)/package/bin
	@for page in man/*.1; do gzip -9n <$$page >$(BUILD)/package/man/$${page##*/}.gz; done
	@gzip -9n <packaging/ibkit-cuda/ibkit-cuda.1 >$(BUILD)/package/ibkit-cuda.1.gz
	@packaging/changelog "$$(git show -s --format=%cD HEAD)" <CHANGELOG.md | gzip -9n >$(BUILD)/package/changelog.gz
	@go run . completion bash >$(BUILD)/package/completions/ibkit.bash
	@go run . completion fish >$(BUILD)/package/completions/ibkit.fish
	@go run . completion zsh >$(BUILD)/package/completions/_ibkit
	@for name in $$(sed -n 's/.* in the place of //p' man/*.1); do ln -s ../../../bin/ibkit $(BUILD)/package/bin/$$name; done

.PHONY: man
man: ## write the manual pages in man/
	go test ./cmd -run '^TestManual$$' -count 1 -update

.PHONY: pictures
pictures: ## draw the pictures of runs in docs/pictures/
	go test ./docs -run '^TestPictures$$' -count 1 -update
	go test -tags oracle ./test/oracle -run '^(TestTop_Tmux|TestExporter_Pages)$$/^colour' -count 1 -args -pictures

.PHONY: bench
bench: ## compare the speed with that of Debian's iblinkinfo and of ibsim
	go run ./test/bench $(BENCHFLAGS)

.PHONY: bench-ping
bench-ping: ## compare the speed of ping with that of Debian's ibping -f
	go run ./test/bench -pings $(BENCHFLAGS)

.PHONY: bench-topology
bench-topology: ## compare the speed of topology with that of Debian's ibnetdiscover
	go run ./test/bench -topology -nets ft1k,ft4k,ft10k $(BENCHFLAGS)

.PHONY: bench-routes
bench-routes: ## compare the check of routes with Debian's dump_fts and ibdmchk
	go run ./test/bench -routes -nets ft100,ft1k,ft4k,ft10k $(BENCHFLAGS)

.PHONY: bench-counters
bench-counters: ## compare the speed of counters with that of Debian's ibqueryerrors
	go run ./test/bench -counters -nets ft1k,ft10k,users,dead,slow $(BENCHFLAGS)

.PHONY: bench-queries
bench-queries: ## compare the speed of query with that of Debian's smpquery
	go run ./test/bench -queries -nets ft1k,ft10k $(BENCHFLAGS)

.PHONY: bench-exporter
bench-exporter: ## measure sweeps and scrapes, and compare with Debian's perfquery per switch
	go test ./internal/tool/exporter -run '^$$' -bench . -benchmem
	go run ./test/bench -exporter -nets users,ft10k -runs 1 $(BENCHFLAGS)

.PHONY: bench-phy
bench-phy: ## compare the speed of phy with that of the scan in it
	go run ./test/bench -phy -nets users,slow -runs 3 $(BENCHFLAGS)

.PHONY: bench-tables
bench-tables: ## compare the speed of sa with that of Debian's saquery, in a guest
	go test -tags guest ./test/guest/infiniband -run '^$$' -bench Tables -benchtime 1x -timeout 1h

.PHONY: bench-devinfo
bench-devinfo: ## compare the speed of ibv_devinfo and ibstat with Debian's, in a guest
	go test -tags guest ./test/guest/devices -run '^$$' -bench Classic -benchtime 1x

.PHONY: bench-cm
bench-cm: ## compare connections per second with Debian's cmtime and ucmatose, in a guest
	go test -tags guest ./test/guest/cm -run '^$$' -bench Connections -benchtime 1x -timeout 1h -v | grep --line-buffered -E '^ *(bench_test.go.*)?\||^(ok|FAIL)'

.PHONY: bench-perf
bench-perf: ## compare latency and bandwidth with Debian's perftest, in a guest
	go test -tags guest ./test/guest/perf -run '^$$' -bench Perftest -benchtime 1x -timeout 2h -v | grep --line-buffered -E '^ *(bench_test.go.*)?\||^(ok|FAIL)'

.PHONY: bench-mlx5
bench-mlx5: ## compare posting, polling and perf with libmlx5, in a guest
	go test -tags guest ./test/guest/mlx5 -run '^$$' -bench . -benchtime 1x -timeout 1h -v | grep --line-buffered -E '^ *(bench_test.go.*)?\||^(ok|FAIL)'

.PHONY: bench-irdma
bench-irdma: ## compare posting and polling with libirdma, in a guest
	go test -tags guest ./test/guest/irdma -run '^$$' -bench . -benchtime 1x -timeout 1h -v | grep --line-buffered -E '^ *(bench_test.go.*)?\||^(ok|FAIL)'

.PHONY: bench-bnxt
bench-bnxt: ## compare posting and polling with libbnxt_re, in a guest
	go test -tags guest ./test/guest/bnxt -run '^$$' -bench . -benchtime 1x -timeout 1h -v | grep --line-buffered -E '^ *(bench_test.go.*)?\||^(ok|FAIL)'

.PHONY: bench-efa
bench-efa: ## compare posting and polling with libefa, in a guest
	go test -tags guest ./test/guest/efa -run '^$$' -bench . -benchtime 1x -timeout 1h -v | grep --line-buffered -E '^ *(bench_test.go.*)?\||^(ok|FAIL)'

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BUILD)
