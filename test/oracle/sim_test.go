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

// Where a net file is loaded by ibkit, it shows what the C tool shows of ibsim
// with the same file. Nothing differs on purpose: the one thing that the two
// programs know differently, NDR, is in none of the nets, for ibsim 0.10
// refuses it.
func TestNetFile(t *testing.T) {
	for _, net := range absolute(t, nets(t)) {
		t.Run(filepath.Base(net), func(t *testing.T) {
			s, host := ibsimtest.New(t, net), firstHost(t, net)
			for _, options := range []string{"", "-l", "-d", "-p"} {
				args := strings.Fields(options)
				want := s.MustRunC(t, host, "iblinkinfo", args...)
				got := s.MustRun(t, host, *binary, append(args, "--sim", "net:"+net+",sm=off")...)
				if d := diff(want, got); d != "" {
					t.Errorf("iblinkinfo %s: C tool on ibsim (-), ibkit on the file (+)\n%s", options, d)
				}
			}
		})
	}
}

// A topology file of the C tool, loaded and written by ibkit, is the file that
// it was but for its order; and ibsim, loaded with what ibkit exports, looks as
// before to the C tool.
func TestTopologyFile(t *testing.T) {
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

			// Only what can be reached from the host is the C tool's to show.
			before := s.MustRunC(t, host, "iblinkinfo", "--switches-only").Stdout
			exported := filepath.Join(dir, "net")
			if r := s.MustRun(t, host, native(), "sim", "export", "net:"+net, "-o", exported); r.Code != 0 {
				t.Fatal(r.Stderr)
			}
			again := ibsimtest.New(t, exported)
			again.OpenSM(t, host)
			if d := cmp.Diff(guidsAndLinks(before), guidsAndLinks(again.MustRunC(t, host, "iblinkinfo", "--switches-only").Stdout)); d != "" {
				t.Errorf("ibsim with the net (-), with ibkit's export of it (+)\n%s", d)
			}
			if r := s.MustRun(t, host, native(), "sim", "export", "net:"+net, "--format", "topology", "-o", exported); r.Code != 0 {
				t.Fatal(r.Stderr)
			}
			ibsimtest.New(t, exported)
		})
	}
}

// absolute makes paths that the tools, which run elsewhere, find too.
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

// records cuts a topology file at blank lines; comments in front and the order
// are not compared.
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

// guidsAndLinks returns the lines of iblinkinfo without LIDs, which a subnet
// manager gives as it likes.
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
