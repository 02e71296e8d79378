//go:build oracle

package oracle

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/mad/register"
)

// TestMstreg_Sets compares registers of a device that carries them in Sets only. It needs no
// test by subnet management: mstreg 4.31 overruns its stack if the vendor class is silent.
func TestMstreg_Sets(t *testing.T) {
	s := serveLive(t, "optics")
	if r := s.MustRun(t, "host1", ibkit(), "sim", "ctl", "registers leaf1 old"); r.Code != 0 {
		t.Fatal(r.Stderr)
	}
	raw := func(args ...string) string {
		args = append([]string{"phy", "--raw", "--devices", "--node", "leaf1", "--sim", "ibsim"}, args...)
		return s.MustRun(t, "host1", ibkit(), args...).Stdout
	}
	if out := raw(); strings.Contains(out, "MFSM") {
		t.Errorf("without --carrier: got %.300s", out)
	}
	out := raw("--carrier", "set")
	for _, c := range mstregCases {
		switch c.register.Part().ID {
		case register.IDMFSM, register.IDMTMP, register.IDMCIA, register.IDPMLP, register.IDPAOS:
			t.Run(c.register.Part().String(), func(t *testing.T) {
				args := []string{"-d", leaf1, "--reg_name", c.name, "--get", "--indexes", c.indexes}
				compareMstreg(t, c.register, rawBytes(t, out, c), parseMstreg(t, runMst(t, s, "mstreg", args...)))
			})
		}
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

// TestMstmcra reads the hardware ID that a device reports, too, in its configuration space.
func TestMstmcra(t *testing.T) {
	s := serveLive(t, "optics")
	const hardware = "0xf0014"
	if got := strings.TrimSpace(runMst(t, s, "mstmcra", leaf1, hardware)); got != "0x00a00257" {
		t.Errorf("got %s, want revision 0xa0 of device 0x257", got)
	}
}
