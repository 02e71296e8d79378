package cmd

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
)

var program = cmdtest.Program(run)

// TestUsageErrors checks that usage errors are reported with exit code 2.
func TestUsageErrors(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"nonsense"}, "unknown command"},
		{[]string{"help", "nonsense"}, "unknown command"},
		{[]string{"completion"}, "no shell given"},
		{[]string{"completion", "csh"}, "unknown shell"},
		{[]string{"version", "word"}, "unexpected argument"},
		{[]string{"linkinfo", "--nonsense"}, "unknown flag: --nonsense"},
		{[]string{"linkinfo", "--nonsense"}, "hint: list all flags: ibkit linkinfo --help"},
		{[]string{"topology", "--compare"}, "hint: ibkit linkinfo --compare shows differences from the subnet manager's records"},
		{[]string{"nonsense"}, "hint: list all commands: ibkit --help"},
		{[]string{"linkinf"}, "hint: similar: linkinfo; list all commands: ibkit --help"},
		{[]string{""}, "hint: list all commands: ibkit --help"},
		{[]string{"ibdiagnet", "-c"}, "hint: ibkit check fabric replaces ibdiagnet"},
		{[]string{"sim", "ls"}, "hint: try ibkit sim list; list all commands: ibkit sim --help"},
		{[]string{"linkinfo", "--problem"}, "unknown flag: --problem"},
		{[]string{"doctor", "word"}, `unexpected argument "word"`},
		{[]string{"linkinfo", "--route", "0,x"}, `element 2: "x" is not a port number`},
		{[]string{"linkinfo", "--route", "1,2"}, "element 1 is the local node"},
		{[]string{"linkinfo", "--port-guid", "0x12g4"}, "GUID"},
		{[]string{"linkinfo", "--route", ""}, "invalid --route: the value is empty"},
		{[]string{"linkinfo", "--port-guid", ""}, "invalid --port-guid: the value is empty"},
		{[]string{"linkinfo", "-C", ""}, "invalid -C (--Ca): the value is empty"},
		{[]string{"linkinfo", "--sim", "demo", "--node", ""}, "invalid --node: the value is empty"},
		{[]string{"linkinfo", "--sim", "demo", "--save="}, "invalid --save: the value is empty"},
		{[]string{"linkinfo", "--sim", "demo", "--diff", ""}, "invalid --diff: the value is empty"},
		{[]string{"linkinfo", "--from", ""}, "invalid --from: the value is empty"},
		{[]string{"linkinfo", "--sim", "net:"}, "read fabric: no file name after the format"},
		{[]string{"linkinfo", "--sim", ""}, "invalid --sim: the value is empty"},
		{[]string{"ping", "--sim", "demo", "--expect", "", "3"}, "invalid --expect: the value is empty"},
		{[]string{"doctor", "--only", ""}, `invalid --only ""`},
		{[]string{"doctor", "--only", "sm", "--skip", "sm"}, "no check left"},
		{[]string{"sim", "export", "demo", "--output", ""}, "invalid --output: the value is empty"},
		{[]string{"linkinfo", "-t", "4294967295"}, `invalid --timeout "4294967295": want a number of milliseconds from 1 to 2147483647`},
		{[]string{"devinfo", ""}, `invalid device ""`},
		{[]string{"linkinfo", "--hops", "-1"}, "invalid --hops -1"},
		{[]string{"linkinfo", "-t", "0"}, "invalid --timeout"},
		{[]string{"linkinfo", "-o", "0"}, "invalid --outstanding-smps"},
		{[]string{"linkinfo", "--port-guid", "0x1", "--sm-port", "0xc000"}, "invalid --sm-port"},
		{[]string{"linkinfo", "-y", "secret"}, "invalid M_Key"},
		{[]string{"linkinfo", "--sim", "moon"}, `unknown fabric "moon": not a file, and not one of demo, `},
		{[]string{"linkinfo", "--sort", "colour"}, `want one of fabric, finding, lid, name, speed`},
		{[]string{"linkinfo", "--speed", "UDR"}, `"UDR": want one of SDR, `},
		{[]string{"linkinfo", "--finding", "odd"}, `"odd": want one of no-reply, `},
		{[]string{"linkinfo", "--node", "["}, "invalid pattern"},
		{[]string{"linkinfo", "--diff", "x", "--diffcheck", "port,speed"}, `"speed": want one of port, state, lid, nodedesc`},
		{[]string{"linkinfo", "--json", "--csv"}, "are mutually exclusive"},
		{[]string{"linkinfo", "--port-guid", "0x1", "--route", "0,1"}, "--route and --port-guid are mutually exclusive"},
		{[]string{"linkinfo", "--from", "x", "--timeout", "5"}, "--from x and -t (--timeout) are mutually exclusive"},
		{[]string{"linkinfo", "--diff", "x", "--problems"}, "--diff and --problems are mutually exclusive"},
		{[]string{"linkinfo", "--json", "--sort", "lid"}, "--json and --sort are mutually exclusive"},
		{[]string{"linkinfo", "--all-nodes"}, "--all-nodes has no effect without --port-guid or --route"},
		{[]string{"linkinfo", "--show-keys"}, "--show-keys has no effect without --attributes"},
		{[]string{"linkinfo", "--sim", "demo", "-C", "mlx5_0"}, "are mutually exclusive"},
		{[]string{"linkinfo", "-z", "/nonexistent"}, "read config"},
		{[]string{"linkinfo", "-z", cmdtest.WriteFile(t, "CA=x\nPort=y\n")}, `:2: Port: "y" is not an unsigned 8-bit number`},
		{[]string{"linkinfo", "--node-name-map", "/nonexistent"}, "read node name map"},
		{[]string{"linkinfo", "--node-name-map", cmdtest.WriteFile(t, "0x1 \"a\"\nbad\n")}, ":2:"},
		{[]string{"linkinfo", "--diff", "/nonexistent"}, "compare fabric: read cache"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			code, out, err := program.Run(t, nil, test.args...)
			if code != cmdutil.ExitUsage || !strings.Contains(err, test.want) || out != "" {
				t.Errorf("got exit code %d, output %q, error output %q, want error %q", code, out, err, test.want)
			}
		})
	}
}

