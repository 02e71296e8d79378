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
	"github.com/ibkit/ibkit/verbs/dmamem"
)

// resources returns how many objects the kernel has of the device, its own too.
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

// leaves checks that what happens leaves no object in the kernel.
func leaves(t *testing.T, what string, happens func()) {
	t.Helper()
	before := resources(t)
	happens()
	if d := cmp.Diff(before, resources(t)); d != "" {
		t.Errorf("%s leaves objects:\n%s", what, d)
	}
}

// everything makes one object of each kind, and begins to move data.
func everything(t *testing.T, c *verbs.Context) *endpoint {
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
		e := everything(t, c)
		during := resources(t)
		for _, kind := range []string{"pd", "cq", "qp", "mr", "ctx"} {
			if n, ok := during[kind].(float64); !ok || n == 0 {
				t.Errorf("no %s while they are there: %v", kind, during)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		used(t, e)
	})
}

// used checks that no object of a closed context works.
func used(t *testing.T, e *endpoint) {
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
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Objects are closed one by one, those that others need last, and only once.
func TestGuestCloseObjects(t *testing.T) {
	leaves(t, "closing objects", func() {
		c := open(t)
		e := everything(t, c)
		ah, mw := must(e.pd.CreateAH(path(t, c)))(t), must(e.pd.AllocMW())(t)
		memory := must(c.NewMemory(1, false))(t)
		mr := must(e.pd.RegisterMR(memory, 0))(t)
		for name, object := range map[string]interface{ Close() error }{
			"PD": e.pd, "CQ": e.cq, "channel": e.channel, "SRQ": e.srq,
		} {
			if err := object.Close(); !errors.Is(err, verbs.ErrBusy) {
				t.Errorf("close %s that is in use: %v", name, err)
			}
		}
		if err := memory.Close(); !errors.Is(err, dmamem.ErrRegistered) {
			t.Errorf("unmap registered memory: %v", err)
		}
		for i, object := range []interface{ Close() error }{ah, mw, mr, memory, e.qp, e.srq, e.cq, e.channel} {
			if err := object.Close(); err != nil {
				t.Errorf("close %d: %v", i, err)
			}
			if err := object.Close(); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("close %d again: %v", i, err)
			}
		}
		if err := c.Close(); err != nil { // with the rest
			t.Error(err)
		}
	})
}

// TestLive is a process that is killed.
func TestLive(t *testing.T) {
	everything(t, open(t))
	os.Stdout.WriteString("everything is there\n")
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
		if err != nil || !strings.HasPrefix(line, "everything") {
			t.Errorf("%v: %s", err, line)
		}
		if n, ok := resources(t)["ctx"].(float64); !ok || n == 0 {
			t.Error("no context of a live process")
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

// Threads that move data, each by a queue pair of its own but all by one completion
// queue and one shared receive queue, end with an error when the context closes.
func TestGuestCloseWhileMoving(t *testing.T) {
	leaves(t, "closing in the midst of it", func() {
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
		case <-time.After(patience):
			t.Error("nothing moves")
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		group.Wait()
	})
}

// A wait that is given up leaves nothing behind, neither in the kernel nor for the
// next wait.
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
				t.Errorf("wait: %v", err)
			}
			if _, err := a.cq.Wait(ctx, done[:]); !errors.Is(err, context.Canceled) {
				t.Errorf("another wait: %v", err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := a.cq.Wait(ctx, done[:]); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("wait: %v", err)
		}
		a.receive(1)
		a.send(verbs.SendWR{ID: 2, Opcode: verbs.OpSend})
		for range 2 {
			if c := a.event(); c.Err() != nil {
				t.Error(c.Err())
			}
		}

		// Close wakes who waits, after what the channel still has to tell.
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
			t.Errorf("wait while closing: %v", err)
		}
	})
}
