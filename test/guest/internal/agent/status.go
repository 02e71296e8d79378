package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest/internal/wire"
)

// tick is the time unit in /proc/PID/stat, the kernel's USER_HZ.
const tick = 10 * time.Millisecond

// mark is the environment variable with the number of the command that a process belongs to.
const mark = "GUEST_COMMAND"

// A process is a user space process. ID is from its mark; a command begins in a separate
// session, so that the session identifies processes that have removed the mark.
type process struct {
	wire.Process
	parent  int
	session int
	unknown bool // has no environment, as at the moment when it starts another program
}

// processes returns all user space processes except the agent's.
func processes() ([]process, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var all []process
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		p, user, err := parseStat(string(text))
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", file, err)
		}
		if !user || p.PID == 1 || p.PID == os.Getpid() {
			continue
		}
		if environment, err := os.ReadFile(filepath.Join(filepath.Dir(file), "environ")); err == nil {
			p.ID, p.unknown = marked(string(environment)), len(environment) == 0
		}
		if args, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline")); err == nil && len(args) > 0 {
			p.Args = string(bytes.TrimSpace(bytes.ReplaceAll(args, []byte{0}, []byte{' '})))
		}
		all = append(all, p)
	}
	return all, nil
}

// parseStat parses /proc/PID/stat, see proc(5). It reports whether the process belongs to
// user space. Args is the program name.
func parseStat(text string) (p process, user bool, err error) {
	const kthreadd = 2 // parent of kernel threads
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return p, false, fmt.Errorf("got no name in %q", text)
	}
	// Fields 3 to 17: state ppid pgrp session … utime stime cutime cstime.
	fields := strings.Fields(text[end+1:])
	if len(fields) < 15 {
		return p, false, fmt.Errorf("got %d fields after the name, want at least 15", len(fields))
	}
	var numbers [15]int
	for i := 1; i < len(numbers); i++ {
		if numbers[i], err = strconv.Atoi(fields[i]); err != nil {
			return p, false, err
		}
	}
	if p.PID, err = strconv.Atoi(strings.TrimSpace(text[:open])); err != nil {
		return p, false, err
	}
	p.State, p.parent, p.session, p.Args = fields[0], numbers[1], numbers[3], text[open+1:end]
	for _, n := range numbers[11:15] {
		p.CPU += time.Duration(n) * tick
	}
	return p, p.PID != kthreadd && p.parent != kthreadd, nil
}

// marked returns the command number in an environment, or 0.
func marked(environment string) uint32 {
	for variable := range strings.SplitSeq(environment, "\x00") {
		if value, ok := strings.CutPrefix(variable, mark+"="); ok {
			id, _ := strconv.ParseUint(value, 10, 32) // 0 is none
			return uint32(id)
		}
	}
	return 0
}

// command returns the number of the command that a process belongs to, or 0. The lock is held.
func (s *server) command(p process) uint32 {
	return cmp.Or(p.ID, s.sessions[p.session])
}

// status sends the processes in the guest.
func (s *server) status(id uint32) {
	all, err := processes()
	if err != nil {
		all = []process{{Process: wire.Process{Args: "agent: list processes: " + err.Error()}}}
	}
	list := make([]wire.Process, len(all))
	s.mu.Lock()
	for i, p := range all {
		list[i] = p.Process
		list[i].ID = s.command(p)
	}
	s.mu.Unlock()
	s.send(wire.Event{ID: id, Status: list})
}

// endAttempts is how often end looks for processes while some are unknown.
const endAttempts = 200

// end kills a command's processes until none is left and the output has been sent: they
// may start others meanwhile, and the kernel may take time to end a process.
func (s *server) end(id, command uint32) {
	for n := 0; ; n++ {
		left, unknown, err := s.kill(command)
		if err != nil {
			s.send(wire.Event{ID: command, Stderr: []byte("agent: end command: " + err.Error() + "\n")})
		}
		if left == 0 && (unknown == 0 || n >= endAttempts) {
			s.send(wire.Event{ID: id, Ended: true})
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// kill kills a command's processes. It returns their number, including the command itself
// until its end was reported, and the number of processes with an unknown command.
// Processes that have ended count until process 1 has noticed.
func (s *server) kill(id uint32) (left, unknown int, err error) {
	all, err := processes()
	if err != nil {
		return 0, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.processes[id]; ok {
		left++
	}
	for _, p := range all {
		switch {
		case p.State == "Z":
			if p.parent == 1 {
				unknown++
			}
		case s.command(p) == id:
			left++
			_ = unix.Kill(p.PID, unix.SIGKILL) // fails if it has ended
		case s.command(p) == 0 && p.unknown:
			unknown++
		}
	}
	return left, unknown, nil
}
