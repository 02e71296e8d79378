package mcmreregtest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var program = cmdtest.Classic(New)

var tid = regexp.MustCompile(`trid 0x[0-9a-f]{16}`)

// TestOutput compares the output with the C tool's output (rdma-core 44, built from its
// source) on "ibkit sim serve demo" at node02. Transaction IDs differ.
func TestOutput(t *testing.T) {
	s := cmdtest.ServeDemo(t)
	for _, name := range []string{"members", "mixed"} {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile("testdata/" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			code, out, got := program.Run(t, s.Env("node02"), "mcm_rereg_test", "testdata/"+name+".list")
			if d := cmp.Diff(string(want), tid.ReplaceAllString(got, "trid TID")); d != "" || code != 0 || out != "" {
				t.Errorf("got exit code %d, output %q, messages (-want +got):\n%s", code, out, d)
			}
		})
	}
}

// In the process, transaction IDs come back unchanged: requests to join are repeated, but not
// for ever.
func TestResend(t *testing.T) {
	file := cmdtest.WriteFile(t, "0x1234\n")
	code, _, got := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, "mcm_rereg_test", file)
	if n := strings.Count(got, "guid 0x0000000000001234: method = 1 status = 500. Resending"); code != 0 || n != maxJoins-1 {
		t.Errorf("got exit code %d, %d repetitions, want 0, %d\n%s", code, n, maxJoins-1, got)
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name, sim, file string
		code            int
		want            string
	}{
		{"no file", "demo", "testdata/nosuch", 0, "ERR: cannot open testdata/nosuch: No such file or directory\n"},
		{"directory", "demo", "testdata", 0, "INFO: rereg_send_all: sent 0 requests\n"},
		{"option", "demo", "-h", 0, "ERR: cannot open -h: "},
		{"no port", "ibsim", "testdata/members.list", 1, "ERR: Failed to open port\n"},
		{"no manager", "demo,sm=off", "testdata/members.list", 0, "INFO: rereg_query_all: 3 queried.\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := map[string]string{"IBKIT_SIM": test.sim, "IBSIM_SOCKNAME": "ibkit-no-such-server"}
			if code, _, got := program.Run(t, env, "mcm_rereg_test", test.file); code != test.code || !strings.Contains(got, test.want) {
				t.Errorf("got exit code %d, %s, want %d, %s", code, got, test.code, test.want)
			}
		})
	}
}

func TestReadGUIDs(t *testing.T) {
	long := "0x5" + strings.Repeat("0", 300)
	for _, test := range []struct {
		name, text string
		want       int
	}{
		{"empty", "", 0},
		{"without a newline", "0x5", 1},
		{"other lines", "0x5\n\nx\n", 3},
		{"long line", long + "\n", 2},
		{"many", strings.Repeat("0x5\n", 60), maxMembers},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, err := readGUIDs(cmdtest.WriteFile(t, test.text)); err != nil || len(got) != test.want {
				t.Errorf("got %d GUIDs, %v, want %d", len(got), err, test.want)
			}
		})
	}
}
