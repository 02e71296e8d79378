//go:build inguest

package verbs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/verbs"
)

// resources returns the device's object counts in the kernel, including the
// kernel's own.
func resources(t *testing.T) map[string]any {
	t.Helper()
	out, err := exec.Command("rdma", "-j", "resource", "show", device).Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	if err := json.Unmarshal(out, &all); err != nil || len(all) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	return all[0]
}

// leaves checks that run leaves no object in the kernel.
func leaves(t *testing.T, name string, run func()) {
	t.Helper()
	before := resources(t)
	run()
	if d := cmp.Diff(before, resources(t)); d != "" {
		t.Errorf("%s: got other objects (-before +after):\n%s", name, d)
	}
}

// createAll creates an object for each kind and starts a transfer.
func createAll(t *testing.T, c *verbs.Context) *endpoint {
	t.Helper()
	e := newEndpoint(t, c, verbs.QPTypeRC, true)
	e.connect(e)
	must(e.pd.AllocMW())(t)
	must(e.pd.CreateAH(path(t, c)))(t)
	e.receive(1, e.mr.SGE(in, 8))
	e.receive(2, e.mr.SGE(in, 8))
	e.send(verbs.SendWR{ID: 3, Opcode: verbs.OpSend, SGEs: []verbs.SGE{e.mr.SGE(out, 8)}})
	return e
}

