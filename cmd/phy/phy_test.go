package phy

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/sim"
)

var program = cmdtest.Native(New)

// env selects a fabric with faults of cables and devices.
var env = map[string]string{"IBKIT_SIM": "optics"}

func run(t *testing.T, line string) (code int, out, err string) {
	t.Helper()
	return program.Run(t, env, append([]string{"phy"}, strings.Fields(line)...)...)
}

// growing matches counts of bits and blocks, which grow with the simulated time.
var growing = regexp.MustCompile(`(?m)^(  blocks|  symbols per block|  bit error rates .* in) .*$`)

// The output of each form.
func TestPhy_Output(t *testing.T) {
	var all strings.Builder
	refused := cmdtest.WriteFile(t, "0s registers leaf1 0x5052\n")
	for _, line := range []string{
		"", "--devices", "--cables", "--down --alarms --node leaf2", "--down host1", "--csv --node leaf1", "--devices --csv", "--cables --csv --node leaf*",
		"--node host1 --ignore dirty-fibre", "--node spine1 --sim demo,vendor=off", "--devices --sim demo,vendor=off", "--node nosuch",
		"--details --eyes --fec --alarms --node leaf1 --sim-events " + refused,
	} {
		code, out, err := run(t, line)
		fmt.Fprintf(&all, "$ ibkit phy %s\n%s%s", line, out, err)
		if code != 0 {
			fmt.Fprintf(&all, "exit code %d\n", code)
		}
	}
	text := growing.ReplaceAllString(strings.ReplaceAll(all.String(), refused, "EVENTS"), "$1 …")
	cmdtest.Golden(t, "output.golden", text)
}

// The document fits the schema, also with changes and without any register.
func TestPhy_JSON(t *testing.T) {
	_, first, _ := run(t, "--json")
	before := cmdtest.WriteFile(t, first)
	for _, test := range []struct {
		line string
		code int
	}{
		{"--json --down --devices --alarms --fec --eyes --sim-events " + cmdtest.WriteFile(t, "0s pcie host3 narrow\n"), cmdutil.ExitFindings}, {"--json --node host1", cmdutil.ExitOK},
		{"--json --sim demo,vendor=off", cmdutil.ExitFailed}, {"--json --diff " + before, cmdutil.ExitOK},
		{"--json --sim-events " + cmdtest.WriteFile(t, "0s optics leaf1[1] ok\n") + " --diff " + before, cmdutil.ExitFindings},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, errOut := run(t, test.line)
			if code != test.code {
				t.Errorf("got exit code %d, want %d: %s", code, test.code, errOut)
			}
			cmdtest.CheckDocument(t, "../../schema/phy.json", out, new(phy.Report))
		})
	}
	var doc phy.Report
	if err := json.Unmarshal([]byte(first), &doc); err != nil || len(doc.Ends) != 24 {
		t.Errorf("got %d link ends, error %v", len(doc.Ends), err)
	}
}

// The raw form has a line for each register, with the reason for a register without one.
func TestPhy_Raw(t *testing.T) {
	code, out, _ := program.Run(t, env, "phy", "--raw", "--node", "leaf1", "--sim-events", cmdtest.WriteFile(t, "0s registers leaf1 0x5002\n"))
	for _, want := range []string{"leaf1 LID ", "PDDR page 3: 000100002000000360000000", "PMLP: register status 0x04: register not supported, according to the device's list: \n"} {
		if !strings.Contains(out, want) {
			t.Errorf("got %.200s, want %s", out, want)
		}
	}
	if code != cmdutil.ExitFindings {
		t.Errorf("got exit code %d", code)
	}
}

// The inventory has each cable once, with both ends.
func TestPhy_Inventory(t *testing.T) {
	_, out, _ := run(t, "--cables --csv")
	records, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range records[1:] {
		if serial := r[0]; seen[serial] || serial == "" {
			t.Errorf("got serial number %q twice or empty", serial)
		}
		seen[r[0]] = true
	}
	if len(records) != 9 {
		t.Errorf("got %d rows, want 8 cables and modules:\n%s", len(records)-1, out)
	}
}

// A file of ibdiagnet has cables and bit error rates, without light; a file without them is
// an error, as a fabric without them is.
func TestPhy_From(t *testing.T) {
	f, err := sim.Build("optics")
	if err != nil {
		t.Fatal(err)
	}
	r, err := phy.Run(t.Context(), phy.Options{Source: fabric.Source{OpenPort: f.Opener("")}, Switches: true})
	if err != nil {
		t.Fatal(err)
	}
	var with, without bytes.Buffer
	d := &ibdiagnet.Database{Fabric: r.Fabric}
	if err := d.Write(&without); err != nil {
		t.Fatal(err)
	}
	r.Store(d)
	if err := d.Write(&with); err != nil {
		t.Fatal(err)
	}
	file := cmdtest.WriteFile(t, with.String())
	code, out, errOut := program.Run(t, nil, "phy", "--node", "spine2,leaf1", "--from", file)
	if code != cmdutil.ExitFindings || errOut != "" {
		t.Errorf("got exit code %d, error output %q", code, errOut)
	}
	cmdtest.Golden(t, "from.golden", strings.ReplaceAll(out, file, "FILE"))
	code, _, errOut = program.Run(t, nil, "phy", "--from", cmdtest.WriteFile(t, without.String()))
	if want := "read registers: none of 12 devices has them"; code != cmdutil.ExitFailed || !strings.Contains(errOut, want) {
		t.Errorf("got exit code %d, error output %q, want %s", code, errOut, want)
	}
}

func TestPhy_Usage(t *testing.T) {
	for line, want := range map[string]string{
		"--json --csv":        "mutually exclusive",
		"--raw --json":        "mutually exclusive",
		"--cables --devices":  "mutually exclusive",
		"--fec":               "--fec has no effect without --json, --raw or --details",
		"--diff /nonexistent": "hint: store a reading: ibkit phy --json > FILE",
		"--node [":            `invalid pattern "["`,
		"--eyes":              "--eyes has no effect without --json, --raw or --details",
		"--details --json":    "mutually exclusive",
		"--carrier push":      `invalid --carrier "push"`,
		"--from x --alarms":   "are mutually exclusive",
		"--from nosuch":       "no such file",
		"--vs-key zz":         "invalid vendor key",
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := run(t, line)
			if code != cmdutil.ExitUsage || out != "" || !strings.Contains(err, want) {
				t.Errorf("got exit code %d, %q, %q, want %s", code, out, err, want)
			}
		})
	}
}
