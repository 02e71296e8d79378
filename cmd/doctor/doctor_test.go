package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/testenv"
)

var program = cmdtest.Native(New)

// TestDoctorHosts shows hosts in all views.
func TestDoctorHosts(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../schema/doctor.json")
	if err != nil {
		t.Fatal(err)
	}
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".txtar")
		t.Run(name, func(t *testing.T) {
			root := testenv.UnpackTree(t, archive)
			// Who owns the files of a test is up to who runs it.
			nodes, err := filepath.Glob(filepath.Join(root, "dev/infiniband/*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, node := range nodes {
				if err := os.Chmod(node, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			var all strings.Builder
			for _, line := range []string{"doctor", "doctor --quiet", "doctor --only clock,nodes --skip nodes"} {
				code, out, err := program.Run(t, nil, append(strings.Fields(line), "--root", root)...)
				all.WriteString("$ ibkit " + line + "\n" + strings.ReplaceAll(out+err, root, ""))
				if code != 0 {
					all.WriteString("exit code " + string(rune('0'+code)) + "\n")
				}
			}
			cmdtest.Golden(t, name+".golden", all.String())

			_, out, _ := program.Run(t, nil, "doctor", "--json", "--root", root)
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

// TestDoctorHere looks at this machine, whatever it is.
func TestDoctorHere(t *testing.T) {
	code, out, err := program.Run(t, nil, "doctor", "--timeout", "1ms")
	if code != cmdutil.ExitOK && code != cmdutil.ExitFindings && code != cmdutil.ExitPartial || out == "" || err != "" {
		t.Errorf("exit code %d, output %q, error output %q", code, out, err)
	}
}

func TestDoctorUsage(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"word", `unexpected argument "word"`},
		{"--only nosuch", `no check is called "nosuch" (known: modules, `},
		{"--skip nosuch", `no check is called "nosuch"`},
		{"--json --quiet", "exclude each other"},
		{"--list --only nodes", "exclude each other"},
		{"--timeout 0s", "invalid --timeout"},
		{"--root /nonexistent", "no such file"},
		{"--root doctor_test.go", "is no folder"},
	} {
		code, out, err := program.Run(t, nil, append([]string{"doctor"}, strings.Fields(test.line)...)...)
		if code != cmdutil.ExitUsage || out != "" || !strings.Contains(err, test.want) {
			t.Errorf("%s: exit code %d, output %q, error output %q", test.line, code, out, err)
		}
	}
	code, out, err := program.Run(t, nil, "doctor", "--list")
	if code != cmdutil.ExitOK || !strings.Contains(out, "\nmemlock ") || err != "" {
		t.Errorf("--list: exit code %d, output %q, error output %q", code, out, err)
	}
}
