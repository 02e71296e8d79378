package ibsimtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A Program runs an ibkit command line in this process and returns the exit code. args
// begin with a command name.
type Program func(ctx context.Context, getenv func(string) string, in io.Reader, stdout, stderr io.Writer, args []string) int

// run returns the result of a command line. path has the program name, ibkit or a classic
// name.
func (p Program) run(ctx context.Context, getenv func(string) string, path string, args []string) Result {
	if name := filepath.Base(path); name != "ibkit" {
		args = append([]string{name}, args...)
	}
	var stdout, stderr bytes.Buffer
	code := p(ctx, getenv, strings.NewReader(""), &stdout, &stderr, args)
	return Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: code}
}

// serve starts a server in this process and returns when it serves.
func (p Program) serve(args []string) (*Sim, error) {
	s, err := newSim("")
	if err != nil {
		return nil, err
	}
	s.inProcess = true
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	s.stdout = out
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p(ctx, s.getenv(""), strings.NewReader(""), in, &s.stderr, args)
		in.Close()
	}()
	s.end = func() { cancel(); out.Close(); <-ended }
	if err := s.readReady(); err != nil {
		return nil, fmt.Errorf("start simulator: %w", errors.Join(err, s.Stop(), s.complaint()))
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // until it ends
	return s, nil
}

// getenv returns the environment for a program at a node.
func (s *Sim) getenv(host string) func(string) string {
	env := map[string]string{}
	for _, v := range append(s.Env(), append(hostEnv(host), "IBKIT_SIM=ibsim")...) {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	return func(name string) string {
		if value, ok := env[name]; ok {
			return value
		}
		return os.Getenv(name)
	}
}
