// Package ibsimtest runs Debian's ibsim and the C tools that attach to it, for
// tests and benchmarks. All that it starts dies with the process that started
// it.
//
// A missing tool is an error and never a reason to skip: what compares ibkit
// with other tools is worth nothing where these are absent.
package ibsimtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// prompt is what ibsim prints when it is ready to read a command.
const prompt = "sim> "

// maxCommand is the longest line that ibsim's console reads whole.
const maxCommand = 126

// clockTick is the unit of the CPU times in /proc/PID/stat. The kernel
// reports them in hundredths of a second on all architectures (USER_HZ).
const clockTick = 10 * time.Millisecond

// started counts the simulators of this process: it makes their names unique.
var started atomic.Int32

// A Sim is a running ibsim server. Its methods serve one goroutine at a time,
// but for Env and those that run tools.
type Sim struct {
	// WatchRSS makes Result.MaxRSS known. It takes a little time from what
	// runs, and a run of a few milliseconds may end between two looks.
	WatchRSS bool

	name   string
	dir    string // scratch directory of the server and of the tools
	lib    string // libumad2sim.so
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr bytes.Buffer
}

// Start runs ibsim on a net file and returns when it serves clients. args are
// further options of ibsim, such as "-I" to allow for duplicate GUIDs.
func Start(netFile string, args ...string) (*Sim, error) {
	size, err := measure(netFile)
	if err != nil {
		return nil, fmt.Errorf("measure net file: %w", err)
	}
	lib, err := findPreload()
	if err != nil {
		return nil, err
	}
	path, err := findTool("ibsim")
	if err != nil {
		return nil, err
	}
	dir, err := makeScratch()
	if err != nil {
		return nil, fmt.Errorf("start ibsim: %w", err)
	}
	s := &Sim{
		name: fmt.Sprintf("ibkit-%d-%d", os.Getpid(), started.Add(1)),
		dir:  dir,
		lib:  lib,
	}
	args = append(append(size.args(), args...), "-s", netFile)
	s.cmd = exec.Command(path, args...)
	s.cmd.Env = append(os.Environ(), s.Env()...)
	s.cmd.Stderr = &s.stderr
	dieWithParent(s.cmd)
	if err := s.run(); err != nil {
		return nil, fmt.Errorf("start ibsim on %s: %w", netFile, errors.Join(err, s.Stop(), s.complaint()))
	}
	return s, nil
}

// run starts the server and waits until it answers. Its input stays open for
// as long as it lives: at the end of its input ibsim reads again and again.
func (s *Sim) run() error {
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return err
	}
	if s.stdout, err = s.cmd.StdoutPipe(); err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	if _, err := s.readPrompt(); err != nil {
		return err
	}
	// The first prompt comes before the sockets are bound, the answer to a
	// command after that.
	_, err = s.Command("Attached")
	return err
}

// Env returns the environment by which a client finds the server, and where that
// has the console if it is ibkit's.
func (s *Sim) Env() []string {
	return []string{"IBSIM_SOCKNAME=" + s.name, "XDG_RUNTIME_DIR=" + s.dir}
}

// Command runs one line on the server's console, such as `Unlink "S-1"[2]`,
// and returns what it printed. It returns after the command took effect. What
// ibsim reports as wrong with the command (a line that begins with '#' or
// speaks of a bad one) is an error.
func (s *Sim) Command(line string) (string, error) {
	if len(line) > maxCommand || strings.Contains(line, "\n") {
		return "", fmt.Errorf("run ibsim command %q: longer than %d bytes or more than one line", line, maxCommand)
	}
	if _, err := io.WriteString(s.stdin, line+"\n"); err != nil {
		return "", fmt.Errorf("run ibsim command %q: %w", line, err)
	}
	out, err := s.readPrompt()
	if err != nil {
		return out, fmt.Errorf("run ibsim command %q: %w", line, err)
	}
	if strings.HasPrefix(out, "# ") || strings.Contains(out, "bad command") {
		return out, fmt.Errorf("run ibsim command %q: %s", line, strings.TrimSpace(out))
	}
	return out, nil
}

// readPrompt reads the server's output up to and without the next prompt.
func (s *Sim) readPrompt() (string, error) {
	var out []byte
	buf := make([]byte, 4096)
	for !bytes.HasSuffix(out, []byte(prompt)) {
		n, err := s.stdout.Read(buf)
		out = append(out, buf[:n]...)
		if err != nil {
			return string(out), fmt.Errorf("wait for prompt: %w", err)
		}
	}
	return string(bytes.TrimSuffix(out, []byte(prompt))), nil
}

// CPU returns the processor time that the server used so far, with a
// resolution of 10 ms.
func (s *Sim) CPU() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read CPU time of ibsim: %w", err)
	}
	// The name in field 2 may hold blanks; utime and stime are fields 14 and 15.
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	fields := strings.Fields(string(rest))
	if len(fields) < 13 {
		return 0, fmt.Errorf("read CPU time of ibsim: %q is not a process status", stat)
	}
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read CPU time of ibsim: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}

// Stop ends the server and removes its scratch directory.
func (s *Sim) Stop() error {
	if s.cmd.Process != nil {
		_ = s.cmd.Process.Kill() // the only error is that it has ended
		_ = s.cmd.Wait()         // "signal: killed" is what was asked for
	}
	return os.RemoveAll(s.dir)
}

// complaint returns the last line that a server which ended wrote to stderr.
func (s *Sim) complaint() error {
	lines := strings.Split(strings.TrimSpace(s.stderr.String()), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return errors.New(last)
	}
	return nil
}

// dieWithParent makes the kernel kill the command when this process ends.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
