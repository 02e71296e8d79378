package hook

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// superviseArgument makes a program a supervisor process.
const superviseArgument = "__supervise"

// The files that a supervisor process uses.
const (
	requestsFD = 3
	resultsFD  = 4
)

// Supervise runs the supervisor process if this process was started as a supervisor: args
// are the program arguments. It reports whether it did, and returns the process exit code.
func Supervise(args []string) (code int, ran bool) {
	if len(args) < 5 || args[1] != superviseArgument {
		return 0, false
	}
	timeout, err := time.ParseDuration(args[2])
	if err != nil {
		return 2, true
	}
	unix.CloseOnExec(requestsFD)
	unix.CloseOnExec(resultsFD)
	requests, results := os.NewFile(requestsFD, "requests"), os.NewFile(resultsFD, "results")
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		_ = writeMessage(results, fmt.Appendf(nil, "adopt processes: %v", err)) // the peer may have ended
		return 1, true
	}
	s := newContainer(args[3], args[4:], timeout)
	go func() {
		defer close(s.events)
		for {
			event, err := readMessage(requests)
			if err != nil {
				return // the end
			}
			s.events <- event
		}
	}()
	for event := range s.events {
		result := s.run(event)
		if err := writeMessage(results, []byte(result)); err != nil {
			return 1, true
		}
	}
	return 0, true
}

// A container runs commands in sequence, and holds all processes that they start.
type container struct {
	path    string // program path
	argv    []string
	timeout time.Duration

	events  chan []byte    // closed: the end
	changed chan os.Signal // a child has ended
	ended   chan os.Signal // this process is to end
}

func newContainer(path string, argv []string, timeout time.Duration) *container {
	c := &container{path: path, argv: argv, timeout: timeout,
		events: make(chan []byte), changed: make(chan os.Signal, 1), ended: make(chan os.Signal, 1)}
	signal.Notify(c.changed, unix.SIGCHLD)
	signal.Notify(c.ended, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	return c
}

// Times for ending processes.
const (
	killInterval = 5 * time.Millisecond // until processes that lost their parent are looked for
	stuckTime    = 5 * time.Second      // without an end, after which processes in the kernel are given up
	killTime     = time.Minute          // after which processes that start others faster are given up
)

// run runs the command for an event until it and all processes that it started have ended.
// It returns "" on success, or the failure reason.
func (c *container) run(event []byte) string {
	leader, err := c.start(event)
	if err != nil {
		return err.Error()
	}
	g := group{leader: leader}
	timer := time.NewTimer(c.timeout)
	defer timer.Stop()
	for !g.reap() {
		select {
		case <-c.changed:
		case <-timer.C:
			return g.kill(fmt.Sprintf("after %v", c.timeout))
		case <-c.ended:
			return g.kill("by a signal")
		case <-c.events: // no event comes before this result
			return g.kill("at the end")
		}
	}
	return statusText(g.status)
}

// start starts the command. The standard input is the event.
func (c *container) start(event []byte) (pid int, err error) {
	in, toIn, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("open pipe: %w", err)
	}
	defer in.Close()
	pid, err = syscall.ForkExec(c.path, c.argv, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{in.Fd(), 1, 2},
		Sys:   &syscall.SysProcAttr{Setpgid: true}, // so that it may signal its own group
	})
	if err != nil {
		_ = toIn.Close() // unused
		return 0, fmt.Errorf("start: %w", err)
	}
	go func() {
		_, _ = toIn.Write(event) // the command may succeed without reading the input
		_ = toIn.Close()
	}()
	return pid, nil
}

// A group is a command's processes: the first process, and all orphans, which this
// process adopts.
type group struct {
	leader int
	ended  bool // the leader
	reaped int  // processes that have ended
	status unix.WaitStatus
}

// reap collects the processes that have ended, and reports whether all have.
func (g *group) reap() (all bool) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR:
		case err != nil: // ECHILD
			return true
		case pid == 0:
			return false
		default:
			g.reaped++
			if pid == g.leader {
				g.ended, g.status = true, status
			}
		}
	}
}

// kill kills all processes and returns the reason. Only children are killed: a child keeps
// its ID until reap collects it, and then the grandchildren become children of this
// process. So a process that starts others at the same time does not escape.
func (g *group) kill(when string) string {
	reason := "killed " + when
	if g.ended {
		reason = "killed the processes that it left " + when
	}
	var failed error
	begin := time.Now()
	progress, reaped := begin, g.reaped
	for ; !g.reap(); time.Sleep(killInterval) {
		left, err := children()
		now := time.Now()
		if g.reaped > reaped {
			progress, reaped = now, g.reaped
		}
		if now.Sub(progress) > stuckTime || now.Sub(begin) > killTime {
			return fmt.Sprintf("%s, except for %d processes: %v", reason, len(left), failed)
		}
		failed = err
		if !g.ended {
			_ = unix.Kill(-g.leader, unix.SIGKILL) // the group at once, also without /proc
		}
		for _, pid := range left {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				failed = fmt.Errorf("kill process %d: %w", pid, err)
			}
		}
	}
	return reason
}

// statusText returns the failure reason, "" on success.
func statusText(s unix.WaitStatus) string {
	switch {
	case s.Signaled():
		return "signal: " + s.Signal().String()
	case s.ExitStatus() != 0:
		return "exit status " + strconv.Itoa(s.ExitStatus())
	}
	return ""
}

// children returns the processes with this process as parent (proc_pid_stat(5)).
func children() (pids []int, err error) {
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("list /proc: no process")
	}
	parent := strconv.Itoa(os.Getpid())
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// PID (COMMAND) STATE PARENT …; the command may contain parentheses.
		after := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(after) > 1 && after[1] == parent {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids, err
}
