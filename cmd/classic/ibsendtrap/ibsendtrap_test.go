package ibsendtrap

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

var program = cmdtest.Classic(New)

// A recorder records the traps that are sent through a port.
type recorder struct {
	umad.Port
	traps *[]umad.Message
}

func (r recorder) Send(m *umad.Message) error {
	if m.MAD.Method() == mad.MethodTrap {
		*r.traps = append(*r.traps, *m)
	}
	return r.Port.Send(m)
}

// send runs a command line at node02 in the demo and returns the traps.
func send(t *testing.T, args string) (code int, traps []umad.Message, output string) {
	t.Helper()
	var out, errOut bytes.Buffer
	env := map[string]string{"IBKIT_SIM": "demo", "SIM_HOST": "node02"}
	e := &cmdutil.Env{In: strings.NewReader(""), Out: &out, ErrOut: &errOut, Getenv: func(k string) string { return env[k] }}
	e.Transport = func(p umad.Port) umad.Port { return recorder{p, &traps} }
	code = program(t.Context(), e, append([]string{"ibsendtrap"}, strings.Fields(args)...))
	return code, traps, out.String() + errOut.String()
}

// TestIbsendtrap compares the packets with the C tool's packets.
func TestIbsendtrap(t *testing.T) {
	golden, err := os.ReadFile("testdata/traps.hex")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(golden)) {
		args, digits, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		t.Run(args, func(t *testing.T) {
			prefix, err := hex.DecodeString(digits)
			if err != nil {
				t.Fatal(err)
			}
			var want mad.Packet
			copy(want[:], prefix)
			code, traps, output := send(t, args)
			if code != 0 || len(traps) != 1 || output != "" {
				t.Fatalf("got exit code %d, %d traps, output %q, want 0, 1, none", code, len(traps), output)
			}
			got := traps[0]
			clear(got.MAD[8:16]) // transaction ID
			if got.MAD != want {
				t.Errorf("got\n%x\nwant\n%x", got.MAD, want)
			}
			if got.Addr.LID != 4 || got.Addr.QPN != 0 || got.Timeout != 0 {
				t.Errorf("got address %+v, timeout %v, want LID 4 of the subnet manager, no timeout", got.Addr, got.Timeout)
			}
		})
	}
}

func TestIbsendtrap_Usage(t *testing.T) {
	code, traps, output := send(t, "nosuch")
	if code != 2 || len(traps) > 0 || !strings.Contains(output, "  default behavior is to send \"node_desc_change\"\n") {
		t.Errorf("got exit code %d, %d traps, output\n%s", code, len(traps), output)
	}
	if code, traps, _ := send(t, ""); code != 0 || len(traps) != 1 {
		t.Errorf("without a name: got exit code %d, %d traps, want 0, 1", code, len(traps))
	}
}
