package cc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/cc"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/ibsim"
	"github.com/ibkit/ibkit/umad/umadtest"
)

var program = cmdtest.Native(New)

// env selects a fabric whose nodes all have an agent.
var env = map[string]string{"IBKIT_SIM": "fat-tree:levels=2,radix=4"}

func run(t *testing.T, line string) (code int, out, err string) {
	t.Helper()
	return program.Run(t, env, append([]string{"cc", "-t", "20"}, strings.Fields(line)...)...)
}

// The output of each form; test/oracle compares the values with the C tools'.
func TestCC_Output(t *testing.T) {
	const settings = "testdata/cc.conf"
	var all strings.Builder
	for _, line := range []string{
		"", "--show ports,sls,cct --node *001", "--node nosuch", "--settings " + settings + " --dry-run --node *1", "--settings " + settings + " --yes",
		"--settings " + cmdtest.WriteFile(t, "[port]\nports = 9\ncontrol = switch\n") + " --yes",
		"--settings " + cmdtest.WriteFile(t, "[port]\nnode = leaf9\ncontrol = switch\n") + " --yes",
		"--settings " + cmdtest.WriteFile(t, "[switch]\nthreshold = 0\n") + " --yes",
	} {
		code, out, err := run(t, line)
		fmt.Fprintf(&all, "$ ibkit cc %s\n%s%s", regexp.MustCompile(`--settings /\S+`).ReplaceAllString(line, "--settings FILE"), out, err)
		if code != 0 {
			fmt.Fprintf(&all, "exit code %d\n", code)
		}
	}
	cmdtest.Golden(t, "output.golden", all.String())
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCC_Usage(t *testing.T) {
	settings := "testdata/cc.conf"
	for line, want := range map[string]string{
		"leaf1":     `unexpected argument "leaf1"`,
		"--yes":     "--yes has no effect without --settings",
		"--dry-run": "--dry-run has no effect without --settings",
		"--settings " + settings + " --dry-run --yes":                     "--dry-run and --yes are mutually exclusive",
		"--settings " + settings:                                          "not confirmed: standard input is not a terminal; use --yes",
		"--settings " + settings + " --show nodes":                        "--settings and --show are mutually exclusive",
		"--settings /nonexistent":                                         "read settings: open /nonexistent",
		"--settings -":                                                    "read settings: standard input: no settings",
		"--settings " + cmdtest.WriteFile(t, "[switch]\nthreshold = x\n"): `file:2: invalid threshold "x": want a number from 0 to 15`,
		"--show nosuch":                                                   "want one of nodes, ports, sls, cct",
		"--node [":                                                        `invalid pattern "["`,
		"--cc-key @/nonexistent":                                          "read CC_Key: open /nonexistent",
		"--cc-key -":                                                      "no terminal for a prompt",
	} {
		t.Run(line, func(t *testing.T) {
			if code, out, err := run(t, line); code != 2 || !strings.Contains(err, want) {
				t.Errorf("got exit code %d, want 2 with %q\n%s%s", code, want, out, err)
			}
		})
	}
}

// The log has a line before and after each change, without the key.
func TestCC_Log(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	settings := cmdtest.WriteFile(t, "[switch]\nnode = spine002\nthreshold = 9\n[sl]\nnode = host00003\nsls=2,3\nccti_timer = 7\n")
	code, out, err := run(t, "--yes --cc-key 0x1234 --log "+log+" --settings "+settings)
	if code != 0 {
		t.Fatalf("got exit code %d\n%s%s", code, out, err)
	}
	text := readFile(t, log)
	for _, want := range []string{
		`msg=begin user=\S+ login=\S+ port_guid=0x\w+ port=0 name=spine002 threshold="0 → 9"\n`,
		`msg=end user=\S+ login=\S+ port_guid=0x\w+ port=0 name=spine002 threshold="0 → 9" result=changed\n`,
		`msg=end user=\S+ login=\S+ port_guid=0x\w+ port=1 name=host00003 sl_2-3_ccti_timer="0 → 7" result=changed\n`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("got\n%s\nwant %s", text, want)
		}
	}
	if strings.Count(text, "\n") != 4 || strings.Contains(text, "1234") {
		t.Errorf("got\n%s", text)
	}
}

