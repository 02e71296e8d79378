package exporter

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// TestPages checks which responses the server has at / besides the metrics.
func TestPages(t *testing.T) {
	for _, test := range []struct {
		flags     string
		want, not string
	}{
		{"--sim demo", ">Subnet managers</h2>", "<h1>ibkit exporter</h1>"},
		{"--sim demo --no-page", "<h1>ibkit exporter</h1>", "Subnet managers"},
	} {
		t.Run(test.flags, func(t *testing.T) {
			r := program.Start(nil, append([]string{"exporter", "--listen", "127.0.0.1:0"}, strings.Fields(test.flags)...)...)
			if text := await(t, r, "/", test.want); strings.Contains(text, test.not) {
				t.Errorf("got\n%s", text)
			}
			if address := regexp.MustCompile(` with pages at http://127\.0\.0\.1:[0-9]+/\n`); address.MatchString(r.ErrOut.String()) != (test.flags == "--sim demo") {
				t.Errorf("got %s, want the address of the pages if there are some", r.ErrOut)
			}
			if code := r.End(); code != cmdutil.ExitOK {
				t.Errorf("got exit code %d: %s", code, r.ErrOut)
			}
		})
	}
	code, _, errOut := program.Run(t, nil, "exporter", "--sim", "demo", "--once", "--no-page")
	if code != cmdutil.ExitUsage {
		t.Errorf("got exit code %d with --once: %s", code, errOut)
	}
}

// TestPlan shows differences to a cabling plan, and reads the plan again at SIGHUP.
func TestPlan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.csv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("StartDevice,StartPort,EndDevice,EndPort\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("host001,1,switch1,2\nhost009,1,switch1,9\n")
	r := program.Start(nil, "exporter", "--sim", "single-switch:hosts=2", "--listen", "127.0.0.1:0", "--interval", "10ms", "--plan", path)
	text := await(t, r, "/", ">missing-node</b>")
	if !strings.Contains(text, "host009") || !strings.Contains(text, ">wrong-peer</b>") && !strings.Contains(text, ">swapped</b>") {
		t.Errorf("got\n%s", text)
	}
	if text := await(t, r, "/plan", " to the cabling plan</h1>"); !strings.Contains(text, "host009") || !strings.Contains(text, `<a href="plan" aria-current="page">Plan</a>`) {
		t.Errorf("got\n%s", text)
	}
	write("host001,1,switch1,1\nhost002,1,switch1,2\n")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	await(t, r, "/", "No problems found")
	await(t, r, "/plan", ">0 differences to the cabling plan</h1>")
	if code := r.End(); code != cmdutil.ExitOK {
		t.Errorf("got exit code %d: %s", code, r.ErrOut)
	}
	for _, flags := range []string{"--no-page", "--once", "--local", "--textfile=x"} {
		if code, _, errOut := program.Run(t, nil, "exporter", "--plan", path, flags); code != cmdutil.ExitUsage {
			t.Errorf("%s: got exit code %d: %s", flags, code, errOut)
		}
	}
	if code, _, errOut := program.Run(t, nil, "exporter", "--plan", path+".none"); code != cmdutil.ExitUsage || !strings.Contains(errOut, "plan.csv.none") {
		t.Errorf("got exit code %d: %s", code, errOut)
	}
}
