//go:build guest

package mlx5_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// sizes matches the size in a row of results of perftest.
var sizes = regexp.MustCompile(`(?m)^ (\d+) +\d+ +\d`)

// A matrixCase is a program of perftest with options, and the number of its results.
type matrixCase struct {
	program, options string
	rows             int
}

// matrix has each program and each transport, by both kinds of programs.
var matrix = []matrixCase{
	{"ib_send_lat", "-c UD -a -C", 12}, {"ib_write_lat", "-c UC -s 5000 -C", 1}, {"ib_read_lat", "-c XRC -s 5000 -C", 1},
	{"ib_send_bw", "-c XRC -s 65536", 1}, {"ib_write_bw", "-c UC -s 65536", 1}, {"ib_read_bw", "-c RC -a", 23},
	{"ib_atomic_lat", "-c RC -A CMP_AND_SWAP", 1}, {"ib_atomic_bw", "-c XRC", 1},
	{"ib_write_bw", "-c RC -s 4096 -b -q 3", 1}, {"ib_send_bw", "-c UD -s 1024 -b -e", 1},
}

// wholeMatrix returns all other cases, with all sizes.
func wholeMatrix() []matrixCase {
	latency, bandwidth := []string{"ib_send_lat", "ib_write_lat", "ib_read_lat"}, []string{"ib_send_bw", "ib_write_bw", "ib_read_bw"}
	atomics := []string{"ib_atomic_lat", "ib_atomic_bw"}
	var all []matrixCase
	for _, c := range []struct {
		programs []string
		options  string
		rows     int
	}{
		{latency, "-c RC -a -C", 23},
		{latency, "-c XRC -a -C", 23},
		{latency[:2], "-c UC -a -C", 23},
		{bandwidth, "-c RC -a", 23},
		{bandwidth, "-c XRC -a", 23},
		{bandwidth[:2], "-c UC -a", 23},
		{bandwidth[:1], "-c UD -a", 12},
		{atomics, "-c RC -A FETCH_AND_ADD", 1},
		{atomics, "-c RC -A CMP_AND_SWAP", 1},
		{atomics, "-c XRC", 1},
		{[]string{"ib_send_bw", "ib_read_bw"}, "-c RC -s 4096 -e", 1}, // perftest has no events of writes
		{bandwidth, "-c RC -s 4096 -b -q 3", 1},
	} {
		for _, program := range c.programs {
			if one := (matrixCase{program, c.options, c.rows}); !slices.Contains(matrix, one) {
				all = append(all, one)
			}
		}
	}
	return all
}

// TestMatrix runs all perftest programs on all transports between Debian's programs on
// libmlx5 and ibkit's programs, each as server and as client, with -a all sizes from 2 bytes
// to 8 MiB, or to the MTU. Latency programs print cycles (-C): perftest measures the
// processor frequency after each size otherwise, and prints inf if that fails.
func TestMatrix(t *testing.T) {
	t.Parallel()
	g := guest.New(t, spec(t))
	tcp := 18600
	for _, c := range testenv.Cases(matrix, wholeMatrix()...) {
		t.Run(c.program+" "+c.options, func(t *testing.T) {
			for _, names := range [][2][]string{{{c.program}, {"ibkit", c.program}}, {{"ibkit", c.program}, {c.program}}} {
				tcp++
				args := append(strings.Fields(c.options), "-F", "-n", "5", "-p", fmt.Sprint(tcp))
				server := g.MustStart(t, slices.Concat(names[0], args)...)
				if err := g.AwaitTCP(t.Context(), uint16(tcp)); err != nil {
					t.Fatal(err)
				}
				out := g.Must(t, slices.Concat(names[1], args, []string{"127.0.0.1"})...)
				peers.Finish(t, server)
				if rows := sizes.FindAllStringSubmatch(out, -1); len(rows) != c.rows {
					t.Errorf("client %q: got %d sizes, want %d:\n%s", names[1], len(rows), c.rows, out)
				}
			}
		})
	}
	verbstest.CheckKernel(t, g)
}
