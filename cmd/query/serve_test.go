package query

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/query"
)

// Texts of a server are shown as lines, as rows of a table, and in JSON and CSV.
func TestQuery_Serve(t *testing.T) {
	program := cmdtest.Native(New)
	f := cmdtest.ServeDemo(t)
	server := program.Start(f.Env("node05"), "query", "--serve", "--debug", "--oui", "0x1406")
	server.ErrOut.Await(t, "serving Ping, HostInfo and CPUInfo at ibsim0/1 (LID "+f.LIDs["node05"]+")\n")
	for _, test := range []struct {
		args string
		code int
		want string // regular expression
	}{
		{"Ping LID", 0, `^Ping of LID \d+\n  reply after \d+\S+\n$`},
		{"host LID", 0, `^HostInfo of LID \d+\n  \S+\n$`},
		{"cpu node05", 0, `^CPUInfo of LID \d+ "node05"\n  cpu 0: model .* MHZ .*\n`},
		{"host --csv LID", 0, `^node,node_guid,lid,port,error,Text\nnode05,0x0002c90000100800,\d+,,,\S+\n$`},
		{"host --json LID", 0, `"attribute":{"class":"sysstat","id":17,"name":"HostInfo"}(.|\n)*"data":"[^"]+","error":null`},
		{"host --hex LID", 0, `^0000  [0-9a-f]{4} `},
		{"host --node node0[56]", 4, `^HostInfo of LID \d+ "node05"\n`},
	} {
		t.Run(test.args, func(t *testing.T) {
			args := strings.Fields(strings.ReplaceAll(test.args, "LID", f.LIDs["node05"]))
			code, out, stderr := program.Run(t, f.Env("node07"), append([]string{"query", "--oui", "0x1406", "-t", "1000"}, args...)...)
			if code != test.code || !regexp.MustCompile(test.want).MatchString(out) {
				t.Errorf("got exit code %d and\n%s%swant %d and %s", code, out, stderr, test.code, test.want)
			}
			if !strings.Contains(test.args, "--json") {
				return
			}
			cmdtest.CheckDocument(t, "../../schema/query.json", out, new(query.Report))
		})
	}
	// A server with another OUI does not reply.
	code, _, stderr := program.Run(t, f.Env("node07"), "query", "host", "-t", "5", f.LIDs["node05"])
	if code != cmdutil.ExitFailed || !strings.Contains(stderr, "hint: start ibkit query --serve") {
		t.Errorf("another OUI: got exit code %d: %s", code, stderr)
	}
	if code := server.End(); code != cmdutil.ExitOK || !strings.Contains(server.ErrOut.String(), "another OUI") {
		t.Errorf("server: got exit code %d: %s", code, server.ErrOut)
	}
}

func TestQuery_ServeUsage(t *testing.T) {
	program := cmdtest.Native(New)
	for _, test := range []struct{ args, want string }{
		{"--serve host", "unexpected argument"},
		{"--serve --json", "--json has no effect with --serve"},
		{"--serve --oui 0x1000000", "24 bits"},
		{"--serve --sim demo", "no other process can reach"},
		{"--debug host 3", "has no effect without --serve"},
		{"--sim demo --oui 5 PI 3", "--oui has no effect on PortInfo"},
		{"--sim demo --cc-key 5 PI 3", "--cc-key has no effect on PortInfo"},
		{"--sim demo --oui 0x1000000 host 3", "24 bits"},
		{"--sim demo --columns x host 3", "no known fields"},
		{"--sim demo host 3 1", "no ports to select"},
		{"--sim demo --sa host 3", "no records of HostInfo"},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, out, stderr := program.Run(t, nil, append([]string{"query"}, strings.Fields(test.args)...)...)
			if code != cmdutil.ExitUsage || out != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code %d and error %q", code, out, stderr, cmdutil.ExitUsage, test.want)
			}
		})
	}
}
