//go:build oracle

package oracle

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestMstreg_Sets compares registers of devices that carry them in Sets only, in the vendor
// class or in subnet management.
func TestMstreg_Sets(t *testing.T) {
	for _, test := range []struct {
		command, carrier string
		size             int // in a Set
	}{{"registers leaf1 old", "set", register.AccessSize}, {"registers leaf1 smp", "smp", register.SubnetAccessSize}} {
		t.Run(test.carrier, func(t *testing.T) {
			s := serveLive(t, "optics")
			if r := s.MustRun(t, "host1", ibkit(), "sim", "ctl", test.command); r.Code != 0 {
				t.Fatal(r.Stderr)
			}
			raw := func(args ...string) string {
				args = append([]string{"phy", "--raw", "--devices", "--alarms", "--node", "leaf1", "--sim", "ibsim"}, args...)
				return s.MustRun(t, "host1", ibkit(), args...).Stdout
			}
			if out := raw(); strings.Contains(out, "MFSM") {
				t.Errorf("without --carrier: got %.300s", out)
			}
			out := raw("--carrier", test.carrier)
			for _, c := range mstregCases {
				// ibkit reads the module's status together with its memory, which needs more room.
				withMemory := c.register.Part().ID == register.IDPMAOS && test.size < register.NewEEPROM(0, 0, 0, 48).Spec().Size
				if c.adapter || c.op != "" || c.register.Spec().Size > test.size || withMemory {
					continue
				}
				t.Run(c.register.Part().String(), func(t *testing.T) {
					args := []string{"-d", leaf1, "--reg_name", c.name, "--get"}
					if c.indexes != "" {
						args = append(args, "--indexes", c.indexes)
					}
					compareMstreg(t, c.register, rawBytes(t, out, c), parseMstreg(t, runMst(t, s, "mstreg", args...)))
				})
			}
		})
	}
}

// TestMstmgetTemp compares sensors with mstmget_temp, which prints whole degrees.
func TestMstmgetTemp(t *testing.T) {
	s := serveLive(t, "optics")
	out := runMst(t, s, "mstmget_temp", "-d", leaf1, "-v")
	raw := s.MustRun(t, "host1", ibkit(), "phy", "--raw", "--devices", "--node", "leaf1", "--sim", "ibsim").Stdout
	sensors := 0
	for line := range strings.Lines(raw) {
		_, digits, ok := strings.Cut(strings.TrimSpace(line), " MTMP: ")
		data, err := hex.DecodeString(digits)
		if !ok || err != nil {
			continue
		}
		sensor := &register.Sensor{Number: uint16(data[2]&0xf)<<8 | uint16(data[3])}
		if err := register.Check(sensor, data); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%s T %d", register.Clean(sensor.Label[:]), int(sensor.Temperature.Celsius()))
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("got no %q in\n%s", want, out)
		}
		sensors++
	}
	if sensors != 2 {
		t.Errorf("got %d sensors, want 2", sensors)
	}
}

// A bookwormMst runs tools of Debian 12's mstflint 4.21.
type bookwormMst struct {
	server *ibsimtest.Sim
	root   string // of the unpacked packages
}

func newBookwormMst(t *testing.T, s *ibsimtest.Sim) *bookwormMst {
	t.Helper()
	root := t.TempDir()
	if err := debian.Bookworm.Unpack(t.Context(), root, "mstflint", "libmuparser2v5"); err != nil {
		t.Fatal(err)
	}
	return &bookwormMst{s, root}
}

