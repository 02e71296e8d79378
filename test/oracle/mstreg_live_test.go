//go:build oracle

package oracle

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// mstflint returns the root directory of Debian 13, which has mstflint.
func mstflint(t *testing.T) string {
	t.Helper()
	root, err := debian.Trixie.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// runMst runs a tool of mstflint as a client of the server.
func runMst(t *testing.T, s *ibsimtest.Sim, tool string, args ...string) string {
	t.Helper()
	const preload = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so"
	loader := []string{mstflint(t), "/usr/lib64/ld-linux-x86-64.so.2", "--preload", preload, "/usr/bin/" + tool}
	r, err := s.Run(t.Context(), "host1", "/usr/sbin/chroot", append(loader, args...)...)
	if err != nil || r.Code != 0 {
		t.Fatalf("%s %s: exit code %d, error %v\n%s%s", tool, strings.Join(args, " "), r.Code, err, r.Stdout, r.Stderr)
	}
	return r.Stdout
}

// leaf1 is the LID of the switch in the cases.
const leaf1 = "lid-3"

// TestMstreg_Live compares the values that ibkit and mstreg read from a served fabric.
func TestMstreg_Live(t *testing.T) {
	s := serveLive(t, "optics")
	raw := s.MustRun(t, "host1", ibkit(), "phy", "--raw", "--devices", "--alarms", "--fec", "--node", "leaf1", "--sim", "ibsim").Stdout
	for _, c := range mstregCases {
		t.Run(c.register.Part().String(), func(t *testing.T) {
			data := rawBytes(t, raw, c)
			args := []string{"-d", leaf1, "--reg_name", c.name, "--get"}
			if c.indexes != "" {
				args = append(args, "--indexes", c.indexes)
			}
			if c.op != "" {
				args = append(args, "--op", c.op)
			}
			output := runMst(t, s, "mstreg", args...)
			compareMstreg(t, c.register, data, parseMstreg(t, output))
			if *update {
				if err := os.WriteFile(c.file(), c.recording(data, output), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// rawBytes returns a register's bytes from ibkit phy --raw.
func rawBytes(t *testing.T, raw string, c mstregCase) []byte {
	t.Helper()
	index := make([]byte, c.register.Spec().Size)
	if err := mad.Encode(c.register, index); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(raw) {
		_, digits, ok := strings.Cut(strings.TrimSpace(line), " "+c.register.Part().String()+": ")
		if data, err := hex.DecodeString(digits); ok && err == nil && (c.register.Part().Index == nil || data[1] == index[1] && data[0] == index[0] && (c.name != "MTMP" || data[3] == index[3])) {
			return data
		}
	}
	t.Fatalf("no register %s in %d bytes of output: %.300s", c.register.Part().String(), len(raw), raw)
	return nil
}

// TestMstlink reads the output of mstlink: it must have the fabric's values.
func TestMstlink(t *testing.T) {
	s := serveLive(t, "optics")
	out := runMst(t, s, "mstlink", "-d", leaf1, "-p", "1", "-m", "-c", "-e")
	for _, want := range []string{
		"State                           : \x1b[32mActive", "Speed                           : \x1b[32mIB-NDR", "Width                           : \x1b[32m4x",
		"Vendor Serial Number            : MT26070297241", "Vendor Part Number              : SIM-SR8-OSFP",
		"Raw Physical BER", "6E-5", "Effective Physical BER", "3E-9", "Rx Power Current [dBm]          : -11.6",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("got no %q in\n%s", want, out)
		}
	}
}
