//go:build guest

package infiniband_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// growing are the fabric counters that grow between two calls.
var growing = regexp.MustCompile(`(?m)^(Port(Unicast|Multicast)?(Xmit|Rcv)(Data|Pkts)|SymbolErrorCounter|PortXmitWait|(Xmt|Rcv)DataSL0|QP1Dropped):.*\n| \[(SymbolErrorCounter|PortXmitWait) == [^]]*\]`)

// counterLines are performance management command lines that change nothing. The local
// ports belong to node02 and node07 in the demo.
var counterLines = []string{
	"perfquery", "perfquery -x", "perfquery 3 1", "perfquery -x 3 1", "perfquery -a 3", "perfquery -x -a 3", "perfquery -a 3 1-3", "perfquery -l 3 1,2", "perfquery -a 4",
	"perfquery -D 18 4", "perfquery -E 3 1", "perfquery -X 3 1", "perfquery -S 3 1", "perfquery -T 3 1", "perfquery -c 3 1", "perfquery --rcvcc 3 1", "perfquery --swportvlcong 4 1",
	"perfquery 3 99", "perfquery -e 3 99", "perfquery -G 0x0002c90000100801", "perfquery -C ibtest1",
	"ibqueryerrors --switch", "ibqueryerrors --switch -r -s PortXmitWait", "ibqueryerrors -D 0,1 -r",
}

// sameCounters compares the counters that Debian's tools and ibkit read and reset.
func sameCounters(t *testing.T, g *guest.Guest) {
	for _, line := range counterLines {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			want := g.MustRun(t, args...)
			got := g.MustRun(t, append([]string{"ibkit"}, args...)...)
			steady := func(s string) []string { return blocks(growing.ReplaceAllString(s, "")) }
			if !slices.Equal(steady(got.Stdout), steady(want.Stdout)) || got.Code != want.Code || want.Stdout == "" {
				t.Errorf("got exit code %d and\n%s%s\nwant %d and\n%s%s", got.Code, got.Stdout, got.Stderr, want.Code, want.Stdout, want.Stderr)
			}
		})
	}
	// Each tool resets a counter that the other tool reads.
	for _, reset := range []struct {
		tool, reader       []string
		lid, port, counter string
	}{
		{[]string{"ibkit", "perfquery"}, []string{"perfquery"}, "13", "4", "LinkDownedCounter"},
		{[]string{"perfquery"}, []string{"ibkit", "perfquery"}, "18", "4", "PortXmitDiscards"},
	} {
		t.Run(strings.Join(reset.tool, " ")+" -R", func(t *testing.T) {
			read := func() bool {
				text := g.Must(t, append(slices.Clone(reset.reader), reset.lid, reset.port)...)
				return regexp.MustCompile(`(?m)^` + reset.counter + `:\.*0$`).MatchString(text)
			}
			before := read()
			g.Must(t, append(slices.Clone(reset.tool), "-R", reset.lid, reset.port)...)
			if after := read(); before || !after {
				t.Errorf("%s is 0: got %t before and %t afterwards, want false and true", reset.counter, before, after)
			}
		})
	}
}
