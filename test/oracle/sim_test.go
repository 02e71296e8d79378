//go:build oracle

package oracle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestNetFile compares the ibkit output for a net file with the C tool's output for ibsim
// with the same file. The nets do not contain NDR, which ibsim 0.10 rejects.
func TestNetFile(t *testing.T) {
	t.Parallel()
	for i, net := range absolute(t, nets(t)) {
		t.Run(filepath.Base(net), func(t *testing.T) {
			s, host := ibsimtest.New(t, net), firstHost(t, net)
			for _, options := range ibsimtest.Share([]string{"", "-l", "-d", "-p"}, i, 4) {
				t.Run(options, func(t *testing.T) {
					args := strings.Fields(options)
					want := s.MustRunC(t, host, "iblinkinfo", args...)
					got := s.MustRun(t, host, *binary, append(args, "--sim", "net:"+net+",sm=off")...)
					if d := diff(want, got); d != "" {
						t.Errorf("C tool on ibsim (-), ibkit on the file (+)\n%s", d)
					}
				})
			}
		})
	}
}

// TestTopologyFile loads a topology file from the C tool and exports it: only the order
// may change. The C tool must print the same for ibsim with the exported net.
func TestTopologyFile(t *testing.T) {
	t.Parallel()
	for _, net := range absolute(t, nets(t)) {
		t.Run(filepath.Base(net), func(t *testing.T) {
			host := firstHost(t, net)
			s := ibsimtest.New(t, net)
			s.OpenSM(t, host)
			want := s.MustRunC(t, host, "ibnetdiscover").Stdout
			dir := t.TempDir()
			path := filepath.Join(dir, "topology")
			if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
			got := s.MustRun(t, host, native(), "sim", "export", "topo:"+path, "--format", "topology")
			if d := cmp.Diff(records(want), records(got.Stdout)); d != "" || got.Code != 0 {
				t.Errorf("ibnetdiscover (-), ibkit (+): exit code %d: %s\n%s", got.Code, got.Stderr, d)
			}

			// The format is recognised, with the headings and speeds that options add.
			for _, content := range []string{want, s.MustRunC(t, host, "ibnetdiscover", "-g", "-f").Stdout} {
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				byPrefix := s.MustRun(t, host, native(), "sim", "export", "topo:"+path, "--format", "topology")
				byContent := s.MustRun(t, host, native(), "sim", "export", path, "--format", "topology")
				if byContent.Code != 0 || byContent.Stdout != byPrefix.Stdout {
					t.Errorf("by content: exit code %d: %s: got\n%s\nwant\n%s", byContent.Code, byContent.Stderr, byContent.Stdout, byPrefix.Stdout)
				}
			}

			// The C tool shows only nodes that are reachable from the host.
			before := s.MustRunC(t, host, "iblinkinfo", "--switches-only").Stdout
			exported := filepath.Join(dir, "net")
			if r := s.MustRun(t, host, native(), "sim", "export", "net:"+net, "--output", exported); r.Code != 0 {
				t.Fatal(r.Stderr)
			}
			again := ibsimtest.New(t, exported)
			again.OpenSM(t, host)
			if d := cmp.Diff(guidsAndLinks(before), guidsAndLinks(again.MustRunC(t, host, "iblinkinfo", "--switches-only").Stdout)); d != "" {
				t.Errorf("ibsim with the net (-), with ibkit's export of it (+)\n%s", d)
			}
			if r := s.MustRun(t, host, native(), "sim", "export", "net:"+net, "--format", "topology", "--output", exported); r.Code != 0 {
				t.Fatal(r.Stderr)
			}
			ibsimtest.New(t, exported)
		})
	}
}

// absolute returns absolute paths: the tools run in other directories.
func absolute(t *testing.T, paths []string) []string {
	t.Helper()
	for i, path := range paths {
		var err error
		if paths[i], err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// records splits a topology file at blank lines. It ignores initial comments and the
// order.
func records(text string) map[string]string {
	found := map[string]string{}
	for record := range strings.SplitSeq(text, "\n\n") {
		if strings.HasPrefix(record, "#") {
			continue
		}
		var key string
		for line := range strings.Lines(record) {
			if strings.Contains(line, "guid=") && !strings.HasPrefix(line, "sysimg") {
				key = strings.TrimSpace(line)
			}
		}
		found[key] = strings.TrimRight(record, "\n")
	}
	return found
}

// guidsAndLinks returns the iblinkinfo lines without LIDs, which depend on the subnet manager.
func guidsAndLinks(stdout string) map[string]int {
	found := map[string]int{}
	for line := range strings.Lines(stdout) {
		if before, after, ok := strings.Cut(line, "==>"); ok {
			fields := strings.Fields(before)
			if len(fields) > 1 {
				before = strings.Join(fields[1:], " ")
			}
			if fields = strings.Fields(after); len(fields) > 1 {
				after = strings.Join(fields[1:], " ")
			}
			line = before + " ==> " + after
		}
		found[line]++
	}
	return found
}
