package route

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

var program = cmdtest.Native(New)

// dumps is the directory with files of opensm for one fabric.
const dumps = "../../route/testdata/opensm"

func TestRoute_Views(t *testing.T) {
	pairs := cmdtest.WriteFile(t, "# pairs\nnode01 node16\n\n0x0002c90000800000 5\n")
	for name, args := range map[string][]string{
		"pair":   {"--sim", "demo", "node01", "node16"},
		"pairs":  {"--sim", "demo", "--pairs", pairs},
		"to-all": {"--sim", "demo", "--from", "node01/1", "--to-all", "--problems"},
		"files":  {"--load", dumps, "host00001", "8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, out, err := program.Run(t, nil, append([]string{"route"}, args...)...)
			if err != "" {
				t.Errorf("got error output %q", err)
			}
			cmdtest.Golden(t, name+".golden", out)
		})
	}
}

func TestRoute_JSON(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../schema/route.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"--sim demo node01 node16", "--sim demo node01 spine1", "--sim demo --from node01 --to-all", "--sim demo:sm=off node01 node02", "--load " + dumps + " 1 8"} {
		t.Run(args, func(t *testing.T) {
			_, out, text := program.Run(t, nil, append([]string{"route", "--json"}, strings.Fields(args)...)...)
			if strings.Contains(args, "sm=off") {
				if !strings.Contains(text, "no port with a LID has this address") {
					t.Errorf("got error output %q, want one about LIDs", text)
				}
				return
			}
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRoute_ExitCodes(t *testing.T) {
	bad := cmdtest.WriteFile(t, "node01 node16\nnode01\n")
	for _, test := range []struct {
		args string
		code int
		err  string
	}{
		{"--sim demo node01 node16", cmdutil.ExitOK, ""},
		{"--sim demo node01 node10", cmdutil.ExitFindings, ""},
		{"--sim demo 4 0,1", cmdutil.ExitOK, ""},
		{"--sim demo node01", cmdutil.ExitUsage, "want two ports, got 1"},
		{"--sim demo node01 nosuch", cmdutil.ExitFailed, "find nosuch: no port with a LID has this address"},
		{"--sim demo node01 192.0.2.1", cmdutil.ExitUsage, "IP addresses are not supported"},
		{"--sim demo node01 4-9", cmdutil.ExitUsage, "want one LID"},
		{"--sim demo --pairs " + bad, cmdutil.ExitUsage, ":2: want two ports, got 1"},
		{"--sim demo --from node01", cmdutil.ExitUsage, "has no effect without --to-all"},
		{"--load /nonexistent 1 2", cmdutil.ExitUsage, "no such file"},
		{"--load " + dumps + "/opensm-subnet.lst 1 8", cmdutil.ExitPartial, ""},
		{"--load " + dumps + " --lmc 8 1 8", cmdutil.ExitUsage, "want 0 to 7"},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, _, err := program.Run(t, nil, append([]string{"route"}, strings.Fields(test.args)...)...)
			if code != test.code || !strings.Contains(err, test.err) || (err != "") != (test.err != "") {
				t.Errorf("got exit code %d, error output %q; want %d, %q", code, err, test.code, test.err)
			}
		})
	}
}
