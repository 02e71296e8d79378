package ibaddr

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var program = cmdtest.Classic(New)

// The C tool prints the same output; test/oracle has more cases.
func TestIbaddr(t *testing.T) {
	for line, want := range map[string]struct {
		code int
		out  string
	}{
		"":                       {0, "GID fe80::2:c900:10:301 LID start 0x4 end 0x4\n"},
		"-g 11":                  {0, "GID fe80::2:c900:10:a01 \n"},
		"-l 0xb":                 {0, "LID start 0xb end 0xb\n"},
		"-L -D 0,1":              {0, "LID start 3 end 3\n"},
		"-gL -G 0x2c90000100a01": {0, "GID fe80::2:c900:10:a01 LID start 11 end 11\n"},
		"-l 3 1":                 {0, "LID start 0x0 end 0x0\n"},
		"0":                      {255, "ibaddr: iberror: failed: can't resolve destination port 0\n"},
		"-G 1":                   {255, "ibaddr: iberror: failed: can't resolve destination port 1\n"},
		"3 200":                  {255, "ibaddr: iberror: failed: can't resolve requested address\n"},
		"-t x":                   {255, "ibaddr: iberror: failed: Invalid timeout \"x\".  Timeout requires a positive integer value < 2147483647.\n"},
		"-s 0":                   {255, "ibaddr: iberror: failed: cannot resolve SM destination port 0\n"},
		"-C mlx5_0 -P 2":         {255, "ibaddr: iberror: failed: Failed to open 'mlx5_0' port '2'\n"},
		"-P 300":                 {255, "ibaddr: iberror: failed: Failed to open '(null)' port '300'\n"},
		"--no-such":              {2, ""},
		"-h":                     {2, ""},
		"-V":                     {0, ""},
		"-z /no/such/file -l 3":  {0, "LID start 0x3 end 0x3\n"},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"ibaddr"}, strings.Fields(line)...)...)
			if code != want.code || out != want.out || code == 2 && err == "" {
				t.Errorf("got exit code %d, want %d; got output\n%q, want\n%q\n%s", code, want.code, out, want.out, err)
			}
		})
	}
}