// run runs a tool, with the package's data in /usr/share of a mount namespace.
func (m *bookwormMst) run(t *testing.T, tool string, args ...string) ibsimtest.Result {
	t.Helper()
	const lib = "/usr/lib/x86_64-linux-gnu"
	line := strings.Join(append([]string{m.root + "/usr/bin/" + tool}, args...), " ")
	script := "mount -t overlay -o lowerdir=" + m.root + "/usr/share:/usr/share overlay /usr/share && exec env LD_LIBRARY_PATH=" + m.root + lib +
		" LD_PRELOAD=" + lib + "/umad2sim/libumad2sim.so " + line
	r, err := m.server.Run(t.Context(), "host1", "/usr/bin/unshare", "--mount", "/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMstflint_Bookworm reads configuration space and registers by the tools of Debian 12.
func TestMstflint_Bookworm(t *testing.T) {
	s := serveLive(t, "optics")
	m := newBookwormMst(t, s)
	const hardware = 0xf0014
	ours := func(address int, lid string) uint64 {
		t.Helper()
		_, word, _ := strings.Cut(s.MustRun(t, "host1", ibkit(), "vendstat", "-R", fmt.Sprintf("%#x", address), lid).Stdout, ": ")
		v, err := strconv.ParseUint(strings.TrimSpace(word), 0, 32)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	t.Run("mstmcra", func(t *testing.T) {
		want := fmt.Sprintf("0x%08x", ours(hardware, "3"))
		for _, got := range []string{m.run(t, "mstmcra", leaf1, "0xf0014").Stdout, runMst(t, s, "mstmcra", leaf1, "0xf0014")} {
			if got = strings.TrimSpace(got); got != want || want != "0x00a00257" {
				t.Errorf("got %s, ibkit has %s, want revision 0xa0 of device 0x257", got, want)
			}
		}
	})
	t.Run("mstmread", func(t *testing.T) {
		if got, want := m.run(t, "mstmread", leaf1, "0xf0014").Stdout, "Read 0x000f0014:0x00a00257"; !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("mstregdump", func(t *testing.T) {
		words := map[int]uint64{}
		for line := range strings.Lines(m.run(t, "mstregdump", host2).Stdout) {
			var address int
			var word uint64
			if _, err := fmt.Sscan(line, &address, &word); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			const lost = 0xc8 // in a packet of 0xe0 bytes: libumad2sim.so has other bytes there
			if address%0xe0 != lost {
				words[address] = word
			}
		}
		if len(words) < 200_000 {
			t.Errorf("got %d words", len(words))
		}
		for _, address := range []int{0, 4, hardware} {
			if got, want := words[address], ours(address, "5"); got != want {
				t.Errorf("address %#x: got %#x, ibkit has %#x", address, got, want)
			}
		}
	})
	// The simulator has no configuration: the tool gives up at the first register, as on
	// firmware without it.
	t.Run("mstconfig", func(t *testing.T) {
		r := m.run(t, "mstconfig", "-d", host2, "q")
		if want := "NVQC access register is not supported"; !strings.Contains(r.Stdout+r.Stderr, want) {
			t.Errorf("got exit code %d, %s%s, want %s", r.Code, r.Stdout, r.Stderr, want)
		}
	})
}

// TestMstreg_Dies compares group 0x24, which only the tables of mstflint 4.21 have, by mstreg
// 4.31 with these tables.
func TestMstreg_Dies(t *testing.T) {
	s := serveLive(t, "optics")
	table, err := os.ReadFile(filepath.Join(newBookwormMst(t, s).root, "usr/share/mstflint/prm_dbs/switch/ext/register_access_table.adb"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.CreateTemp(filepath.Join(mstflint(t), "tmp"), "*.adb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(file.Name()) })
	_, err = file.Write(table)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	c := diesCase
	raw := s.MustRun(t, "host1", ibkit(), "phy", "--raw", "--node", "leaf1", "--sim", "ibsim").Stdout
	data := rawBytes(t, raw, c)
	output := runMst(t, s, "mstreg", "-d", leaf1, "--adb_file", "/tmp/"+filepath.Base(file.Name()), "--reg_name", c.name, "--get", "--indexes", c.indexes)
	compareMstreg(t, c.register, data, parseMstreg(t, output))
	if *update {
		if err := os.WriteFile(c.file(), c.recording(data, output), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	comparePlaces(t, readTables(t, table), register.NewDieCounters(1))
}
