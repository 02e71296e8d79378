//go:build oracle

package docs

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// variable matches environment variable names in an rdma-core library: whole strings, or
// only the beginnings for MLX_….
var variable = regexp.MustCompile(`^((MLX[45]|IRDMA|I40IW|EFA|BNXT)_[A-Z_]{4,}|MLX_[A-Z]+|HUGE_[A-Z]+|(RDMAV|IBV)_[A-Z_]+|VERBS_LOG_[A-Z]+|SYSFS_PATH)$`)

// contiguous lists the endings for names that begin with MLX_.
var contiguous = []string{"_ALLOC_TYPE", "_MAX_LOG2_CONTIG_BSIZE", "_MIN_LOG2_CONTIG_BSIZE"}

// The perf page has all libmlx5 and libibverbs environment variables. It abbreviates names
// that begin like the preceding name: `MLX5_STALL_CQ_POLL_MIN`, `_MAX`.
func TestEnvironment_Debian(t *testing.T) {
	page, err := os.ReadFile("perf.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "Environment variables of libmlx5")
	table, _, _ = strings.Cut(table, "\n## ")
	var documented []string
	for line := range strings.Lines(table) {
		last := ""
		for _, m := range regexp.MustCompile("`([A-Z0-9_]+)`").FindAllStringSubmatch(strings.SplitN(line+"| | |", "|", 4)[1], -1) {
			name := m[1]
			for i := len(last); strings.HasPrefix(name, "_") && i > 0; i = strings.LastIndex(last[:i], "_") {
				if strings.Count(last[i:], "_") == strings.Count(name, "_") {
					name = last[:i] + name
				}
			}
			documented, last = append(documented, name), name
		}
	}
	for library, few := range map[string]int{"libmlx5.so.1": 20, "libibverbs.so.1": 7, "libibverbs/libirdma-rdmav34.so": 0, "libefa.so.1": 0,
		"libibverbs/libbnxt_re-rdmav34.so": 0} {
		t.Run(library, func(t *testing.T) {
			content, err := os.ReadFile("/usr/lib/x86_64-linux-gnu/" + library)
			if err != nil {
				t.Fatal(err) // make deps installs it
			}
			var names []string
			for text := range bytes.SplitSeq(content, []byte{0}) {
				switch name := string(text); {
				case !variable.MatchString(name):
				case strings.HasPrefix(name, "MLX_"):
					for _, end := range contiguous {
						names = append(names, name+end)
					}
				default:
					names = append(names, name)
				}
			}
			if len(names) < few { // the names are in another form
				t.Errorf("got %q, want at least %d names", names, few)
			}
			for _, name := range names {
				if !slices.Contains(documented, name) {
					t.Errorf("%s is not in perf.md", name)
				}
			}
		})
	}
}
