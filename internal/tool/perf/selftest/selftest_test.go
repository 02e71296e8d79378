package selftest

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/internal/uverbs/uverbstest"
	"github.com/ibkit/ibkit/verbs"
)

func TestVerify(t *testing.T) {
	payload := []byte("payload")
	for name, test := range map[string]struct {
		change int // index of a byte to change
		want   string
	}{
		"good":   {-1, ""},
		"within": {guard + 2, "byte 2 of the payload: got 0x00, want 0x79"},
		"before": {guard - 1, "byte -1 beside the payload: got 0x00, want 0xa5"},
		"after":  {guard + 7, "byte 7 beside the payload: got 0x00, want 0xa5"},
	} {
		t.Run(name, func(t *testing.T) {
			memory := bytes.Repeat([]byte{poison}, 2*guard+len(payload))
			copy(memory[guard:], payload)
			if test.change >= 0 {
				memory[test.change] = 0
			}
			if got := fmt.Sprint(verify(memory, guard, payload)); got != test.want && (got != "<nil>" || test.want != "") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// An error decides the outcome of a case; a completion with a wrong status is a failure.
func TestRun_Outcome(t *testing.T) {
	for _, test := range []struct {
		err  error
		want Outcome
	}{
		{nil, Pass},
		{errors.New("bad"), Fail},
		{errors.Join(errors.New("bad"), verbs.ErrFull), Fail},
		{unsupported("no %s", "atomics"), Unsupported},
		{fmt.Errorf("bind: %w", verbs.ErrOpcode), Unsupported},
		{fmt.Errorf("create address handle: no number from the kernel: %w", errors.ErrUnsupported), Unsupported},
		{fmt.Errorf("create: %w", verbs.ErrUnsupported), Unsupported},
	} {
		t.Run(fmt.Sprint(test.err), func(t *testing.T) {
			var got Case
			(&tester{}).run(testCase{run: func() error { return test.err }}, &got)
			if got.Outcome != test.want || (got.Reason == nil) != (test.err == nil) {
				t.Errorf("%v: got %s, want %s", test.err, got.Outcome, test.want)
			}
		})
	}
}

// Connections outlast a pause of two seconds, as of a virtual machine on a busy host: at 67 ms
// with a single retry, "70000 messages in a ring of 64" failed there on Linux 6.12.
func TestPatience(t *testing.T) {
	const unit = 4096 * time.Nanosecond // InfiniBand specification, 9.7.6.1.3
	if got, want := unit<<testTimeout*(testRetries+1), 2*time.Second; got < want {
		t.Errorf("got transport retries for %v, want at least %v", got, want)
	}
}

// RoCE v2 comes first, then IPv4; an index selects any GID.
func TestChoose(t *testing.T) {
	ethernet := verbs.PortAttr{LinkLayer: 2}
	gid := func(index uint32, kind verbs.GIDType, addr string) verbs.GIDEntry {
		return verbs.GIDEntry{Index: index, Type: kind, GID: netip.MustParseAddr(addr)}
	}
	p := &port.Port{Device: "mlx5_0", Number: 1, Attr: ethernet, GIDs: []verbs.GIDEntry{
		gid(0, verbs.GIDTypeRoCEv1, "fe80::1"), gid(1, verbs.GIDTypeRoCEv2, "fe80::1"), gid(2, verbs.GIDTypeRoCEv1, "::ffff:10.0.0.1"),
		gid(3, verbs.GIDTypeRoCEv2, "::ffff:10.0.0.1"), gid(4, verbs.GIDTypeRoCEv2, "2001:db8::1"),
	}}
	for index, want := range map[int]int{-1: 3, 0: 0, 4: 4} {
		c := tester{port: p}
		if err := c.choose(index); err != nil || int(c.index) != want {
			t.Errorf("index %d: got GID %d, error %v, want GID %d", index, c.index, err, want)
		}
	}
	c := tester{port: p}
	if err := c.choose(9); err == nil || !strings.Contains(err.Error(), "use GID 9 of mlx5_0 port 1") {
		t.Errorf("index 9: got error %v", err)
	}
	p.Attr = verbs.PortAttr{LinkLayer: 1}
	for grh, want := range map[bool]bool{false: false, true: true} {
		p.Attr.GRHRequired = grh
		if err := c.choose(-1); err != nil || c.gid.IsValid() != want {
			t.Errorf("InfiniBand, GRH required %t: got GID %v, error %v, want one: %t", grh, c.gid, err, want)
		}
		c = tester{port: p}
	}
	p.Attr = verbs.PortAttr{} // of AWS
	if err := c.choose(-1); err != nil || !c.gid.IsValid() {
		t.Errorf("AWS: got GID %v, error %v, want one", c.gid, err)
	}
	p.GIDs, p.Attr = nil, ethernet
	if err := c.choose(-1); !errors.Is(err, port.ErrNoGID) {
		t.Errorf("no GIDs: got error %v, want %v", err, port.ErrNoGID)
	}
}

// A status that the driver is known to report passes, and is the reason of the case; any
// other status fails.
func TestDeviation(t *testing.T) {
	c := verbs.Completion{ID: 7, QPN: 3}
	for _, test := range []struct {
		status, want verbs.Status
		failure      string
		reason       string
	}{
		{verbs.StatusLocalProt, verbs.StatusLocalProt, "", ""},
		{verbs.StatusFlushed, verbs.StatusLocalProt, "", "work request flushed instead of local protection error, as known of rxe"},
		{verbs.StatusLocalQPOp, verbs.StatusLocalProt, "", "local QP operation error instead of local protection error, as known of rxe"},
		{verbs.StatusFlushed, verbs.StatusLocalLength, "completion: got work request flushed (vendor error 0x0), want local length error", ""},
		{verbs.StatusFlushed, verbs.StatusOK, "completion: got work request flushed (vendor error 0x0), want success", ""},
	} {
		t.Run(test.status.String()+" for "+test.want.String(), func(t *testing.T) {
			r, _ := on(t, uverbstest.NoDefect)
			var got Case
			r.run(testCase{run: func() error {
				return r.with(config{kind: verbs.QPTypeRC}, func(s *session) error {
					c.Status, c.QPN = test.status, s.a.Number()
					return s.check(c, s.a, c.ID, test.want)
				})
			}}, &got)
			reason := test.reason + test.failure
			if (got.Outcome == Pass) != (test.failure == "") || (got.Reason == nil) != (reason == "") || got.Reason != nil && *got.Reason != reason {
				t.Errorf("got %s, reason %v, want reason %q", got.Outcome, got.Reason, reason)
			}
		})
	}
}
