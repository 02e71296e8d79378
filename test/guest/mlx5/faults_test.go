//go:build guest

package mlx5_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// faultsProgram is the program that causes errors with package verbs.
var faultsProgram = guest.Program{Package: "github.com/ibkit/ibkit/test/guest/internal/faults"}

// TestFaults compares the completions of failed requests with libmlx5: status and vendor
// syndrome for each error, and for each completion syndrome. It does the same with uses of
// memory windows, and with too small completion queues: events, earlier completions, and
// the queues afterwards.
func TestFaults(t *testing.T) {
	t.Parallel()
	c := verbstest.Compile(t, "testdata/faults.c")
	s := spec(t)
	s.Programs = append(s.Programs, faultsProgram)
	s.Files = map[string]string{"/usr/bin/cfaults": c}
	g := guest.New(t, s)
	var codes []string
	for syndrome := 1; syndrome <= 0x24; syndrome++ {
		codes = append(codes, fmt.Sprintf("%#x %#x", syndrome, 0xff-syndrome))
	}
	want := g.Must(t, append([]string{"cfaults"}, codes...)...)
	got := g.Must(t, append([]string{"faults"}, codes...)...)
	if got != want {
		t.Errorf("got completions\n%s\nwant those of libmlx5\n%s", got, want)
	}
	if lines := strings.Count(got, "\n"); lines < len(codes)+10 {
		t.Errorf("got %d completions, want at least %d:\n%s", lines, len(codes)+10, got)
	}
	if got, want := g.Must(t, "faults", "windows"), g.Must(t, "cfaults", "windows"); got != want || strings.Count(got, "\n") != 19 {
		t.Errorf("got completions\n%s\nwant those of libmlx5, 19 lines\n%s", got, want)
	}
	if got, want := g.Must(t, "faults", "overrun"), g.Must(t, "cfaults", "overrun"); got != want || !strings.Contains(got, "event 0, of the CQ: 1\n") {
		t.Errorf("got events and completions\n%s\nwant those of libmlx5\n%s", got, want)
	}
	if got, want := g.Must(t, "faults", "limit"), "of the SRQ: true, limit now 0\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want a text that ends with %q", got, want)
	}
	verbstest.CheckKernel(t, g)
}
