package rping

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var program = cmdtest.Classic(New)

// usageText is the rping usage text in Debian's rdmacm-utils 44.
const usageText = `rping -s [-vVd] [-S size] [-C count] [-a addr] [-p port]
rping -c [-vVd] [-S size] [-C count] [-I addr] -a addr [-p port]
	-c		client side
	-I		Source address to bind to for client.
	-s		server side.  To bind to any address with IPv6 use -a ::0
	-v		display ping data to stdout
	-V		validate ping data
	-d		debug printfs
	-S size 	ping data size
	-C count	ping count times
	-a addr		address
	-p port		port
	-P		persistent server mode allowing multiple connections
	-q		use self-created, self-modified QP
`

func TestRping_Usage(t *testing.T) {
	for _, c := range []struct {
		line     string
		code     int
		out, err string
	}{
		{"rping", 22, usageText, ""},
		{"rping -x", 22, usageText, ""},
		{"rping -t 5 -s", 22, usageText, ""},
		{"rping -c -S 22", 22, "", "Invalid size 22 (valid range is 23 to 65536)"},
		{"rping -c -S 65536", 22, "", "Invalid size 65536 (valid range is 23 to 65536)"},
		{"rping -c -C -1", 22, "", "Invalid count -1"},
		{"rping -s --sim demo", 255, "", "carries no data"},
	} {
		t.Run(c.line, func(t *testing.T) {
			code, out, err := program.Run(t, nil, strings.Fields(c.line)...)
			if code != c.code || out != c.out || !strings.Contains(err, c.err) {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code %d, %q, %q", code, out, err, c.code, c.out, c.err)
			}
		})
	}
}
