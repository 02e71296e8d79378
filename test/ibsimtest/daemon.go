package ibsimtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Daemon is a program that keeps running, for example ibping -S.
type Daemon struct {
	cmd   *exec.Cmd
	ended chan struct{}

	mu             sync.Mutex
	stdout, stderr strings.Builder
}

// lineBuffer is the library that stdbuf from coreutils preloads.
const lineBuffer = "/usr/libexec/coreutils/libstdbuf.so"

// StartC runs a Debian tool as [Sim.RunC] does, with additional environment variables.
// It returns when the tool prints a line that contains ready, or at once if ready is
// empty.
func (s *Sim) StartC(host, ready string, env []string, tool string, args ...string) (*Daemon, error) {
	path, err := findTool(tool)
	if err != nil {
		return nil, err
	}
	// A tool buffers its output to a pipe unless stdbuf changes that.
	return s.start(host, ready, append([]string{"LD_PRELOAD=" + s.lib + ":" + lineBuffer, "_STDBUF_O=L"}, env...), path, args)
}

// Start runs a program as [Sim.Run] does, and returns when it prints a line that
// contains ready.
func (s *Sim) Start(host, ready, path string, args ...string) (*Daemon, error) {
	return s.start(host, ready, []string{"IBKIT_SIM=ibsim"}, path, args)
}

func (s *Sim) start(host, ready string, env []string, path string, args []string) (*Daemon, error) {
	dir, err := os.MkdirTemp(s.dir, "cwd-") // removed with the server directory
	if err != nil {
		return nil, err
	}
	d := &Daemon{cmd: exec.Command(path, args...), ended: make(chan struct{})}
	d.cmd.Args[0] = filepath.Base(path)
	d.cmd.Dir = dir
	d.cmd.Env = append(append(append(os.Environ(), s.Env()...), hostEnv(host)...), env...)
	dieWithParent(d.cmd)
	isReady := make(chan struct{})
	var once sync.Once
	var reading sync.WaitGroup
	for _, stream := range []struct {
		open func() (io.ReadCloser, error)
		to   *strings.Builder
	}{{d.cmd.StdoutPipe, &d.stdout}, {d.cmd.StderrPipe, &d.stderr}} {
		r, err := stream.open()
		if err != nil {
			return nil, err
		}
		reading.Go(func() {
			for lines := bufio.NewScanner(r); lines.Scan(); {
				d.mu.Lock()
				fmt.Fprintln(stream.to, lines.Text())
				d.mu.Unlock()
				if strings.Contains(lines.Text(), ready) {
					once.Do(func() { close(isReady) })
				}
			}
		})
	}
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(path), err)
	}
	go func() {
		reading.Wait()
		_ = d.cmd.Wait() // ProcessState has the result
		close(d.ended)
	}()
	if ready == "" {
		return d, nil
	}
	late := time.NewTimer(toolTimeout)
	defer late.Stop()
	var why string
	select {
	case <-isReady:
		return d, nil
	case <-d.ended:
		why = "it ended"
	case <-late.C:
		why = "timeout"
		d.Stop()
	}
	out, errs := d.Output()
	return nil, fmt.Errorf("start %s: %s before it printed %q:\n%s%s", filepath.Base(path), why, ready, out, errs)
}

// Output returns the program output so far.
func (d *Daemon) Output() (stdout, stderr string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stdout.String(), d.stderr.String()
}

// Signal sends a signal to the program, for example SIGSTOP to make it hang.
func (d *Daemon) Signal(sig syscall.Signal) error { return d.cmd.Process.Signal(sig) }

// wait waits until the program ends, and kills it after a timeout.
func (d *Daemon) wait() error {
	late := time.NewTimer(toolTimeout)
	defer late.Stop()
	select {
	case <-d.ended:
		return nil
	case <-late.C:
		d.Stop()
		return fmt.Errorf("end %s: timeout", d.cmd.Args[0])
	}
}

// Stop kills the program, which keeps its slot at the server.
func (d *Daemon) Stop() {
	_ = d.cmd.Process.Kill() // the only error is that it has ended
	<-d.ended
}

// End sends a signal to the program unless it has ended, waits for its end, and
// returns the result.
func (d *Daemon) End(s syscall.Signal) (Result, error) {
	if err := d.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return Result{}, err
	}
	if err := d.wait(); err != nil {
		return Result{}, err
	}
	r := Result{Code: d.cmd.ProcessState.ExitCode()}
	r.Stdout, r.Stderr = d.Output()
	return r, nil
}

// NewPingServer runs the ibping server at a node until the test ends, and returns when it
// serves, which only -d makes it report. No packet may be sent to it earlier:
// libumad2sim.so accepts packets when it attaches, registers their classes later, and
// crashes if a packet arrives in between.
func (s *Sim) NewPingServer(tb testing.TB, host string) {
	tb.Helper()
	d, err := s.StartC(host, "starting to serve", []string{"SIM_SET_ISSM=1"}, "ibping", "-S", "-d")
	d.forTest(tb, err)
}

// NewDaemon is [Sim.Start] for tests: errors fail the test, and the program ends with
// it.
func (s *Sim) NewDaemon(tb testing.TB, host, ready, path string, args ...string) *Daemon {
	tb.Helper()
	d, err := s.Start(host, ready, path, args...)
	return d.forTest(tb, err)
}

// NewDaemonC is [Sim.StartC] for tests.
func (s *Sim) NewDaemonC(tb testing.TB, host, ready, tool string, args ...string) *Daemon {
	tb.Helper()
	d, err := s.StartC(host, ready, nil, tool, args...)
	return d.forTest(tb, err)
}

func (d *Daemon) forTest(tb testing.TB, err error) *Daemon {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(d.Stop)
	return d
}

// MustEnd is [Daemon.End] for tests.
func (d *Daemon) MustEnd(tb testing.TB, s syscall.Signal) Result {
	tb.Helper()
	r, err := d.End(s)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}
