// Package debian has the Debian releases that ibkit is compared with: the only declaration
// of a peer. A release has programs, in a root directory, and a kernel.
//
// Debian 12's programs are this host's. debootstrap unpacks another release's programs
// into ibkit/debian in the user's cache directory, once, which takes root privileges, one to
// three minutes, and about 250 MB. To renew a root directory or a kernel, remove it from the
// cache, and the package lists beside it. apt's own sources name the mirror.
package debian

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A Release is a Debian release with the upstream versions that tests expect.
type Release struct {
	Name     string // codename
	Number   string // "" if it has none yet
	RDMACore string // also of infiniband-diags, which is a part
	Perftest string
	Kernel   string // first two numbers

	// Tools are the versions of other packages that tests run, by name.
	Tools map[string]string
}

// The releases, from the oldest to the newest.
var (
	Bullseye = &Release{Name: "bullseye", Number: "11", RDMACore: "33.2", Perftest: "4.4", Kernel: "5.10"}
	Bookworm = &Release{Name: "bookworm", Number: "12", RDMACore: "44.0", Perftest: "4.5", Kernel: "6.1", Tools: map[string]string{ // this host's
		"ibsim-utils": "0.10", "mstflint": "4.21", "opensm": "3.3.23", "tshark": "4.0", "slurmctld": "22.05", "prometheus": "2.42",
	}}
	Trixie = &Release{Name: "trixie", Number: "13", RDMACore: "56.1", Perftest: "25.01", Kernel: "6.12", Tools: map[string]string{
		"ibsim-utils": "0.12", "mstflint": "4.31", "slurmctld": "24.11",
	}}
	Sid = &Release{Name: "sid", RDMACore: "65.0", Perftest: "25.01", Kernel: "7.2", Tools: map[string]string{"ibsim-utils": "0.12"}}
)

// Releases returns all releases.
func Releases() []*Release { return []*Release{Bullseye, Bookworm, Trixie, Sid} }

// Before reports whether a release is older than another.
func (r *Release) Before(other *Release) bool {
	all := Releases()
	return slices.Index(all, r) < slices.Index(all, other)
}

// installed reports whether this host has the release.
func (r *Release) installed() bool { return r == Bookworm }

// packages are the programs that ibkit is compared with, the tools that create devices,
// and the providers, on which no package depends.
var packages = []string{
	"infiniband-diags", "ibsim-utils", "perftest", "ibverbs-utils", "ibverbs-providers", "rdmacm-utils", "iproute2", "mstflint",
}

// Check compares the versions in the root directory with the declaration.
func (r *Release) Check(ctx context.Context) error {
	root, err := r.Root(ctx)
	if err != nil {
		return err
	}
	names := []string{"libibverbs1", "infiniband-diags", "perftest"}
	for name := range r.Tools {
		if r.installed() || slices.Contains(packages, name) {
			names = append(names, name)
		}
	}
	return r.CheckIn(ctx, root, names...)
}

// CheckIn compares the versions of packages in a root directory with the declaration.
func (r *Release) CheckIn(ctx context.Context, root string, names ...string) error {
	declared := map[string]string{"libibverbs1": r.RDMACore, "infiniband-diags": r.RDMACore, "perftest": r.Perftest}
	maps.Copy(declared, r.Tools)
	for _, name := range names {
		got, err := Output(ctx, "dpkg-query", "--admindir="+root+"/var/lib/dpkg", "--show", "--showformat=${Version}", name)
		if err != nil && r.installed() { // a test unpacks it
			var text string
			text, err = r.Show(ctx, name)
			got = versionField.FindStringSubmatch("\n" + text + "\nVersion: \n")[1]
		}
		if err != nil {
			return fmt.Errorf("read version of %s in %s: %w", name, r.Name, err)
		}
		if want := declared[name]; !isVersion(got, want) {
			return fmt.Errorf("check version of %s in %s: got %s, want %s", name, r.Name, got, want)
		}
	}
	return nil
}

// versionField matches the version in control fields.
var versionField = regexp.MustCompile(`\nVersion: (.*)\n`)

// afterVersion matches the rest of a package version after the declared numbers: more
// numbers, and Debian's part.
var afterVersion = regexp.MustCompile(`^([.+~-].*)?$`)

// isVersion reports whether a version is the declared version.
func isVersion(version, declared string) bool {
	rest, ok := strings.CutPrefix(version, declared)
	return ok && afterVersion.MatchString(rest)
}
