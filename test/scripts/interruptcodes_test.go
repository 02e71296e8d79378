package scripts

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestInterrupt_ExitCodes interrupts each native command that may run for long: the exit
// code is 1 without a result, 4 with a partial result, and the code for the results if a
// command runs until it is interrupted.
func TestInterrupt_ExitCodes(t *testing.T) {
	const (
		scan    = "Get PortInfo modifier 0x2"
		scanned = " --sim demo --sim-model service=100ms,queue=100 -t 60000 -vv"
		silent  = " --sim demo --sim-model service=1000s,queue=100 -t 60000 -vv"
	)
	dir := t.TempDir()
	for _, test := range []struct {
		line  string // without ibkit
		after string // the command is interrupted after an output line that contains this text
		code  int
	}{
		{"cc" + scanned, scan, 1},
		{"check fabric" + scanned, scan, 1},
		{"check fabric --sim demo --sm-wait 100s -vv", "Get SMInfo", 1},
		{"check routes" + scanned, scan, 1},
		{"counters" + scanned, scan, 1},
		{"counters --window 100s --sim demo -vv", "Get PortCounters", 1},
		{"exporter --once" + scanned, scan, 1},
		{"ping --cas" + scanned, scan, 1},
		{"port leaf1 3" + scanned, scan, 1},
		{"route node01 node16" + scanned, scan, 1},
		{"routes" + scanned, scan, 1},
		{"top --once" + scanned, scan, 1},
		{"addr 3" + silent, "Get ", 1},
		{"query NodeInfo 3" + silent, "Get ", 1},
		{"sa NodeRecord" + silent, "Get", 1},
		{"sm" + silent, "Get", 1},
		{"trap" + silent, "Get", 1},
		{"trap send link-integrity" + silent, "Get", 1},

		{"linkinfo" + scanned, scan, 4},
		{"topology" + scanned, scan, 4},
		{"topology --ibdiagnet " + dir + "/files" + scanned, scan, 4},
		{"topology --ibdiagnet " + dir + "/more --pause 100s --sim demo -vv", "Get PortCounters", 4},
		{"query PortInfo leaf1 all --sim demo --sim-model service=20ms,queue=100 -t 60000 -vv -o 1", "Get PortInfo modifier 0x8", 4},
		{"counters --interval 10ms --count 100000 --sim demo", "window ", 4}, // node10 is partial

		{"ping -c 0 -i 10ms --lines --sim demo 3", "LID 3: seq=2 ", 0},
		{"ping -c 0 -i 10ms -t 5 --lines --sim demo 999", "LID 999: seq=2 ", 3},
		{"exporter --listen 127.0.0.1:0 --sim demo", "serving metrics at ", 0},
		{"trap --sim demo", "subscribed to notices", 0},
		{"trap --count 5 --sim demo", "subscribed to notices", 0},
		{"watch --sim demo", "watching ", 0},
		{fmt.Sprintf("sim serve --name interrupted-%d demo", os.Getpid()), "Network simulator ready", 0},
	} {
		t.Run(test.line, func(t *testing.T) {
			t.Parallel()
			code, out := interruptAfter(t, test.after, strings.Fields(test.line)...)
			if code != test.code {
				t.Errorf("got exit code %d, want %d\n%s", code, test.code, out)
			}
		})
	}
}

// interruptAfter runs ibkit, interrupts it after an output line that contains a text, and
// returns the exit code and the end of the output.
func interruptAfter(t *testing.T, text string, args ...string) (code int, output string) {
	t.Helper()
	return signalled(t, ibkit(t, args...), step{text, os.Interrupt})
}

// ibkit returns an ibkit command line.
func ibkit(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := ibsimtest.Command(t, self, args...)
	c.Args[0] = "ibkit"
	return c
}

// signalled runs a command, sends signals to it, and returns the exit code and the end
// of the output.
func signalled(t *testing.T, c *exec.Cmd, steps ...step) (code int, output string) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	c.Stdout, c.Stderr = write, write
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() }) // after a failure
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	all := signalAt(t, c, read, steps...)
	return c.ProcessState.ExitCode(), all[max(0, len(all)-1000):]
}

// TestInterrupt_Files interrupts commands that write files: a partial result replaces no
// file, and a new file says that it is partial.
func TestInterrupt_Files(t *testing.T) {
	dir := t.TempDir()
	slow := strings.Fields("--sim single-switch --sim-model " + slow + " -t 60000 -vv")
	for _, test := range []struct {
		line, file string
		fresh      *regexp.Regexp // new file content; nil: no file is written
	}{
		{"linkinfo --save F", "", nil},
		{"topology --save F", "", nil},
		{"topology --write-plan F", "", nil},
		{"topology --ibdiagnet F", "/ibdiagnet2.db_csv", regexp.MustCompile(`(?m)^# Ended early `)},
		{"counters --save F", "", nil},
		{"check routes --save F", "", nil},
		{"exporter --once --textfile F", "", nil},
	} {
		t.Run(test.line, func(t *testing.T) {
			t.Parallel()
			path := dir + "/" + strings.ReplaceAll(test.line, " ", "")
			args := strings.Fields(strings.ReplaceAll(test.line, "F", path))
			path += test.file
			interruptAfter(t, "Get PortInfo modifier 0x2", append(args, slow...)...)
			got, err := os.ReadFile(path)
			if test.fresh == nil && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("got a file of %d bytes (%v), want none", len(got), err)
			}
			if test.fresh != nil && !test.fresh.Match(got) {
				t.Errorf("got %s (%v), want a match for %v", got, err, test.fresh)
			}

			runOnce(t, "ibkit", append(args, "--sim", "single-switch")...)
			want, err := os.ReadFile(path)
			if err != nil && test.fresh == nil {
				t.Fatal(err)
			}
			interruptAfter(t, "Get PortInfo modifier 0x2", append(args, slow...)...)
			if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
				t.Errorf("got another file (%d bytes, %v), want the former %d bytes", len(got), err, len(want))
			}
		})
	}
}

// TestInterrupt_Ibnetdiscover interrupts the classic name: the signal ends it, as it ends
// the C tool, but the former file remains, and no other file.
func TestInterrupt_Ibnetdiscover(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "topology")
	if err := os.WriteFile(path, []byte("former"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, signal, _, _ := interrupt(t, dir, "ibkit", "ibnetdiscover", "--sim", "demo", "--sim-model", slow, "-t", "60000", "-v", "-v", "topology")
	if signal != syscall.SIGINT {
		t.Errorf("got signal %v, want SIGINT", signal)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "former" {
		t.Errorf("got %q, %v, want the former content", got, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("got files %v, %v, want one", files, err)
	}
}