func TestGuestCloseContext(t *testing.T) {
	leaves(t, "closing a context", func() {
		c := open(t)
		e := createAll(t, c)
		during := resources(t)
		for _, kind := range []string{"pd", "cq", "qp", "mr", "ctx"} {
			if n, ok := during[kind].(float64); !ok || n == 0 {
				t.Errorf("got no %s in %v", kind, during)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		checkClosed(t, e)
	})
}

// checkClosed checks that no object in a closed context works.
func checkClosed(t *testing.T, e *endpoint) {
	t.Helper()
	var c [1]verbs.Completion
	for name, use := range map[string]func() error{
		"close PD":      e.pd.Close,
		"close MR":      e.mr.Close,
		"close channel": e.channel.Close,
		"close CQ":      e.cq.Close,
		"close SRQ":     e.srq.Close,
		"close QP":      e.qp.Close,
		"PD":            func() error { _, err := e.context.AllocPD(); return err },
		"MW":            func() error { _, err := e.pd.AllocMW(); return err },
		"AH":            func() error { _, err := e.pd.CreateAH(verbs.Path{Port: 1}); return err },
		"channel":       func() error { _, err := e.context.NewCompChannel(); return err },
		"CQ":            func() error { _, err := e.context.CreateCQ(verbs.CQInit{Entries: 1}); return err },
		"wait":          func() error { _, err := e.channel.Wait(t.Context()); return err },
		"poll":          func() error { _, err := e.cq.Poll(c[:]); return err },
		"arm":           func() error { return e.cq.Arm(false) },
		"post send":     func() error { _, err := e.qp.PostSend(make([]verbs.SendWR, 1)); return err },
		"post receive":  func() error { _, err := e.qp.PostRecv(make([]verbs.RecvWR, 1)); return err },
		"modify":        func() error { return e.qp.Modify(verbs.QPStateError, verbs.QPAttr{}) },
		"query":         func() error { _, err := e.qp.Query(); return err },
		"post to SRQ":   func() error { _, err := e.srq.PostRecv(make([]verbs.RecvWR, 1)); return err },
		"limit of SRQ":  func() error { return e.srq.SetLimit(1) },
		"query SRQ":     func() error { _, err := e.srq.Query(); return err },
	} {
		if err := use(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: got error %v, want %v", name, err, fs.ErrClosed)
		}
	}
}

// Each object can be closed once, after the objects that use it.
func TestGuestCloseObjects(t *testing.T) {
	leaves(t, "closing objects", func() {
		c := open(t)
		e := createAll(t, c)
		ah, mw := must(e.pd.CreateAH(path(t, c)))(t), must(e.pd.AllocMW())(t)
		memory := must(c.NewMemory(1, verbs.MemoryOptions{}))(t)
		mr := must(e.pd.RegisterMR(memory, 0))(t)
		for name, object := range map[string]interface{ Close() error }{
			"PD": e.pd, "CQ": e.cq, "channel": e.channel, "SRQ": e.srq,
		} {
			if err := object.Close(); !errors.Is(err, verbs.ErrBusy) {
				t.Errorf("Close of a %s in use: got error %v, want %v", name, err, verbs.ErrBusy)
			}
		}
		if err := memory.Close(); !errors.Is(err, verbs.ErrBusy) {
			t.Errorf("Close of registered memory: got error %v, want %v", err, verbs.ErrBusy)
		}
		for i, object := range []interface{ Close() error }{ah, mw, mr, memory, e.qp, e.srq, e.cq, e.channel} {
			if err := object.Close(); err != nil {
				t.Errorf("Close of object %d: got error %v", i, err)
			}
			if err := object.Close(); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("second Close of object %d: got error %v, want %v", i, err, fs.ErrClosed)
			}
		}
		if err := c.Close(); err != nil { // closes the remaining objects
			t.Error(err)
		}
	})
}

// TestLive is the process that TestGuestKilled kills.
func TestLive(t *testing.T) {
	createAll(t, open(t))
	os.Stdout.WriteString("all objects created\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

func TestGuestKilled(t *testing.T) {
	leaves(t, "kill -9", func() {
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestLive$")
		input, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer input.Close()
		output, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(output).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "all objects") {
			t.Errorf("got %q, error %v, want a line about the objects", line, err)
		}
		if n, ok := resources(t)["ctx"].(float64); !ok || n == 0 {
			t.Error("got no context of a live process")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Error(err)
		}
	})
}

// Goroutines that transfer data, each with its own queue pair but with a common completion
// queue and a common shared receive queue, end with an error when the context closes.
func TestGuestCloseWhileMoving(t *testing.T) {
	leaves(t, "closing during transfers", func() {
		c := open(t)
		e := newEndpoint(t, c, verbs.QPTypeRC, true)
		moved := make(chan bool, 1)
		var group sync.WaitGroup
		loop := func(name string, step func() (int, error)) {
			group.Go(func() {
				for {
					n, err := step()
					switch {
					case errors.Is(err, fs.ErrClosed):
						return
					case err != nil && !errors.Is(err, verbs.ErrFull):
						t.Errorf("%s: %v", name, err)
						return
					case n == 0:
						runtime.Gosched()
					}
				}
			})
		}
		for range 4 {
			one := *e
			one.qp = must(e.pd.CreateQP(verbs.QPInit{
				Type: verbs.QPTypeRC, SendCQ: e.cq, RecvCQ: e.cq, SRQ: e.srq, Cap: verbs.QPCap{MaxSendWR: 4, MaxSendSGE: 1},
			}))(t)
			one.connect(&one)
			wrs := []verbs.SendWR{remote(verbs.SendWR{
				Opcode: verbs.OpWriteWithImm, Flags: verbs.SendSignaled, SGEs: []verbs.SGE{e.mr.SGE(out, 64)},
			}, e.mr, in)}
			loop("send", func() (int, error) { return one.qp.PostSend(wrs) })
		}
		for range 2 {
			loop("receive", func() (int, error) { return e.srq.PostRecv(make([]verbs.RecvWR, 1)) })
			into := make([]verbs.Completion, 8)
			total := 0
			loop("poll", func() (int, error) {
				n, err := e.cq.Poll(into)
				if total += n; total > 100 {
					select {
					case moved <- true:
					default:
					}
				}
				return n, err
			})
		}
		select {
		case <-moved:
		case <-time.After(timeout):
			t.Errorf("got no 100 completions after %v", timeout)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		group.Wait()
	})
}

// A canceled wait has no effect on the kernel or on the next wait.
func TestGuestCancelled(t *testing.T) {
	leaves(t, "cancelling", func() {
		c := open(t)
		a := newEndpoint(t, c, verbs.QPTypeRC, false)
		a.connect(a)
		var done [4]verbs.Completion
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			began := make(chan error)
			go func() {
				_, err := a.cq.Wait(ctx, done[:])
				began <- err
			}()
			cancel()
			if err := <-began; !errors.Is(err, context.Canceled) {
				t.Errorf("got error %v, want %v", err, context.Canceled)
			}
			if _, err := a.cq.Wait(ctx, done[:]); !errors.Is(err, context.Canceled) {
				t.Errorf("second wait: got error %v, want %v", err, context.Canceled)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := a.cq.Wait(ctx, done[:]); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v, want %v", err, context.DeadlineExceeded)
		}
		a.receive(1)
		a.send(verbs.SendWR{ID: 2, Opcode: verbs.OpSend})
		for range 2 {
			if c := a.event(); c.Err() != nil {
				t.Error(c.Err())
			}
		}

		// Close ends a wait after the events that are already in the channel.
		waited := make(chan error)
		go func() {
			var err error
			for err == nil {
				_, err = a.channel.Wait(t.Context())
			}
			waited <- err
		}()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := <-waited; !errors.Is(err, fs.ErrClosed) {
			t.Errorf("wait during Close: got error %v, want %v", err, fs.ErrClosed)
		}
	})
}
