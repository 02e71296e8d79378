package check

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/check"
)

// times are the parts of outputs that differ between runs.
var times = regexp.MustCompile(`(time=)[0-9.e-]+s|(time(?:stamp)?=)"[^"]*"`)

// quick are the thresholds for tests: the activity of managers is read once.
func quick(t *testing.T) string {
	t.Helper()
	return cmdtest.WriteFile(t, "sm_wait: 0s\n")
}

func TestCheckFabric_Views(t *testing.T) {
	for name, args := range map[string]string{
		"fabric-demo":       "--sim demo --limit 2",
		"fabric-nagios":     "--sim demo --format nagios",
		"fabric-nhc":        "--sim demo --format nhc",
		"fabric-junit":      "--sim demo --format junit",
		"fabric-rails":      "--sim rails,vendor=on",
		"fabric-unassigned": "--sim demo,sm=off --limit 1 --skip firmware",
		"fabric-only":       "--sim demo --only links,speed",
	} {
		t.Run(name, func(t *testing.T) {
			line := append([]string{"check", "fabric", "--thresholds", quick(t), "-t", "50"}, strings.Fields(args)...)
			code, out, err := program.Run(t, nil, line...)
			if err != "" {
				t.Errorf("got error output %q", err)
			}
			cmdtest.Golden(t, name+".golden", times.ReplaceAllString(out, "$1$2-")+"exit code "+string(rune('0'+code))+"\n")
		})
	}
}

// root returns a root directory with the sysfs of a host.
func root(t *testing.T, host string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(testenv.Host(t, host), filepath.Join(dir, "sys")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestCheckNode_Views(t *testing.T) {
	for _, host := range testenv.Hosts(t) {
		t.Run(host, func(t *testing.T) {
			dir := root(t, host)
			manifest := filepath.Join(t.TempDir(), "node.yaml")
			var all strings.Builder
			for _, line := range []string{
				"--write-expect MANIFEST", "--expect MANIFEST", "--format nagios", "--format nhc", "--format npd",
			} {
				line = strings.ReplaceAll(line, "MANIFEST", manifest)
				code, out, err := program.Run(t, nil, append([]string{"check", "node", "--root", dir}, strings.Fields(line)...)...)
				all.WriteString("$ ibkit check node " + strings.ReplaceAll(line, manifest, "node.yaml") + "\n" + times.ReplaceAllString(strings.ReplaceAll(out+err, dir, ""), "$1$2-"))
				if code != 0 {
					all.WriteString("exit code " + string(rune('0'+code)) + "\n")
				}
			}
			text, err := os.ReadFile(manifest)
			if err != nil {
				t.Fatal(err)
			}
			cmdtest.Golden(t, "node-"+host+".golden", all.String()+"$ cat node.yaml\n"+string(text))
		})
	}
}

func TestCheck_JSON(t *testing.T) {
	for _, line := range [][]string{
		{"fabric", "--sim", "demo", "--json", "--thresholds", quick(t), "--skip", "firmware"},
		{"fabric", "--sim", "demo,sm=off", "--format", "json", "--only", "discovery,lids"},
		{"node", "--root", root(t, "broken"), "--json"},
		{"node", "--root", t.TempDir(), "--json"},
	} {
		t.Run(strings.Join(line[:3], " "), func(t *testing.T) {
			_, out, _ := program.Run(t, nil, append([]string{"check"}, line...)...)
			var r check.Report
			cmdtest.CheckDocument(t, "../../schema/check.json", out, &r)
		})
	}
}

// A stored fabric has the findings of the files.
func TestCheckFabric_Stored(t *testing.T) {
	code, out, _ := program.Run(t, nil, "check", "fabric", "--from", "../../fabric/ibdiagnet/testdata/nosuch")
	if code != cmdutil.ExitUsage {
		t.Errorf("got exit code %d and %q, want %d", code, out, cmdutil.ExitUsage)
	}
	_, out, err := program.Run(t, nil, "check", "fabric", "--from", dumps+"/opensm-subnet.lst", "--tables", dumps)
	if err != "" || !strings.Contains(out, "routing      passed") || !strings.Contains(out, "sm           skipped") {
		t.Errorf("got %s%s, want the stage routing", out, err)
	}
}

// The files of another kernel are no subject for the checks of the running one.
func TestCheckNode_OtherKernel(t *testing.T) {
	code, out, err := program.Run(t, map[string]string{"IBKIT_SYSFS": t.TempDir()}, "check", "node")
	const want = "ibkit check node: check node checks the running kernel, but IBKIT_SYSFS has another kernel's files\nhint: select the root directory of another host: --root DIR\n"
	if code != cmdutil.ExitFailed || out != "" || err != want {
		t.Errorf("got exit code %d, %q and error output %q, want %q", code, out, err, want)
	}
}

// Errors are the state UNKNOWN for Nagios, whose plugins have other exit codes.
func TestCheck_NagiosErrors(t *testing.T) {
	for _, line := range []string{
		"node --format nagios --expect /nonexistent",
		"node --format nagios --nosuch",
		"node --format nagios word",
		"node --format nagios --state-file ",
		"fabric --format nagios --sim nosuch",
		"fabric --format nagios --thresholds /nonexistent",
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, nil, append([]string{"check"}, strings.Split(line, " ")...)...)
			if code != int(statusUnknown) || !strings.HasPrefix(out, "IBKIT ") || !strings.Contains(out, " UNKNOWN - ") || err != "" {
				t.Errorf("got exit code %d, output %q, error output %q, want UNKNOWN", code, out, err)
			}
		})
	}
}