// TestNoServer checks that the error for a missing server contains its address.
func TestNoServer(t *testing.T) {
	env := map[string]string{"IBSIM_SOCKNAME": "no such server"}
	for _, args := range [][]string{
		{"linkinfo", "--sim", "ibsim"},
		{"iblinkinfo", "--sim", "ibsim"},
	} {
		t.Run(args[0], func(t *testing.T) {
			code, out, err := program.Run(t, env, args...)
			if code != cmdutil.ExitFailed || out != "" || !strings.Contains(err, `attach to ibsim "no such server"`) || !strings.Contains(err, "hint: start a server: ibkit sim serve demo & (or: ibsim -s NETFILE)") {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code %d and a hint", code, out, err, cmdutil.ExitFailed)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	code, out, _ := program.Run(t, nil, "linkinfo", "--help")
	if code != cmdutil.ExitOK || !strings.Contains(out, "Examples:") || !strings.Contains(out, "--outstanding-smps") {
		t.Errorf("exit code %d, output %q", code, out)
	}
}

// TestClassic_Sim checks that each classic name accepts the options for simulated fabrics.
func TestClassic_Sim(t *testing.T) {
	env := &cmdutil.Env{Out: io.Discard, ErrOut: io.Discard, Getenv: func(string) string { return "" }}
	for name, e := range registry {
		if e.tool == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			options := e.tool(env).Options
			for _, long := range []string{"sim", "sim-model", "sim-events"} {
				if !slices.ContainsFunc(options, func(o getopt.Option) bool { return o.Long == long }) {
					t.Errorf("got no option --%s", long)
				}
			}
		})
	}
}

// TestClassic_FilesOnly checks the error of --sim with the tools that read files.
func TestClassic_FilesOnly(t *testing.T) {
	for _, name := range []string{"check_lft_balance", "ibcacheedit"} {
		t.Run(name, func(t *testing.T) {
			code, _, err := program.Run(t, nil, name, "--sim", "demo")
			if code == cmdutil.ExitOK || !strings.Contains(err, "use a simulated fabric: the command reads files only") {
				t.Errorf("got exit code %d, error output %q", code, err)
			}
		})
	}
}
