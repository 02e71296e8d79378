package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest/internal/wire"
)

// console is the guest's terminal.
const console = "/dev/ttyS0"

// stream sends a process's output.
type stream func([]byte)

func (s stream) Write(b []byte) (int, error) {
	s(b)
	return len(b), nil
}

// start starts a process and watches it from then on.
func (s *server) start(id uint32, what wire.Start) {
	fail := func(err error) {
		s.send(wire.Event{ID: id, Exit: &wire.Exit{Code: -1, Reason: err.Error()}})
	}
	cmd := exec.Command(what.Args[0], what.Args[1:]...)
	cmd.Env = slices.Concat(os.Environ(), what.Env, []string{fmt.Sprintf("%s=%d", mark, id)})
	cmd.Dir = what.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if what.User != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: what.User, Gid: what.User}
	}
	if what.Terminal {
		terminal, err := os.OpenFile(console, os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			fail(err)
			return
		}
		defer terminal.Close() // the process has its own by then
		cmd.SysProcAttr.Setctty = true
		cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	} else {
		cmd.Stdin = bytes.NewReader(what.Stdin)
		cmd.Stdout = stream(func(b []byte) { s.send(wire.Event{ID: id, Stdout: b}) })
		cmd.Stderr = stream(func(b []byte) { s.send(wire.Event{ID: id, Stderr: b}) })
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		fail(err)
		return
	}
	s.mu.Lock()
	s.processes[id] = cmd.Process.Pid
	s.sessions[cmd.Process.Pid] = id
	s.mu.Unlock()
	go func() {
		e := exit(cmd.Wait())
		e.Elapsed = time.Since(begin)
		e.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		e.Left = unix.Kill(-cmd.Process.Pid, 0) == nil
		s.send(wire.Event{ID: id, Exit: e})
		s.mu.Lock()
		delete(s.processes, id)
		s.mu.Unlock()
	}()
}

// exit converts the result of a wait to an event.
func exit(err error) *wire.Exit {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return &wire.Exit{}
	case !errors.As(err, &ended):
		return &wire.Exit{Code: -1, Reason: err.Error()}
	}
	if status := ended.Sys().(syscall.WaitStatus); status.Signaled() {
		return &wire.Exit{Code: 128 + int(status.Signal())}
	}
	return &wire.Exit{Code: ended.ExitCode()}
}

// signal sends a signal to a process and its group. A process that has ended is ignored.
func (s *server) signal(id uint32, sig unix.Signal) {
	s.mu.Lock()
	pid := s.processes[id]
	s.mu.Unlock()
	if pid == 0 {
		return
	}
	if err := unix.Kill(-pid, sig); err != nil && !errors.Is(err, unix.ESRCH) {
		s.send(wire.Event{ID: id, Stderr: []byte("agent: send signal: " + err.Error() + "\n")})
	}
}
