package perf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/verbs"
)

// TestExitCodes checks that the measurements before an error determine the exit code.
func TestExitCodes(t *testing.T) {
	test := perf.NewTest(perf.Write, perf.Bandwidth, perf.RC, 64)
	moved := &perf.Throughput{Messages: 7, Bytes: 448, Elapsed: 1}
	whole := perf.Measurement{Test: test, Sent: moved}
	part := perf.Measurement{Test: test, Sent: moved, Partial: true}
	none := perf.Measurement{Test: test, Partial: true}
	unknown := perf.Measurement{Test: test}
	interrupted := fmt.Errorf("measure: %w", context.Canceled)
	failed := errors.New("device removed")
	for name, c := range map[string]struct {
		all   []perf.Measurement
		err   error
		code  int
		minBW float64
	}{
		"whole":                       {[]perf.Measurement{whole}, nil, cmdutil.ExitOK, 0},
		"interrupted":                 {[]perf.Measurement{part}, interrupted, cmdutil.ExitPartial, 0},
		"interrupted before it began": {[]perf.Measurement{none}, interrupted, cmdutil.ExitFailed, 0},
		"interrupted before all":      {nil, interrupted, cmdutil.ExitFailed, 0},
		"interrupted later":           {[]perf.Measurement{whole, none}, interrupted, cmdutil.ExitPartial, 0},
		"failed":                      {[]perf.Measurement{part}, failed, cmdutil.ExitFailed, 0},
		"some failed":                 {[]perf.Measurement{whole, part}, failed, cmdutil.ExitPartial, 0},
		"invalid test":                {nil, perf.ErrTest, cmdutil.ExitUsage, 0},
		"no figures":                  {[]perf.Measurement{unknown}, nil, cmdutil.ExitOK, 0},
		"no figures to judge":         {[]perf.Measurement{unknown}, nil, cmdutil.ExitPartial, 1},
		"too slow":                    {[]perf.Measurement{whole}, nil, cmdutil.ExitFindings, 1e6},
	} {
		t.Run(name, func(t *testing.T) {
			var out, stderr bytes.Buffer
			env := &cmdutil.Env{Out: &out, ErrOut: &stderr}
			command := &command{env: env, view: view{env: env, unit: "gbit", minBW: c.minBW}}
			err := command.show(nil, func() (*perf.Result, error) {
				for i := range c.all {
					command.view.done(&c.all[i])
				}
				return &perf.Result{Measurements: c.all}, c.err
			})
			if code := cmdutil.ExitCode(env, "ibkit perf", err); code != c.code {
				t.Errorf("got exit code %d, want %d: %v", code, c.code, err)
			}
			want := len(c.all) > 0 && c.all[len(c.all)-1].Partial && c.all[len(c.all)-1].Sent != nil
			if got := bytes.Contains(out.Bytes(), []byte("64 B: partial")); got != want {
				t.Errorf("got note about a partial test %v, want %v:\n%s", got, want, out.Bytes())
			}
		})
	}
}

// TestHints checks that the errors of a measurement come with a remedy, next to which
// the exit code stays the same.
func TestHints(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{perf.ErrNoDevice, "ibkit devinfo"},
		{fmt.Errorf("create CQ: %w", perf.ErrQueueLimit), "--qps"},
		{&perf.ForeignPeerError{Program: perf.Perftest}, "--peer perftest"},
		{&perf.ConnectError{Server: "h", Err: syscall.ECONNREFUSED}, "ibkit perf --serve"},
		{&perf.ConnectError{Server: "h", Program: "ib_send_lat", Err: syscall.ECONNREFUSED}, "start ib_send_lat"},
		{&perf.ConnectError{Server: "h", Err: syscall.ETIMEDOUT}, "firewall"},
		{&verbs.LimitError{Resource: verbs.LockedMemory, Err: syscall.ENOMEM}, "raise the limit with ulimit -l"},
		{&perf.PeerError{Peer: "server", Text: (&verbs.LimitError{Resource: verbs.LockedMemory, Err: syscall.ENOMEM}).Error()}, "on the server, raise the limit"},
		{(&verbs.Completion{Status: verbs.StatusRetryExceeded}).Err(), "UDP port 4791"},
		{&perf.TestsError{Failed: []perf.FailedTest{{Err: perf.ErrNoFigures}}}, "--duration"},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			var stderr bytes.Buffer
			env := &cmdutil.Env{Out: io.Discard, ErrOut: &stderr}
			command := &command{env: env, view: view{env: env, unit: "gbit"}}
			err := command.show(nil, func() (*perf.Result, error) { return nil, c.err })
			code := cmdutil.ExitCode(env, "ibkit perf", err)
			_, hint, _ := strings.Cut(stderr.String(), "\nhint: ")
			if code != cmdutil.ExitFailed || !strings.Contains(hint, c.want) {
				t.Errorf("got exit code %d and hint %q, want %d and %q", code, hint, cmdutil.ExitFailed, c.want)
			}
		})
	}
}

// TestServerReport checks that a line of the server's log names the client once.
func TestServerReport(t *testing.T) {
	client := netip.MustParseAddrPort("10.0.0.2:40000")
	test := perf.NewTest(perf.Send, perf.Latency, perf.RC, 2)
	for want, e := range map[string]perf.Event{
		"10.0.0.2:40000: send lat rc 2 B: done\n":                             {Client: client, Test: &test, Done: true},
		"10.0.0.2:40000: send lat rc 2 B: failed there: context canceled\n":   {Client: client, Test: &test, Done: true, Err: &perf.PeerError{Peer: "client", Text: "context canceled"}},
		"10.0.0.2:40000: send lat rc 2 B: no messages\n":                      {Client: client, Test: &test, Done: true, Err: errors.New("no messages")},
		"10.0.0.2:40000: exchange messages: the peer closed the connection\n": {Client: client, Done: true, Err: errors.New("exchange messages: the peer closed the connection")},
		"ibkit perf: accept client: too many open files\n":                    {Err: errors.New("accept client: too many open files")},
		"": {Client: client, Test: &test},
	} {
		t.Run(want, func(t *testing.T) {
			var stderr bytes.Buffer
			s := serverFlags{env: &cmdutil.Env{ErrOut: &stderr}}
			s.report(e)
			if stderr.String() != want {
				t.Errorf("got %q, want %q", stderr.String(), want)
			}
		})
	}
}

// TestMessageRate checks that small rates have decimals.
func TestMessageRate(t *testing.T) {
	for rate, want := range map[float64]string{0.25: "0.25", 9.876: "9.88", 10.4: "10", 123456.7: "123457"} {
		t.Run(want, func(t *testing.T) {
			if got := messageRate(rate); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
