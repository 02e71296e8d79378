package cmd

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ibkit/ibkit/internal/testenv"
)

// host is the sysfs of a host, by the name of an archive.
func host(t *testing.T, archive string) string {
	t.Helper()
	return testenv.UnpackTree(t, archive)
}

// pids are in the messages of ibstat.
var pids = regexp.MustCompile(`\[[0-9]+\]`)

// TestDevinfoHosts looks at hosts with cards of all kinds, in all views.
func TestDevinfoHosts(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../schema/devinfo.json")
	if err != nil {
		t.Fatal(err)
	}
	archives, err := filepath.Glob("testdata/devinfo/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".txtar")
		t.Run(name, func(t *testing.T) {
			root := host(t, archive)
			env := map[string]string{"IBKIT_SYSFS": root}
			var all strings.Builder
			for _, line := range []string{"devinfo", "devinfo --wide", "devinfo --check", "ibstat", "ibstat -p", "ibstatus", "ibv_devices"} {
				code, out, err := runCommand(t, env, strings.Fields(line)...)
				err = pids.ReplaceAllString(strings.ReplaceAll(err, root, "/sys"), "[]")
				if code != 0 {
					err += "exit code " + string(rune('0'+code%10)) + "\n"
				}
				all.WriteString("$ ibkit " + line + "\n" + out + err)
			}
			golden(t, "devinfo/"+name+".golden", all.String())

			_, out, _ := runCommand(t, env, "devinfo", "--json")
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); err != nil {
				t.Error(err)
			}
			golden(t, "devinfo/"+name+".json", strings.ReplaceAll(out, root, "/sys"))
		})
	}
}

// TestDevinfoNothing looks at a host without RDMA.
func TestDevinfoNothing(t *testing.T) {
	env := map[string]string{"IBKIT_SYSFS": t.TempDir()}
	for _, test := range []struct {
		line, out, err string
		code           int
	}{
		{"devinfo", "", "there are none", exitFailed},
		{"devinfo nosuch", "", "no such device", exitFailed},
		{"devinfo --watch --json", "", "", exitUsage},
		{"ibv_devinfo", "", "Failed to get IB devices list: Function not implemented", classicFailure},
		{"ibv_devices", "", "Failed to get IB devices list: Function not implemented", 1},
		{"ibstat", "", "", 0},
		{"ibstat -l", "", "", 0},
		{"ibstatus", "Fatal error:  No devices\n", "", classicFailure},
	} {
		code, out, err := runCommand(t, env, strings.Fields(test.line)...)
		if code != test.code || out != test.out || !strings.Contains(err, test.err) {
			t.Errorf("%s: exit code %d, %q, %q", test.line, code, out, err)
		}
	}
}

func TestStrtol(t *testing.T) {
	for text, want := range map[string]int{"12abc": 12, "0x1f": 31, "010": 8, "-3": -3, "x": 0, "": 0, " 7": 7, "08": 0} {
		if got := strtol(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
