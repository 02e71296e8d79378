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
	"testing"
	"time"
)

// A Daemon is a C tool that goes on running, such as ibping -S.
type Daemon struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// lineBuffer is the library by which stdbuf of coreutils does its work.
const lineBuffer = "/usr/libexec/coreutils/libstdbuf.so"

// StartC runs a Debian tool as [Sim.RunC] does, with more environment variables,
// and returns once it has printed a line that has ready in it.
func (s *Sim) StartC(host, ready string, env []string, tool string, args ...string) (*Daemon, error) {
	path, err := findTool(tool)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.dir, "cwd-") // goes with the server's
	if err != nil {
		return nil, err
	}
	d := &Daemon{cmd: exec.Command(path, args...), ended: make(chan struct{})}
	d.cmd.Args[0] = filepath.Base(path)
	d.cmd.Dir = dir
	d.cmd.Env = append(append(os.Environ(), s.Env()...), hostEnv(host)...)
	// A tool keeps back what it prints into a pipe, unless it is told not to.
	d.cmd.Env = append(append(d.cmd.Env, "LD_PRELOAD="+s.lib+":"+lineBuffer, "_STDBUF_O=L"), env...)
	dieWithParent(d.cmd)
	r, w := io.Pipe()
	d.cmd.Stdout, d.cmd.Stderr = w, w
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", tool, err)
	}
	go func() {
		err := d.cmd.Wait()
		w.CloseWithError(fmt.Errorf("it ended: %w", errors.Join(err, io.EOF)))
		close(d.ended)
	}()
	var log strings.Builder
	lines := bufio.NewScanner(r)
	late := time.AfterFunc(toolTimeout, func() { r.CloseWithError(errors.New("it takes too long")) })
	for lines.Scan() {
		fmt.Fprintln(&log, lines.Text())
		if strings.Contains(lines.Text(), ready) {
			late.Stop()
			go func() { _, _ = io.Copy(io.Discard, r) }() // or it blocks; the end is that of the tool
			return d, nil
		}
	}
	d.Stop()
	return nil, fmt.Errorf("start %s: %w before it printed %q:\n%s", tool, lines.Err(), ready, &log)
}

// Stop kills the tool, which leaves its place at the server.
func (d *Daemon) Stop() {
	_ = d.cmd.Process.Kill() // the only error is that it has ended
	<-d.ended
}

// NewPingServer runs ibping's server at a node for as long as a test runs, and
// returns once it serves. It says so only where it is to tell all (-d). Nothing
// may be sent to it before: libumad2sim.so says that it takes packets when it
// attaches, registers their classes later, and crashes at one in between.
func (s *Sim) NewPingServer(tb testing.TB, host string) {
	tb.Helper()
	d, err := s.StartC(host, "starting to serve", []string{"SIM_SET_ISSM=1"}, "ibping", "-S", "-d")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(d.Stop)
}
