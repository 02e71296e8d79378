package devinfo

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/testenv"
)

var program = cmdtest.Native(New)

func TestDevinfo_Hosts(t *testing.T) {
	program.RunOnHosts(t, "devinfo", "devinfo --wide", "devinfo --problems")
}

func TestDevinfo_JSON(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../schema/devinfo.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range testenv.Hosts(t) {
		t.Run(name, func(t *testing.T) {
			root := testenv.Host(t, name)
			_, out, _ := program.Run(t, map[string]string{"IBKIT_SYSFS": root}, "devinfo", "--json")
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); err != nil {
				t.Error(err)
			}
			var r devinfo.Result
			cmdtest.RoundTrip(t, out, &r)
			cmdtest.Golden(t, name+".json", strings.ReplaceAll(out, root, "/sys"))
		})
	}
}

func TestDevinfo_NoDevices(t *testing.T) {
	env := map[string]string{"IBKIT_SYSFS": t.TempDir()}
	for _, test := range []struct {
		line, want string
		code       int
	}{
		{"devinfo", "no RDMA device", cmdutil.ExitFailed},
		{"devinfo nosuch", "no such device", cmdutil.ExitFailed},
		{"devinfo --watch --json", "", cmdutil.ExitUsage},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, err := program.Run(t, env, strings.Fields(test.line)...)
			if code != test.code || out != "" || !strings.Contains(err, test.want) {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code %d and %q", code, out, err, test.code, test.want)
			}
		})
	}
}

// TestDevinfo_Simulated shows the local adapter of a simulated fabric, without a look at
// this host.
func TestDevinfo_Simulated(t *testing.T) {
	for _, test := range []struct {
		env        map[string]string
		line, want string
		code       int
	}{
		{nil, "devinfo --sim demo", "sim0    1     InfiniBand  Active  LinkUp    400 Gb/s  4X NDR", cmdutil.ExitOK},
		{map[string]string{"IBKIT_SIM": "demo"}, "devinfo sim0", "description            node01", cmdutil.ExitOK},
		{map[string]string{"IBKIT_SIM": "demo", "SIM_HOST": "node10"}, "devinfo --problems", "sim0/1: port is not active", cmdutil.ExitFindings},
		{map[string]string{"IBKIT_SIM": "demo"}, "devinfo --problems", "", cmdutil.ExitOK},
		{map[string]string{"IBKIT_SIM": "demo"}, "devinfo mlx5_0", "find device mlx5_0: no such device", cmdutil.ExitFailed},
		{map[string]string{"IBKIT_SIM": "demo"}, "devinfo --watch", "exclude IBKIT_SIM", cmdutil.ExitUsage},
		{nil, "devinfo --sim demo --uapi", "are mutually exclusive", cmdutil.ExitUsage},
		{nil, "devinfo --sim moon", `unknown fabric "moon"`, cmdutil.ExitUsage},
		{map[string]string{"IBKIT_SIM": "ibsim", "IBSIM_SOCKNAME": "no such server"}, "devinfo", "no server responds", cmdutil.ExitFailed},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, err := program.Run(t, test.env, strings.Fields(test.line)...)
			if code != test.code || !strings.Contains(out+err, test.want) || test.want == "" && out+err != "" {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code %d and %q", code, out, err, test.code, test.want)
			}
		})
	}
}
