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

// masks replace the output parts that differ from run to run.
var masks = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`(QPN|PSN|SRQN|SEND|RECV) (0x)?[0-9a-f]{6}`), "$1 N"},
	{regexp.MustCompile(`[0-9.]+ (seconds|Mbit/sec|usec/iter)`), "N $1"},
}

func mask(text string) string {
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.by)
	}
	return text
}

// TestPingpongs runs the libibverbs pingpong programs and ibkit under their names with
// each other, on Soft-RoCE and on mlx5. Their output differs in numbers only.
func TestPingpongs(t *testing.T) {
	t.Parallel()
	s := spec(t)
	s.Devices = []guest.Device{{Name: "rxe0", Link: guest.Dummy}}
	g := guest.New(t, s)
	const rxe, mlx5 = "-d rxe0 -g 1", "-d mlx5_0"
	type pingpong struct{ program, options string }
	for i, test := range testenv.Cases([]pingpong{
		{"ibv_rc_pingpong", rxe + " -e -N -m 256"}, {"ibv_ud_pingpong", rxe + " -s 512 -c"}, {"ibv_srq_pingpong", rxe + " -q 3 -r 50"},
		{"ibv_rc_pingpong", mlx5 + " -c -s 10000 -m 4096 -l 1"}, {"ibv_uc_pingpong", mlx5 + " -e"}, {"ibv_xsrq_pingpong", mlx5 + " -e -m 4096"},
	}, []pingpong{
		{"ibv_rc_pingpong", rxe + " -c -s 10000"}, {"ibv_uc_pingpong", rxe},
		{"ibv_ud_pingpong", mlx5}, {"ibv_srq_pingpong", mlx5 + " -q 1 -c"}, {"ibv_xsrq_pingpong", mlx5 + " -s 100"},
	}...) {
		t.Run(test.program+" "+test.options, func(t *testing.T) {
			tcp := 18700 + 2*i
			args := append(strings.Fields(test.options), "-n", "10", "-p")
			program := []string{test.program}
			ibkit := []string{"ibkit", test.program}
			run := func(tcp int, server, client []string) (out [2]string) {
				t.Helper()
				p := g.MustStart(t, slices.Concat(server, args, []string{fmt.Sprint(tcp)})...)
				if err := g.AwaitTCP(t.Context(), uint16(tcp)); err != nil {
					t.Fatal(err)
				}
				out[1] = g.Must(t, slices.Concat(client, args, []string{fmt.Sprint(tcp), "127.0.0.1"})...)
				r, err := p.Wait(t.Context())
				if err != nil || r.Code != 0 {
					t.Fatalf("got exit code %d of the server, %v, want 0:\n%s%s", r.Code, err, r.Stdout, r.Stderr)
				}
				out[0] = r.Stdout
				return out
			}
			theirServer, ourServer := run(tcp, program, ibkit), run(tcp+1, ibkit, program)
			if got, want := mask(theirServer[1]), mask(ourServer[1]); got != want {
				t.Errorf("got output of the client\n%s\nwant\n%s", got, want)
			}
			if got, want := mask(ourServer[0]), mask(theirServer[0]); got != want {
				t.Errorf("got output of the server\n%s\nwant\n%s", got, want)
			}
		})
	}
	t.Run("two clients", func(t *testing.T) {
		server := g.MustStart(t, "ibkit", "ibv_xsrq_pingpong", "-d", "mlx5_0", "-c", "2", "-n", "7", "-p", "18800")
		if err := g.AwaitTCP(t.Context(), 18800); err != nil {
			t.Fatal(err)
		}
		client := g.MustStart(t, "ibv_xsrq_pingpong", "-d", "mlx5_0", "-n", "7", "-p", "18800", "127.0.0.1")
		g.Must(t, "ibkit", "ibv_xsrq_pingpong", "-d", "mlx5_0", "-n", "7", "-p", "18800", "127.0.0.1")
		peers.Finish(t, client)
		peers.Finish(t, server)
	})
	// The library reposts a receive after a page fault in its memory, also the last receive.
	t.Run("page faults", func(t *testing.T) {
		const parameter = "/sys/module/verbstest/parameters/page_faults"
		args := []string{"ibv_srq_pingpong", "-d", "mlx5_0", "-q", "2", "-r", "4", "-n", "20", "-c", "-p"}
		for i, programs := range [][2][]string{{nil, nil}, {nil, {"ibkit"}}, {{"ibkit"}, nil}, {{"ibkit"}, {"ibkit"}}} {
			tcp := 18810 + i
			command := slices.Concat(args, []string{fmt.Sprint(tcp)})
			g.Must(t, "sh", "-c", "echo 15 >"+parameter)
			server := g.MustStart(t, slices.Concat(programs[0], command)...)
			if err := g.AwaitTCP(t.Context(), uint16(tcp)); err != nil {
				t.Fatal(err)
			}
			g.Must(t, slices.Concat(programs[1], command, []string{"127.0.0.1"})...)
			peers.Finish(t, server)
			if left := strings.TrimSpace(g.Must(t, "cat", parameter)); left != "0" {
				t.Errorf("server %q, client %q: %s of 15 page faults are left, want 0", programs[0], programs[1], left)
			}
		}
	})
	verbstest.CheckKernel(t, g)
}
