package port

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/portchange"
)

var program = cmdtest.Native(New)

// run runs a command line on the fabric demo, without the system log.
func run(t *testing.T, line string) (code int, out, err string) {
	t.Helper()
	return program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"port", "-t", "10"}, strings.Fields(line)...)...)
}

func TestPort_Output(t *testing.T) {
	var all strings.Builder
	for _, line := range []string{
		"leaf1 3", "node07", "leaf1 9", "leaf1",
		"--dry-run leaf1 1 disable", "--dry-run leaf1 4 disable", "--dry-run leaf1 3 disable", "--dry-run leaf1 4 reset espeed=FDR,EDR", "--dry-run node02 mkey=7 mkeyprot=1", "--dry-run leaf1 1 espeed=XDR",
		"--yes leaf1 1 disable", "--yes leaf1 4 disable", "--yes --force last-link leaf1 4 disable", "--yes leaf1 1 enable", "--yes leaf2 1 reset", "--yes leaf1 4 reset", "--yes --wait 1ms leaf1 9 reset", "--yes --force own-link,last-link node02 down",
	} {
		code, out, err := run(t, line)
		all.WriteString("$ ibkit port " + line + "\n" + regexp.MustCompile(`after [\d.]+ s\b`).ReplaceAllString(out, "after N s") + err)
		if code != 0 {
			all.WriteString("exit code " + string(rune('0'+code)) + "\n")
		}
	}
	cmdtest.Golden(t, "output.golden", all.String())
}

func TestPort_Usage(t *testing.T) {
	for line, want := range map[string]string{
		"":                                  "no port given",
		"leaf1 3 nosuch":                    `unknown action "nosuch"`,
		"leaf1 disable --yes":               "hint: a port is leaf1/3; all ports: ibkit port leaf1",
		"leaf1 1 disable":                   "not confirmed: standard input is not a terminal; use --yes",
		"--yes leaf1 3":                     "--yes has no effect without a change",
		"--dry-run --yes leaf1 3 disable":   "--dry-run and --yes are mutually exclusive",
		"--force nosuch leaf1 3 arm":        "want one of own-link, sm-link, last-link",
		"--targets-file /nonexistent reset": "read ports: open /nonexistent",
		"--targets-file - --yes reset":      "read ports from standard input: no ports",
		"--targets-file - leaf1 1 reset":    "read ports from standard input: no ports",
		"leaf1 3 mkey=@/nonexistent":        "read new M_Key: open /nonexistent",
		"leaf1 3 mkey=-":                    "no terminal for a prompt",
		"-y @/nonexistent leaf1 3":          "read M_Key: open /nonexistent",
		"--wait -1s leaf1 3 arm":            "invalid --wait -1s",
	} {
		t.Run(line, func(t *testing.T) {
			if code, out, err := run(t, line); code != 2 || !strings.Contains(err, want) {
				t.Errorf("got exit code %d, want 2 with %q\n%s%s", code, want, out, err)
			}
		})
	}
}

// A list of ports, and the report of linkinfo, have the same effect.
func TestPort_From(t *testing.T) {
	list := cmdtest.WriteFile(t, "# two links\nleaf1 4\n\n 8 1 # by LID\n")
	report := cmdtest.WriteFile(t, `{"schema":"ibkit/linkinfo/4","nodes":[{"node_guid":"0x0002c90000800200","ports":[{"port":4}]},`+
		`{"node_guid":"0x0002c90000800700","ports":[{"port":0},{"port":1}]},{"node_guid":"0x0002c90000100400","ports":[{"port":1}]}]}`)
	for _, file := range []string{list, report} {
		code, out, err := run(t, "--yes --force last-link --targets-file "+file+" disable")
		if want := "changed 2 of 2 ports\n"; code != 0 || !strings.HasSuffix(out, want) {
			t.Errorf("got exit code %d and\n%s%swant %s", code, out, err, want)
		}
	}
	for text, want := range map[string]string{
		"leaf1":                   ":1: no port number after the target",
		"\nleaf1 x":               `:2: "x" is not a port number`,
		"leaf1 99999999999":       `"99999999999" is not a port number`,
		`{"schema":"ibkit/sm/1"}`: `got schema "ibkit/sm/1", want "ibkit/linkinfo/4"`,
		`{"schema":7}`:            "schema: a number is not possible here",
		"{":                       "unexpected end of JSON input",
		"0x 1":                    ":1:",
		"# nothing\n":             "no ports",
		"leaf1 4\nnope 3":         ":2: find name nope: no node has this name",
		"leaf1 99":                ":1: find leaf1[99]: the ports of leaf1 have the numbers 1 to 16",
	} {
		t.Run(text, func(t *testing.T) {
			wantCode := 2
			if strings.Contains(want, ": find ") { // only the fabric shows it
				wantCode = 1
			}
			if code, _, err := run(t, "--yes --targets-file "+cmdtest.WriteFile(t, text)+" reset"); code != wantCode || !strings.Contains(err, want) {
				t.Errorf("got exit code %d, want %d with %q\n%s", code, wantCode, want, err)
			}
		})
	}
	code, _, err := run(t, "--yes --targets-file "+list+" leaf1 1 reset")
	if want := `"leaf1" is not a change: --targets-file and a TARGET are mutually exclusive`; code != 2 || !strings.Contains(err, want) {
		t.Errorf("got exit code %d, want 2 with %q\n%s", code, want, err)
	}
}

