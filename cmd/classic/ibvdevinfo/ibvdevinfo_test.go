package ibvdevinfo

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var program = cmdtest.Classic(New)

func TestRun_NoDevices(t *testing.T) {
	env := map[string]string{"IBKIT_SYSFS": t.TempDir()}
	for _, test := range []struct {
		line, out, err string
		code           int
	}{
		{"ibv_devinfo", "", "Failed to get IB devices list: Function not implemented\n", 255},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, err := program.Run(t, env, strings.Fields(test.line)...)
			if code != test.code || out != test.out || err != test.err {
				t.Errorf("got exit code %d, output %q, error output %q, want %d, %q, %q", code, out, err, test.code, test.out, test.err)
			}
		})
	}
}
