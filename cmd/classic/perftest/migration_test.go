package perftest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
)

// sets are the program sets that options belong to.
var sets = []struct {
	name string
	group
}{
	{"", all}, {"bandwidth tests", bandwidth}, {"latency tests", latency}, {"`ib_send_*`", sends}, {"`ib_write_*`", writes}, {"`ib_atomic_*`", atomics},
	{"all but `ib_atomic_*`", not(atomics)}, {"all but `ib_write_*`", not(writes)}, {"all but `ib_send_*`", not(sends)}, {"`ib_send_*`, `ib_write_*`", requests}, {"`ib_read_*`, `ib_atomic_*`", responses},
	{"`ib_send_bw`", both(sends, bandwidth)}, {"bandwidth tests but `ib_send_bw`", both(bandwidth, not(sends))},
	{"latency tests and `ib_send_bw`", func(o perftest.Order) bool { return !o.Bandwidth || o.Verb == perftest.Send }},
}

// nameOf returns a program set's name.
func nameOf(t *testing.T, g group) string {
	t.Helper()
	for _, s := range sets {
		same := true
		for _, o := range orders() {
			same = same && s.group.has(o) == g.has(o)
		}
		if same {
			return s.name
		}
	}
	t.Fatal("a set of programs has no name")
	return ""
}

// statusOf returns an option's status in the table.
func statusOf(t *testing.T, o option) string {
	var parts []string
	add := func(status string, g group) {
		any := false
		for _, order := range orders() {
			any = any || g.has(order)
		}
		if !any {
			return
		}
		if name := nameOf(t, g); name != "" {
			status += ": " + name
		}
		parts = append(parts, status)
	}
	if o.noEffect {
		add("no effect", o.in)
	} else {
		add("done", o.in)
	}
	if o.ignored != nil {
		add("ignored", func(order perftest.Order) bool { return o.ignored(order) && !o.in.has(order) })
	}
	if o.refused != nil {
		add("refused", o.refused)
	}
	text := strings.Join(parts, "; ")
	if o.newer {
		text += " (newer)"
	}
	for _, note := range []string{o.reason, o.note} {
		if note != "" {
			text += " — " + note
		}
	}
	return text
}

// TestMigration compares the option table in docs/migration.md with the programs.
func TestMigration(t *testing.T) {
	const path, head, end = "../../../docs/migration.md", "| ib_send_lat … | ibkit perf | status |\n| --- | --- | --- |\n", "\n"
	var table strings.Builder
	for _, o := range newCommand(&cmdutil.Env{Out: os.Stdout}, "", perftest.Order{}).table() {
		names := "`--" + o.Long + "`"
		if o.Short != 0 {
			names = fmt.Sprintf("`-%c`, ", o.Short) + names
		}
		fmt.Fprintf(&table, "| %s | %s | %s |\n", names, o.native, statusOf(t, o))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), head)
	if !ok {
		t.Fatalf("%s has no line\n%s", path, head)
	}
	rows := 0
	for strings.HasPrefix(rest[rows:], "|") {
		rows += strings.Index(rest[rows:], end) + 1
	}
	if got := rest[:rows]; got != table.String() && *cmdtest.Update {
		if err := os.WriteFile(path, []byte(before+head+table.String()+rest[rows:]), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != table.String() {
		t.Errorf("the table in %s is stale: run go test ./cmd/classic/perftest -update\n%s", path, table.String())
	}
}
