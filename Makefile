# make help lists the targets.

export CGO_ENABLED = 0

BUILD   = build
TALLY   = $(BUILD)/tally
RESULTS = $(BUILD)/results

# Enough to run the seeds and what lies next to them; a search wants minutes.
FUZZTIME  ?= 5s
# Of the codecs of MADs, and of what users write.
FUZZTIME_CODECS ?= 30s
BENCHFLAGS =

# A test that hangs fails after this long and shows where.
TIMEOUT = 5m
GUEST_TIMEOUT = 15m

PLATFORMS  = linux/amd64 linux/arm64 linux/ppc64le linux/riscv64 linux/s390x

# The linter has a module file of its own: what it needs is no dependency of
# ibkit.
LINT = go tool -modfile=tools/go.mod golangci-lint

# What the tests compare with, and the compiler for the race detector.
DEB_PACKAGES = ibsim-utils infiniband-diags opensm gcc libc6-dev
# What packages, manual pages and completions are checked with.
DEB_PACKAGES += lintian mandoc man-db groff rpm rpmlint systemd cpio debootstrap bash-completion zsh fish
# What guests are made of, and what runs and builds modules for them.
DEB_PACKAGES += qemu-system-x86 busybox-static iproute2 ibverbs-providers ibverbs-utils rdmacm-utils perftest strace
# What reads the packets between two guests.
DEB_PACKAGES += tshark
DEB_PACKAGES += kmod xz-utils zstd make linux-headers-amd64

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build ibkit
	go build -trimpath -o $(BUILD)/ibkit .

.PHONY: demo
demo: ## show the links of a simulated fabric
	go run . linkinfo --sim demo

.PHONY: deps
deps: ## install what the tests need, from Debian packages
	apt-get update -q
	DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $(DEB_PACKAGES)

.PHONY: test-all
test-all: deps ## install what the tests need, run all checks, say how many passed
	@mkdir -p $(BUILD) && rm -f $(RESULTS)
	@$(MAKE) --no-print-directory -k lint cross test race oracle scripts package || true
	@$(MAKE) --no-print-directory -k -j 2 guest fuzz || true
	@$(TALLY) -sum $(RESULTS)

.PHONY: test
test: $(TALLY) ## run the tests that need nothing installed
	@$(TALLY) -results $(RESULTS) -name test go test -timeout $(TIMEOUT) ./...

.PHONY: race
race: export CGO_ENABLED = 1
race: $(TALLY) ## run the same tests under the race detector
	@$(TALLY) -results $(RESULTS) -name race go test -timeout $(TIMEOUT) -race ./...

.PHONY: oracle
oracle: $(TALLY) ## compare with Debian's tools on simulated fabrics
	@$(TALLY) -results $(RESULTS) -name oracle go test -timeout $(TIMEOUT) -tags oracle ./test/ibsimtest ./test/oracle ./docs

.PHONY: scripts
scripts: $(TALLY) ## run the command-line scripts on simulated fabrics
	@$(TALLY) -results $(RESULTS) -name scripts go test -timeout $(TIMEOUT) -tags oracle ./test/scripts

.PHONY: guest
guest: $(TALLY) ## run the tests that boot a kernel with Soft-RoCE in QEMU
	@$(TALLY) -results $(RESULTS) -name guest go test -timeout $(GUEST_TIMEOUT) -p 1 -count 1 -tags guest ./test/guest/...

.PHONY: soak
soak: ## measure between two guests for ten minutes while the link goes down every 20 s
	go test -tags guest -count 1 -timeout 20m ./test/guest/perf -run '^TestSoak$$' -v -args -soak 10m -flap 20s

.PHONY: guest-shell
guest-shell: ## open a shell in a guest with ibkit and Debian's RDMA tools
	@go run ./test/guest/shell

# Guests leave a part of the machine idle: fuzzing takes what they leave.
# Up to Go 1.26 the fuzzer now and then takes the end of its time for a failure
# (go.dev/issue/75804).
.PHONY: fuzz
fuzz: $(TALLY) ## run each fuzz target for FUZZTIME, those of codecs for FUZZTIME_CODECS, two at a time
	@for package in $$(go list ./...); do \
		case $$package in \
		*/ibkit/mad | */ibkit/fabric | */umad/ibsim | */ibdiagconf) time=$(FUZZTIME_CODECS) ;; \
		*) time=$(FUZZTIME) ;; \
		esac; \
		go test -list '^Fuzz' $$package | awk -v p=$$package -v t=$$time '/^Fuzz/ { print $$1, p, t }'; \
	done | nice -n 19 xargs -P 2 -L 1 sh -c '$(TALLY) -results $(RESULTS) -name "fuzz $$0 in $$1" -again "    context deadline exceeded" \
		go test -run "^$$" -fuzz "^$$0\$$" -fuzztime $$2 -parallel 1 $$1'