// The JSON conforms to the schema and to the Go type.
func TestCC_JSON(t *testing.T) {
	settings := cmdtest.WriteFile(t, "[port]\nports=1\ncontrol=starvation\ncs_return_delay=1:2\n[switch]\nthreshold=3\n[adapter]\ncct=0:0,1:1\n")
	impossible := cmdtest.WriteFile(t, "[port]\nports = 9\ncontrol = switch\n")
	for _, line := range []string{"", "--settings " + settings + " --dry-run", "--settings " + settings + " --yes", "--settings " + impossible + " --yes"} {
		for name, fabric := range map[string]string{"all": env["IBKIT_SIM"], "demo": "demo"} {
			t.Run(name+" "+line, func(t *testing.T) {
				_, out, _ := program.Run(t, map[string]string{"IBKIT_SIM": fabric}, append([]string{"cc", "-t", "20", "--json"}, strings.Fields(line)...)...)
				cmdtest.CheckDocument(t, "../../schema/cc.json", out, &cc.Report{})
			})
		}
	}
}

// A key of another agent: each failure is named, and the others are changed.
func TestCC_Key(t *testing.T) {
	served := cmdtest.ServeDemo(t)
	settings := cmdtest.WriteFile(t, "[switch]\nthreshold = 9\n")
	key := cmdtest.WriteFile(t, "0x77\n")
	cck := func(args ...string) (int, string, string) {
		return program.Run(t, served.Env("node05"), append([]string{"cc", "-t", "20", "--settings", settings, "--yes", "--node", "leaf*"}, args...)...)
	}
	setKey(t, served.Env("node05")["IBSIM_SOCKNAME"], 8, 0x77)
	code, out, err := cck()
	if code != 4 || !strings.Contains(out, "changed 3 of 4 nodes") || !strings.Contains(err, "leaf2: no reply: Set CongestionControl SwitchCongestionSetting of LID 8") || !strings.Contains(err, "another CC_Key (-c @FILE)") {
		t.Errorf("without the key: got exit code %d\n%s%s", code, out, err)
	}
	if code, out, err := cck("--cc-key", "@"+key); code != 0 || !strings.Contains(out, "changed 1 of 1 node\n") || !strings.Contains(out, "1 node to change, 3 with these settings") {
		t.Errorf("with the key: got exit code %d\n%s%s", code, out, err)
	}
}

// An interruption between two Sets reports both nodes.
func TestCC_Interrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out, errOut bytes.Buffer
	tamper := umadtest.Tamper{Lose: func(m *umad.Message) bool {
		if m.MAD.Class() == mad.ClassCC && m.MAD.Method() == mad.MethodSet {
			cancel()
		}
		return false
	}}
	e := &cmdutil.Env{In: strings.NewReader("[switch]\nthreshold = 9\n"), Out: &out, ErrOut: &errOut, Getenv: func(string) string { return "" }, Transport: tamper.Port}
	code := program(ctx, e, []string{"cc", "--sim", "demo", "-o", "1", "--node", "leaf[12]", "--yes", "--settings", "-"})
	if code != 4 || !strings.HasSuffix(out.String(), "leaf1: unverified\nleaf2: not attempted\nchanged 1 of 2 nodes\n") || !strings.Contains(errOut.String(), "interrupted") {
		t.Errorf("got exit code %d\n%s%s", code, &out, &errOut)
	}
}

// setKey sets the CC_Key of an agent.
func setKey(t *testing.T, socket string, lid ib.LID, key mad.Key) {
	t.Helper()
	port, err := ibsim.Open(t.Context(), ibsim.Options{SockName: socket})
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	c := umad.NewClient(port, umad.ClientOptions{})
	if err := c.Set(t.Context(), umad.Target{LID: lid}, &mad.CongestionKeyInfo{Key: key}, umad.Expect(umad.Identity{})); err != nil {
		t.Fatal(err)
	}
}

// Without an agent that replied, there is no verdict.
func TestCC_NoAgent(t *testing.T) {
	code, out, _ := program.Run(t, nil, "cc", "-t", "20", "--sim", "demo,sm=off")
	const want = "\n22 agents: 0 with congestion control, 0 have it on: partial result, no agent to compare\n"
	if code != cmdutil.ExitPartial || !strings.HasSuffix(out, want) {
		t.Errorf("got exit code %d, output\n%s\nwant %d, %q", code, out, cmdutil.ExitPartial, want)
	}
}