// The plan has a port that failed after another one was changed.
func TestPort_Several(t *testing.T) {
	list := cmdtest.WriteFile(t, "leaf2 1\nleaf1 9\nleaf4 1\n")
	code, out, err := run(t, "--yes --wait 1ms --targets-file "+list+" reset")
	if code != 4 || !strings.Contains(out, "changed 2 of 3 ports\nnot attempted: leaf4[1]\n") || !strings.Contains(err, "leaf1[9]: not up: no peer responds, as before the change") {
		t.Errorf("got exit code %d\n%s%s", code, out, err)
	}
}

// The question is asked on a terminal.
func TestPort_Confirmation(t *testing.T) {
	const endOfInput = "\x04"
	for _, test := range []struct {
		keys    string
		code    int
		changed bool
	}{
		{"y\n", 0, true},
		{"YES\n", 0, true},
		{"n\n", 1, false},
		{"\n", 1, false},
		{endOfInput, 1, false},
	} {
		t.Run(test.keys, func(t *testing.T) {
			terminal, keyboard := cmdtest.NewTerminal(t)
			if _, err := keyboard.WriteString(test.keys); err != nil {
				t.Fatal(err)
			}
			var out, errOut bytes.Buffer
			e := &cmdutil.Env{In: terminal, Out: &out, ErrOut: &errOut, Getenv: func(string) string { return "" }}
			code := program(t.Context(), e, []string{"port", "--sim", "demo", "leaf1", "1", "disable"})
			if code != test.code || !strings.HasPrefix(errOut.String(), "Change 1 port? [y/N] ") || !strings.HasPrefix(out.String(), "leaf1[1] (") {
				t.Errorf("got exit code %d\n%s%s", code, &out, &errOut)
			}
			if got := strings.Contains(out.String(), "leaf1[1]: changed"); got != test.changed {
				t.Errorf("changed: got %t, want %t\n%s", got, test.changed, &out)
			}
			if !test.changed && !strings.Contains(errOut.String(), "disable: not confirmed") {
				t.Errorf("got %s", &errOut)
			}
		})
	}
}

// An interruption at the question leaves the port unchanged.
func TestPort_Interrupted(t *testing.T) {
	terminal, _ := cmdtest.NewTerminal(t)
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	e := &cmdutil.Env{In: terminal, Out: &out, ErrOut: writerFunc(func(b []byte) (int, error) {
		if strings.HasSuffix(string(b), "[y/N] ") {
			cancel()
		}
		return len(b), nil
	}), Getenv: func(string) string { return "" }}
	if code := program(ctx, e, []string{"port", "--sim", "demo", "leaf1", "1", "disable"}); code != 1 || strings.Contains(out.String(), "changed") {
		t.Errorf("got exit code %d\n%s", code, &out)
	}
}

