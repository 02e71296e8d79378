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
	program.RunOnHosts(t, "devinfo", "devinfo --wide", "devinfo --check")
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
