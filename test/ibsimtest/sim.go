// Package ibsimtest runs Debian's ibsim and the C tools that attach to it, for tests and
// benchmarks. The processes end with the process that started them.
//
// A missing tool is an error and never a reason to skip a test.
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

// prompt ends ibsim's output when it is ready for a command.
const prompt = "sim> "

// maxCommand is the maximum line length on the ibsim console.
const maxCommand = 126

// clockTick is the unit for processor times in /proc/PID/stat: a hundredth of a second on
// all architectures (USER_HZ).
const clockTick = 10 * time.Millisecond

// started counts this process's simulators, for unique names.
var started atomic.Int32

// A Sim is a running ibsim server. Env and the methods that run tools are safe for
// concurrent use, the others are not.
type Sim struct {
	// WatchRSS sets Result.MaxRSS. It slows programs down a little, and may miss the peak
	// of a program that runs for a few milliseconds.
	WatchRSS bool

	name   string
	dir    string // scratch directory for the server and the tools
	lib    string // libumad2sim.so; "": not installed
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr bytes.Buffer

	inProcess bool       // ibkit's server and tools run in this process
	end       func()     // ends the server in this process
	rec       *recording // recorded C tool results; nil: no recording
}

// Start runs ibsim on a net file and returns when it serves clients. args are more ibsim
// options, for example "-I" to accept duplicate GUIDs.
func Start(netFile string, args ...string) (*Sim, error) {
	size, err := measure(netFile)
	if err != nil {
		return nil, fmt.Errorf("measure net file: %w", err)
	}
	lib, err := findPreload("/")
	if err != nil {
		return nil, err
	}
	path, err := findTool("ibsim")
	if err != nil {
		return nil, err
	}
	s, err := newSim(lib)
	if err != nil {
		return nil, err
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

// run starts the server and waits for the first answer. The server's input stays open: at
// the end of its input, ibsim reads in a busy loop.
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
	// ibsim prints the first prompt before it binds its sockets, and answers a
	// command after that.
	_, err = s.Command("Attached")
	return err
}

// Env returns the environment with which clients find the server, and the console of
// ibkit's server.
func (s *Sim) Env() []string {
	return []string{"IBSIM_SOCKNAME=" + s.name, "XDG_RUNTIME_DIR=" + s.dir}
}

// Command runs a line on the server console, for example `Unlink "S-1"[2]`, and returns
// the output after the command took effect. An ibsim complaint (a line that begins with
// '#', other than the heading of Dump, or contains "bad") is an error.
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
	if strings.HasPrefix(out, "# ") && !strings.HasPrefix(out, "# Net status") || strings.Contains(out, "bad command") {
		return out, fmt.Errorf("run ibsim command %q: %s", line, strings.TrimSpace(out))
	}
	return out, nil
}

// readPrompt reads the server's output up to and without the next prompt.
func (s *Sim) readPrompt() (string, error) {
	defer s.killLate()()
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

// CPU returns the server's processor time so far, in units of 10 ms.
func (s *Sim) CPU() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read CPU time of ibsim: %w", err)
	}
	// The name in field 2 may contain blanks; utime and stime are fields 14 and 15.
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

// Stop kills the server and removes its scratch directory.
func (s *Sim) Stop() error {
	if s.end != nil {
		s.end()
	} else if s.cmd.Process != nil {
		_ = s.cmd.Process.Kill() // the only error: it has ended
		_ = s.cmd.Wait()         // always "signal: killed"
	}
	return os.RemoveAll(s.dir)
}

// killLate kills the server after a timeout, so that a reader of its output ends, until
// the returned function is called.
func (s *Sim) killLate() (stop func() bool) {
	return time.AfterFunc(toolTimeout, func() { _ = s.cmd.Process.Kill() }).Stop
}

// complaint returns the last standard error line from a server that ended.
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