// Errors are the state Unknown for Node Problem Detector: its plugins report a problem with 1.
func TestCheck_NPDErrors(t *testing.T) {
	for line, want := range map[string]string{
		"node --format npd --expect /nonexistent": "open /nonexistent: no such file or directory\n",
		"node --format npd --nosuch":              "unknown flag: --nosuch\n",
		"fabric --format npd --sim nosuch":        "nosuch",
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, nil, append([]string{"check"}, strings.Fields(line)...)...)
			if code != npdUnknown || !strings.Contains(out, want) || strings.Count(out, "\n") != 1 || err != "" {
				t.Errorf("got exit code %d, output %q, error output %q, want %d and a line with %q", code, out, err, npdUnknown, want)
			}
		})
	}
}

func TestCheck_Usage(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"node word", `unexpected argument "word"`},
		{"node --only nosuch", `invalid --only "nosuch"`},
		{"node --only flaps --skip flaps", "no stage left"},
		{"node --only flaps", "invalid --only flaps: requires --state-file"},
		{"fabric --sim demo --only ber,plan", "invalid --only ber: requires --window or --since or --phy"},
		{"node --json --format text", "are mutually exclusive"},
		{"node --format json --limit 3", "are mutually exclusive"},
		{"node --limit -1", "invalid --limit -1"},
		{"node --write-expect x --expect y", "are mutually exclusive"},
		{"node --root /nonexistent", "no such file"},
		{"node --ignore-devices [", "want a pattern"},
		{"node --expect testdata/empty.yaml", "testdata/empty.yaml:2: manifest: got no devices"},
		{"node --expect /nonexistent", "read manifest: open /nonexistent"},
		{"node --state-file /proc/self/status", "not a state of ibkit check node"},
		{"fabric --window 0s", "invalid --window"},
		{"fabric --window 1s --since x", "are mutually exclusive"},
		{"fabric --lmc 3", "no effect without --tables"},
		{"fabric --from x --sim demo", "are mutually exclusive"},
		{"fabric --plan /nonexistent", "no such file"},
		{"fabric --list --json", "are mutually exclusive"},
		{"fabric --from x --phy", "are mutually exclusive"},
		{"fabric --sim demo --vs-key zz", "invalid vendor key"},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, err := program.Run(t, nil, append([]string{"check"}, strings.Fields(test.line)...)...)
			if code != cmdutil.ExitUsage || out != "" || !strings.Contains(err, test.want) {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code %d and error %q", code, out, err, cmdutil.ExitUsage, test.want)
			}
		})
	}
}

