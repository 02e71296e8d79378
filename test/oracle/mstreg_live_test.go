//go:build oracle

package oracle

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/tool/phy"
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

// leaf1 and host2 are the LIDs of the devices in the cases.
const leaf1, host2 = "lid-3", "lid-5"

// TestMstreg_Live compares the values that ibkit and mstreg read from a served fabric.
func TestMstreg_Live(t *testing.T) {
	s := serveLive(t, "optics")
	narrow := s.MustRun(t, "host1", ibkit(), "sim", "ctl", "pcie host2 narrow")
	if narrow.Code != 0 {
		t.Fatal(narrow.Stderr)
	}
	raw := s.MustRun(t, "host1", ibkit(), "phy", "--raw", "--devices", "--alarms", "--fec", "--node", "leaf1", "--node", "host2", "--sim", "ibsim").Stdout
	for _, c := range mstregCases {
		t.Run(c.register.Part().String(), func(t *testing.T) {
			device := leaf1
			if c.adapter {
				device = host2
			}
			data := rawBytes(t, raw, c)
			args := []string{"-d", device, "--reg_name", c.name, "--get"}
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
	node := "leaf1 "
	if c.adapter {
		node = "host2["
	}
	for line := range strings.Lines(raw) {
		if !strings.HasPrefix(line, node) {
			continue
		}
		_, digits, ok := strings.Cut(strings.TrimSpace(line), " "+c.register.Part().String()+": ")
		if data, err := hex.DecodeString(digits); ok && err == nil && hasIndex(data, index) {
			return data
		}
	}
	t.Fatalf("no register %v in %d bytes of output: %.300s", c.register.Part(), len(raw), raw)
	return nil
}

// hasIndex reports whether a reply has a request's index, in the bytes that are not 0.
func hasIndex(data, request []byte) bool {
	for i, b := range request[:min(len(request), 8)] {
		if b != 0 && data[i]&b != b {
			return false
		}
	}
	return true
}

// TestMstlink reads the output of mstlink: it must have the fabric's values.
func TestMstlink(t *testing.T) {
	s := serveLive(t, "optics")
	out := runMst(t, s, "mstlink", "-d", leaf1, "-p", "1", "-m", "-c", "-e")
	for _, want := range []string{
		"State                           : \x1b[32mActive", "Speed                           : \x1b[32mIB-NDR", "Width                           : \x1b[32m4x",
		"Vendor Serial Number            : MT26070297241", "Vendor Part Number              : SIM-SR8-OSFP",
		"Initial FOM                     :     90,", "Upper Grades                    :     31,", "Lower Grades                    :     26,", "Raw Physical BER", "6E-5", "Effective Physical BER", "3E-9", "Rx Power Current [dBm]          : -11.6",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("got no %q in\n%s", want, out)
		}
	}
}

// TestMstlink_Time reads 20 ports by mstlink and all link ends by ibkit. The log has both times.
func TestMstlink_Time(t *testing.T) {
	s := serveLive(t, "optics")
	const ports = 20
	began := time.Now()
	for i := range ports {
		out := runMst(t, s, "mstlink", "-d", leaf1, "-p", strconv.Itoa(i%4+1), "-m", "-c", "-e")
		if !strings.Contains(out, "Active") {
			t.Fatalf("port %d: got %s", i%4+1, out)
		}
	}
	theirs := time.Since(began)
	began = time.Now()
	r := s.MustRun(t, "host1", ibkit(), "phy", "--alarms", "--fec", "--eyes", "--json", "--sim", "ibsim")
	ours := time.Since(began)
	var doc phy.Report
	if err := json.Unmarshal([]byte(r.Stdout), &doc); err != nil || len(doc.Ends) != 24 {
		t.Fatalf("got %d link ends, error %v", len(doc.Ends), err)
	}
	t.Logf("mstlink: %v for %d ports; ibkit: %v for %d link ends", theirs, ports, ours, len(doc.Ends))
	if ours > theirs {
		t.Errorf("ibkit took longer")
	}
}
