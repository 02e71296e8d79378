package crew

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// listenTCP returns a listener on the loopback interface.
func listenTCP(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// startTCP starts workers n0001 and so on, and returns a function that waits for their ends.
func startTCP(t testing.TB, at string, count int) (end func()) {
	var all sync.WaitGroup
	for i := range count {
		o := WorkerOptions{
			Token: token, Version: version, Name: fmt.Sprintf("n%04d", i), Coordinators: []string{at}, Within: time.Minute,
		}
		o.Engine = measure(func(_ context.Context, s Send) Figures { return Figures{Error: "to " + s.To} })
		all.Go(func() {
			var end *EndError
			if _, err := Work(context.Background(), o); err != nil && !errors.As(err, &end) {
				t.Error(err)
			}
		})
	}
	return all.Wait
}

// shift returns the round in which each member sends to the member at a distance.
func shift(members []string, by int, model *Figures) (r Round) {
	for i, m := range members {
		r.Flows = append(r.Flows, Flow{From: m, To: members[(i+by)%len(members)], Model: model})
	}
	return r
}

// TestCrew_tcp checks a run over TCP, and the loss of a connection.
func TestCrew_tcp(t *testing.T) {
	l := listenTCP(t)
	end := startTCP(t, l.Addr().String(), 3)
	c, err := Gather(t.Context(), l, Options{Token: token, Version: version, Count: 3, Within: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	members := c.Members()
	got, err := c.Round(t.Context(), shift(members, 1, nil))
	if err != nil || len(got) != 3 || got[0].Error != "to n0001" || got[2].Error != "to n0000" {
		t.Errorf("got %v, %v, want a result of each worker", text(got), err)
	}
	_ = c.order[1].conn.Close()
	got, err = c.Round(t.Context(), shift(members, 1, nil))
	if lost := c.Losses(); err != nil || len(lost) != 1 || lost[0].Name != "n0001" || lost[0].Kind != Died || got[2].State != Measured {
		t.Errorf("got %v, %v and losses %v, want that of n0001", text(got), err, lost)
	}
	c.Close("")
	end()
}

// TestWork_refusedTCP checks that a refusal arrives although the coordinator closes the
// connection, and that nobody listens after the run.
func TestWork_refusedTCP(t *testing.T) {
	l := listenTCP(t)
	refused := make(chan error)
	go func() {
		o := WorkerOptions{Token: "guess", Version: version, Name: "a", Coordinators: []string{l.Addr().String()}, Within: time.Minute}
		_, err := Work(context.Background(), o)
		refused <- err
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gathered := make(chan error)
	go func() {
		_, err := Gather(ctx, l, Options{Token: token, Version: version, Count: 1, Within: time.Minute})
		gathered <- err
	}()
	err := <-refused
	if join, ok := errors.AsType[*JoinError](err); !ok || !join.Refused {
		t.Errorf("got %v, want a refusal", err)
	}
	cancel()
	if err := <-gathered; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if conn, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("got a connection, want none after the run")
		conn.Close()
	}
}

// workersVariable has the address of the coordinator and the number of workers that
// TestWorkers starts.
const workersVariable = "IBKIT_TEST_CREW"

// TestWorkers is the workers of BenchmarkCrew in a process of their own.
func TestWorkers(t *testing.T) {
	at, count, ok := strings.Cut(os.Getenv(workersVariable), " ")
	if !ok {
		return // no benchmark
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		t.Fatal(err)
	}
	startTCP(t, at, n)()
}

// startProcess starts workers in another process, which ends with the run.
func startProcess(b *testing.B, l net.Listener, count int) *exec.Cmd {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestWorkers$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%v %d", workersVariable, l.Addr(), count))
	cmd.Stderr = b.Output()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// cpuTime returns the processor time of this process.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCrew measures joining and rounds with all workers in another process, over TCP. The
// processor time is that of the coordinator alone, as on a machine of its own.
func BenchmarkCrew(b *testing.B) {
	for _, count := range []int{128, 1024, 4096} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			l := listenTCP(b)
			workers := startProcess(b, l, count)
			began := time.Now()
			c, err := Gather(b.Context(), l, Options{Token: token, Version: version, Count: count, Within: time.Minute})
			if err != nil {
				b.Fatal(err)
			}
			joined, before := time.Since(began), cpuTime(b)
			members := c.Members()
			model := &Figures{Gbps: new(float64)}
			for i := 0; b.Loop(); i++ {
				if _, err := c.Round(b.Context(), shift(members, 1+i%(count-1), model)); err != nil {
					b.Fatal(err)
				}
			}
			rounds := float64(b.N)
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/rounds, "ms/round")
			b.ReportMetric(float64((cpuTime(b)-before).Milliseconds())/rounds, "cpu-ms/round")
			b.ReportMetric(float64(joined.Milliseconds()), "ms-join")
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			b.ReportMetric(float64(memory.Sys)/1e6, "MB")
			if lost := c.Losses(); len(lost) > 0 {
				b.Errorf("got losses %v", lost)
			}
			c.Close("")
			if err := workers.Wait(); err != nil {
				b.Error(err)
			}
			s := workers.ProcessState
			b.ReportMetric(float64((s.UserTime()+s.SystemTime()).Milliseconds())/rounds, "worker-cpu-ms/round")
		})
	}
}
