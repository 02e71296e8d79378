package ibsimtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ibkit/ibkit/sim/serve"
)

// readyLine is the line that a simulator prints when it serves.
const readyLine = "Network simulator ready"

// StartServer runs another program that serves a fabric in place of ibsim, and returns
// when it serves. It has no console for Command.
func StartServer(path string, args ...string) (*Sim, error) {
	lib, err := findPreload("/")
	if err != nil {
		return nil, err
	}
	s, err := newSim(lib)
	if err != nil {
		return nil, err
	}
	s.cmd = exec.Command(path, args...)
	s.cmd.Env = append(os.Environ(), s.Env()...)
	s.cmd.Stderr = &s.stderr
	dieWithParent(s.cmd)
	if err := s.awaitReady(); err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(path), errors.Join(err, s.Stop(), s.complaint()))
	}
	return s, nil
}

// newSim returns a simulator with a name and a scratch directory, which has not started.
func newSim(lib string) (*Sim, error) {
	dir, err := makeScratch()
	if err != nil {
		return nil, fmt.Errorf("start simulator: %w", err)
	}
	return &Sim{name: fmt.Sprintf("ibkit-%d-%d", os.Getpid(), started.Add(1)), dir: dir, lib: lib}, nil
}

// awaitReady starts the server and reads its output up to the ready line.
func (s *Sim) awaitReady() error {
	var err error
	if s.stdout, err = s.cmd.StdoutPipe(); err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	defer s.killLate()()
	return s.readReady()
}

// readReady reads the server output up to the ready line.
func (s *Sim) readReady() error {
	lines := bufio.NewScanner(s.stdout)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), readyLine) {
			return nil
		}
	}
	return errors.Join(lines.Err(), errors.New("it ended before it was ready"))
}

// Control runs a command on the console of ibkit's simulator, as "ibkit sim ctl" does, and
// returns the output.
func (s *Sim) Control(ctx context.Context, command string) (string, error) {
	dir := func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return s.dir
		}
		return os.Getenv(name)
	}
	c, err := serve.DialConsole(ctx, serve.ConsolePath(s.name, dir))
	if err != nil {
		return "", err
	}
	defer c.Close()
	out, err := c.Run(command)
	if err != nil {
		return out, fmt.Errorf("run command %q: %w", command, err)
	}
	return out, nil
}