.PHONY: cross
cross: $(TALLY) ## build for all platforms
	@for platform in $(PLATFORMS); do \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} \
		$(TALLY) -results $(RESULTS) -name "build $$platform" \
			go build -trimpath -o $(BUILD)/ibkit-$$(echo $$platform | tr / -) . || failed=1; \
	done; test -z "$$failed"

.PHONY: lint
lint: $(TALLY) ## check formatting, style and the direction of imports
	@$(TALLY) -results $(RESULTS) -name lint $(LINT) run ./...
	@$(TALLY) -results $(RESULTS) -name "lint tests" $(LINT) run --build-tags oracle,guest,inguest,packages ./...

# What makes releases has a module file of its own too.
GORELEASER = go tool -modfile=tools/goreleaser/go.mod goreleaser

# Without a remote goreleaser does not even ask for the commit.
package: export GIT_CONFIG_COUNT = 1
package: export GIT_CONFIG_KEY_0 = remote.origin.url
package: export GIT_CONFIG_VALUE_0 = https://github.com/ibkit/ibkit

.PHONY: package
package: $(TALLY) ## build the packages twice, compare them, install and remove one
	@rm -rf $(BUILD)/dist $(BUILD)/dist-before
	@$(TALLY) -results $(RESULTS) -name "check goreleaser.yaml" $(GORELEASER) check -q
	@$(TALLY) -results $(RESULTS) -name "build packages" $(GORELEASER) release --snapshot --clean --skip publish
	@mv $(BUILD)/dist $(BUILD)/dist-before
	@$(TALLY) -results $(RESULTS) -name "build packages again" $(GORELEASER) release --snapshot --clean --skip publish
	@$(TALLY) -results $(RESULTS) -name packages go test -count 1 -timeout $(TIMEOUT) -tags packages ./packaging ./man

# What packages hold beside the binary.
.PHONY: package-files
package-files:
	@rm -rf $(BUILD)/package
	@mkdir -p $(BUILD)/package/man $(BUILD)/package/completions $(BUILD)/package/bin
	@for page in man/*.1; do gzip -9n <$$page >$(BUILD)/package/man/$${page##*/}.gz; done
	@gzip -9n <packaging/changelog >$(BUILD)/package/changelog.gz
	@go run . completion bash >$(BUILD)/package/completions/ibkit.bash
	@go run . completion fish >$(BUILD)/package/completions/ibkit.fish
	@go run . completion zsh >$(BUILD)/package/completions/_ibkit
	@for name in $$(sed -n 's/.* in the place of //p' man/*.1); do ln -s ../../../bin/ibkit $(BUILD)/package/bin/$$name; done

.PHONY: man
man: ## write the manual pages in man/
	go test ./cmd -run '^TestManual$$' -count 1 -update

.PHONY: pictures
pictures: ## draw the pictures of runs in docs/pictures/
	go test ./docs -run '^TestPictures$$' -count 1 -update-pictures

.PHONY: bench
bench: ## compare the speed with that of Debian's iblinkinfo and of ibsim
	go run ./test/bench $(BENCHFLAGS)

.PHONY: bench-ping
bench-ping: ## compare the speed of ping with that of Debian's ibping -f
	go run ./test/bench -pings $(BENCHFLAGS)

.PHONY: bench-devinfo
bench-devinfo: ## compare the speed of ibv_devinfo and ibstat with Debian's, in a guest
	go test -tags guest ./test/guest/devices -run '^$$' -bench Classic -benchtime 1x

.PHONY: bench-perf
bench-perf: ## compare latency and bandwidth with Debian's perftest, in a guest
	go test -tags guest ./test/guest/perf -run '^$$' -bench Perftest -benchtime 1x -timeout 2h -v | grep --line-buffered -E '^ *(bench_test.go.*)?\||^(ok|FAIL)'

.PHONY: $(TALLY)
$(TALLY):
	@mkdir -p $(BUILD)
	@go build -o $(TALLY) ./test/tally

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BUILD)
