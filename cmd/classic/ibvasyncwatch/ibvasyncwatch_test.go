package ibvasyncwatch

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/verbs"
)

var program = cmdtest.Classic(New)

const usageText = `Usage:
  ibv_asyncwatch            start an asyncwatch process

Options:
  -d, --ib-dev=<dev>     use IB device <dev> (default first device found)
  -h, --help             print a help text and exit
`

func TestRun_NoDevices(t *testing.T) {
	const noVerbs = "Failed to get IB devices list: Function not implemented\n"
	env := map[string]string{"IBKIT_SYSFS": t.TempDir()}
	for _, test := range []struct {
		line, out, err string
		code           int
	}{
		{"ibv_asyncwatch", "", noVerbs, 1},
		{"ibv_asyncwatch -d rxe0 rest", "", noVerbs, 1},
		{"ibv_asyncwatch -h", usageText, "", 0},
		{"ibv_asyncwatch --help", usageText, "", 0},
		{"ibv_asyncwatch -x", usageText, "ibv_asyncwatch: invalid option -- 'x'\n", 1},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, err := program.Run(t, env, strings.Fields(test.line)...)
			if code != test.code || out != test.out || err != test.err {
				t.Errorf("got exit code %d, output %q, error output %q, want %d, %q, %q", code, out, err, test.code, test.out, test.err)
			}
		})
	}
}

func TestName(t *testing.T) {
	for event, want := range map[verbs.EventType]string{
		verbs.EventPortErr: "IBV_EVENT_PORT_ERR", verbs.EventDeviceFatal: "IBV_EVENT_DEVICE_FATAL",
		verbs.EventDeviceSpeedChange: "IBV_EVENT_DEVICE_SPEED_CHANGE",
		verbs.EventClientReregister:  "IBV_EVENT_CLIENT_REREGISTER", verbs.EventQPFatal: "unexpected", verbs.EventWQFatal: "unexpected", 99: "unexpected",
	} {
		t.Run(want, func(t *testing.T) {
			if got := name(event); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