func TestCheck_List(t *testing.T) {
	for _, scope := range []string{"node", "fabric"} {
		t.Run(scope, func(t *testing.T) {
			code, out, err := program.Run(t, nil, "check", scope, "--list")
			if code != cmdutil.ExitOK || err != "" {
				t.Errorf("got exit code %d, error output %q", code, err)
			}
			cmdtest.Golden(t, scope+"-list.golden", out)
		})
	}
}

// The written thresholds are the defaults.
func TestCheck_WriteThresholds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "thresholds.yaml")
	if code, _, err := program.Run(t, nil, "check", "fabric", "--write-thresholds", path); code != 0 {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cmdtest.Golden(t, "thresholds.golden", string(text))
	if code, out, err := program.Run(t, nil, "check", "node", "--root", root(t, "siw"), "--thresholds", path, "--only", "devices"); code != 0 {
		t.Errorf("got exit code %d, output %q, error output %q", code, out, err)
	}
}

// Hostile names neither control the terminal nor break the formats.
func TestCheck_Hostile(t *testing.T) {
	events := cmdtest.WriteFile(t, "0s describe node06 \x1b[2J|<&>'\"\n0s pkeys node06[1] 0x8001\n")
	for _, format := range []string{"text", "nagios", "nhc", "npd", "junit", "json"} {
		t.Run(format, func(t *testing.T) {
			_, out, _ := program.Run(t, nil, "check", "fabric", "--sim", "demo", "--sim-events", events, "--only", "pkeys", "--format", format)
			if strings.Contains(out, "\x1b") || !strings.Contains(out, "no-default-partition") {
				t.Errorf("got %q, want the finding without control characters", out)
			}
			switch format {
			case "junit":
				var suites junitSuites
				if err := xml.Unmarshal([]byte(out), &suites); err != nil || suites.Suites[0].Failures != 1 {
					t.Errorf("got %+v and error %v, want one failure", suites, err)
				}
			case "nagios":
				line, _, _ := strings.Cut(out, "\n")
				if strings.Count(line, "|") != 1 {
					t.Errorf("got %q, want one separator of performance data", line)
				}
			}
		})
	}
}

// A verdict names the data that a file lacks, in each form.
func TestCheckFabric_NotJudged(t *testing.T) {
	const lacks = "; not judged: links, sm, sa, pkeys, cables, temperature, power, counters, ber, firmware, routing"
	for args, want := range map[string]struct {
		text string
		code int
	}{
		"parallel-slow.topo":                                      {"\nfabric: 0 errors, 2 warnings" + lacks, cmdutil.ExitOK},
		"parallel-slow.topo --format nagios":                      {"FABRIC WARNING - 0 errors, 2 warnings in 19 stages" + lacks, 1},
		"parallel-slow.topo --format npd":                         {"0 errors, 2 warnings" + lacks + "\n", 0},
		"parallel-slow.topo --format npd --fail-severity warning": {"; speed/", npdProblem},
		"two-subnets.topo --only sm --format npd":                 {"0 errors, 0 warnings; not judged: sm", npdUnknown},
		"two-subnets.topo --format nagios":                        {"FABRIC OK - 0 errors, 0 warnings in 19 stages; not judged: links, speed,", 0},
		"two-subnets.topo --only sm":                              {"\nfabric: 0 errors, 0 warnings; not judged: sm", cmdutil.ExitPartial},
		"two-subnets.topo --only sm --format nagios":              {"FABRIC UNKNOWN - 0 errors, 0 warnings in 1 stage; not judged: sm", 3},
		"two-subnets.topo --only rails":                           {"\nfabric: 0 errors, 0 warnings; nothing was judged", cmdutil.ExitPartial},
	} {
		t.Run(args, func(t *testing.T) {
			code, out, err := program.Run(t, nil, append([]string{"check", "fabric", "--from"}, strings.Fields("../../test/topologies/"+args)...)...)
			if code != want.code || !strings.Contains(out, want.text) || err != "" {
				t.Errorf("got exit code %d, output\n%s\nerror output %q, want %d, %q", code, out, err, want.code, want.text)
			}
		})
	}
}
