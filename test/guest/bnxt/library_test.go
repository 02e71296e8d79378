//go:build guest

package bnxt_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// TestLibrary runs programs on libbnxt_re at both ends, which verifies the module.
func TestLibrary(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 25 s each
		return
	}
	for _, c := range []chip{
		thor, thor2, variable, {"bnxt_gen=5", debian.Trixie}, {"bnxt_gen=5 bnxt_variable=1", debian.Trixie},
		{"bnxt_gen=7 bnxt_merge=1", debian.Trixie}, {"bnxt_gen=5 bnxt_merge=1", debian.Bookworm},
	} {
		t.Run(c.release.Name+" "+c.options, func(t *testing.T) {
			g := boot(t, c)
			for _, test := range []struct {
				common   []string
				commands []string
			}{
				{[]string{"-g", "1"}, []string{
					"ibv_rc_pingpong -c -s 4096", "ibv_rc_pingpong -e -s 64", "ibv_ud_pingpong -s 512", "ibv_srq_pingpong -q 3 -s 256",
				}},
				{inline, []string{
					"ib_send_lat -s 64", "ib_send_lat -c UD -s 64", "ib_write_bw -b -q 3 -s 512", "ib_write_lat -s 2", "ib_send_bw -s 4096",
				}},
				{[]string{"-F", "-x", "1"}, []string{"ib_read_bw -s 65536", "ib_atomic_bw", "ib_atomic_lat"}},
			} {
				for _, command := range test.commands {
					t.Run(command, func(t *testing.T) {
						runPair(t, g, slices.Concat(strings.Fields(command), test.common, []string{"-n", "20", "-p", "18600"}))
					})
				}
			}
			verbstest.CheckKernel(t, g)
		})
	}
}

// runPair runs a program as server and as client, on port 18600.
func runPair(t *testing.T, g *guest.Guest, args []string) {
	server := g.MustStart(t, args...)
	if err := g.Await(t.Context(), "sh", "-c", "grep -q ':48A8 .* 0A ' /proc/net/tcp /proc/net/tcp6"); err != nil {
		t.Fatal(err)
	}
	g.Must(t, append(args, address)...)
	peers.Finish(t, server)
}
