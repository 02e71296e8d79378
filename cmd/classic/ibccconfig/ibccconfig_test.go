package ibccconfig

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/mad"
)

// The C tool prints the same output; test/oracle has more cases.
func TestIbccconfig(t *testing.T) {
	program := cmdtest.Classic(New)
	for line, want := range map[string]struct {
		code int
		out  string
	}{
		"CK 3 0x77 1 5 9":                {0, ""},
		"SS 3 1 0xfff 1 1 1 1 2":         {255, "operation SS: invalid number of parameters for SwitchCongestionSetting"},
		"SS 3 1 0xfff 1 1 1 1 2:x 1":     {255, "operation SS: invalid integer input"},
		"SP 3 17 1 0 0 0 0":              {255, "operation SP: invalid port number specified"},
		"CT 4 1 0 0:1 77":                {255, "operation CT: ccts are formatted shift:multiplier"},
		"CS 3 1 1 1 1 1 1":               {255, "operation CS: ca congestion setting config failed"},
		"CK 3 0 0 0":                     {255, "operation CK: invalid number of parameters for CongestionKeyInfo"},
		"CK 3 1 0 65536 0":               {255, "operation CK: invalid cc_keyleaseperiod value"},
		"CK 3 0x10000000000000000 0 0 0": {255, "operation CK: value out of range"},
		"CK":                             {2, ""},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"ibccconfig"}, strings.Fields(line)...)...)
			text := ""
			if want.out != "" {
				text = "ibccconfig: iberror: failed: " + want.out + "\n"
			}
			if code != want.code || out != text {
				t.Errorf("got exit code %d and\n%q\n%swant %d and\n%q", code, out, err, want.code, text)
			}
		})
	}
}

// An operand in any form is a value or an error.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0x1F", "1:2", "ffff", "-1", " 07", ":", "0x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := parse(s); err != nil && err.Error() == "" {
			t.Error("got an error without text")
		}
		if m, err := parseMask(s); err != nil && m != (mad.PortMask{}) {
			t.Errorf("got mask %v with error %v", m, err)
		}
		if shift, multiplier, err := parseEntry(s); err != nil && shift+multiplier != 0 {
			t.Errorf("got %d:%d with error %v", shift, multiplier, err)
		}
	})
}