// An interruption after the first of two changes reports both.
func TestPort_InterruptedBetween(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out, errOut bytes.Buffer
	e := &cmdutil.Env{In: strings.NewReader("leaf2 1\nleaf3 1\n"), Out: writerFunc(func(b []byte) (int, error) {
		if strings.Contains(string(b), "leaf2[1]: changed") {
			cancel()
		}
		return out.Write(b)
	}), ErrOut: &errOut, Getenv: func(string) string { return "" }}
	code := program(ctx, e, []string{"port", "--sim", "demo", "--yes", "--targets-file", "-", "disable"})
	if code != 4 || !strings.HasSuffix(out.String(), "changed 1 of 2 ports\nnot attempted: leaf3[1]\n") || !strings.Contains(errOut.String(), "interrupted") {
		t.Errorf("got exit code %d\n%s%s", code, &out, &errOut)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestPort_Log(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	for _, line := range []string{"leaf1 1 width=4X", "node02 mkey=0x1234", "leaf1 1 mtu=4096"} {
		if code, out, err := run(t, "--yes --force m-key,mismatch --log "+file+" "+line); code != 0 {
			t.Fatalf("%s: got exit code %d\n%s%s", line, code, out, err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const who = `time=\S+ msg=MSG user=\S+ login=\S+ `
	want := ""
	for _, line := range []string{
		`port_guid=0x0002c90000800200 port=1 name=leaf1 change="width=4X" before="Active/LinkUp 2X NDR width=1X,2X,4X"`,
		`port_guid=0x0002c90000100401 port=1 name=node02 change="mkey=\*\*\*" before="Active/LinkUp 4X NDR mkey=none"`,
	} {
		want += strings.Replace(who, "MSG", "begin", 1) + line + "\n" + strings.Replace(who, "MSG", "end", 1) + line + ` after=".*" result=changed` + "\n"
	}
	if !regexp.MustCompile("^"+want+"$").Match(text) || strings.Contains(string(text), "1234") {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if code, _, err := run(t, "--yes --log /nonexistent/log leaf1 1 disable"); code != 1 || !strings.Contains(err, "open log") {
		t.Errorf("got exit code %d, want 1\n%s", code, err)
	}
}

// The M_Key is read from a file or from the environment.
func TestPort_MKey(t *testing.T) {
	served := cmdtest.ServeDemo(t)
	key := cmdtest.WriteFile(t, "0x77\n")
	port := func(environment string, args ...string) (code int, out, err string) {
		args = append([]string{"port", "-t", "10", "--wait", "50ms", "--yes"}, args...)
		return program.Run(t, served.Env("node05", "IBKIT_M_KEY", environment), args...)
	}
	if code, out, err := port("", "leaf1", "0", "mkey=@"+key, "mkeyprot=1", "--force", "m-key"); code != 0 {
		t.Fatalf("set M_Key: got exit code %d\n%s%s", code, out, err)
	}
	for _, test := range []struct {
		name, env string
		args      string
		code      int
		want      string
	}{
		{"none", "", "", 1, "it may have another M_Key"},
		{"wrong", "", "-y 5", 1, "it may have another M_Key"},
		{"file", "", "-y @" + key, 0, "changed"},
		{"environment", "@" + key, "", 0, "changed"},
		{"number", "0x77", "", 0, "changed"},
		{"removed", "0x77", "", 0, "mkey: set → none"},
		{"not needed", "", "", 0, "changed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := append([]string{"leaf1", "1", "disable"}, strings.Fields(test.args)...)
			if test.name == "removed" {
				args = append(args[:1], "0", "mkey=0", "mkeyprot=0")
			}
			code, out, err := port(test.env, args...)
			if code != test.code || !strings.Contains(out+err, test.want) || strings.Contains(out+err, "0x77") {
				t.Errorf("got exit code %d, want %d with %q\n%s%s", code, test.code, test.want, out, err)
			}
			if code == 0 && test.name != "removed" {
				port(test.env, append([]string{"leaf1", "1", "enable"}, strings.Fields(test.args)...)...)
			}
		})
	}
}

// The JSON conforms to the schema and to the Go type.
func TestPort_JSON(t *testing.T) {
	for _, line := range []string{
		"leaf1 3", "leaf1 9", "node02", "--dry-run leaf1 3 disable", "--dry-run leaf1 1 espeed=XDR", "--yes leaf1 1 disable", "--yes --wait 1ms leaf1 4 reset espeed=EDR", "--yes leaf1 3 disable",
	} {
		t.Run(line, func(t *testing.T) {
			_, out, _ := run(t, "--json "+line)
			cmdtest.CheckDocument(t, "../../schema/port.json", out, &portchange.Report{})
		})
	}
}
