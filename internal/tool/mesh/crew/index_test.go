package crew

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pod returns the options of a pod's worker.
func (r *rig) pod(index int, node string) WorkerOptions {
	o := r.options(node)
	o.Index = &index
	return o
}

// gatherCount returns a crew of a number of workers.
func (r *rig) gatherCount(count int) *Crew {
	c, err := Gather(r.t.Context(), r.l, Options{Token: token, Version: version, Count: count, Within: 30 * time.Second})
	if err != nil {
		r.t.Error(err)
	}
	return c
}

// TestGather_indexes checks pods that start twice, or twice on a node: the run has a worker of
// each index, and the others are named.
func TestGather_indexes(t *testing.T) {
	for name, test := range map[string]struct {
		index                          int
		node                           string
		members, explain, refused, end string
	}{
		"another node": {1, "n3", "n1 n3", "index 2; refused n2 (pipe): index 1 has started again on n3", "n2 (pipe): index 1 has started again on n3", ""},
		"same node":    {1, "n2", "n1 n2", "index 2; refused n2 (pipe): index 1 has started again on n2", "n2 (pipe): index 1 has started again on n2", ""},
		"shared node": {
			2, "n2", "n1 n2", "index 2; refused n2 (pipe): index 2 is on the node of index 1", "n2 (pipe): index 2 is on the node of index 1",
			"join the coordinator at c: refused: index 2 is on the node of index 1",
		},
		"third worker": {2, "n3", "n1 n2 n3", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				crew := make(chan *Crew)
				go func() { crew <- r.gatherCount(3) }()
				r.join(t.Context(), r.pod(0, "n1"), r.pod(1, "n2"))
				synctest.Wait()
				end := make(chan string, 1)
				r.workers.Go(func() {
					_, err := Work(t.Context(), r.pod(test.index, test.node))
					text := ""
					if err != nil {
						text = err.Error()
					}
					end <- text
				})
				c := <-crew
				if got := strings.Join(c.Members(), " "); got != test.members {
					t.Errorf("got members %s, want %s", got, test.members)
				}
				if got := c.Explain(); got != test.explain {
					t.Errorf("got %q, want %q", got, test.explain)
				}
				if got, _ := c.Refused(); test.refused != "" && (len(got) != 1 || got[0].String() != test.refused) {
					t.Errorf("got refused %v, want %s", got, test.refused)
				}
				if got, err := c.Round(t.Context(), Round{All: true}); err != nil || len(got) > 0 {
					t.Errorf("round: got %v, %v", got, err)
				}
				c.Close("")
				if got := <-end; got != test.end {
					t.Errorf("got end %q, want %q", got, test.end)
				}
			})
		})
	}
}

// TestWork_again checks that a pod's worker joins again if it loses the coordinator before the
// run, and that it does not after the begin.
func TestWork_again(t *testing.T) {
	for name, test := range map[string]struct {
		count     int
		interrupt bool // the coordinator, rather than the connection
		dials     int
		end       string
	}{
		"before the run": {2, false, 2, ""},
		"in the run":     {1, false, 1, "the connection to the coordinator ended: the connection ended"},
		"interrupted":    {2, true, 66, "join the coordinator at c: no coordinator within 1m0s: use of closed network connection"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				var conns []net.Conn
				o := r.pod(1, "n2")
				o.Dial = func(ctx context.Context, at string) (net.Conn, error) {
					conn, err := r.l.Dial(ctx, at)
					conns = append(conns, conn)
					return conn, err
				}
				ctx, interrupt := context.WithCancelCause(t.Context())
				defer interrupt(nil)
				crew := make(chan *Crew, 1)
				go func() {
					c, _ := Gather(ctx, r.l, Options{Token: token, Version: version, Count: test.count, Within: time.Minute})
					crew <- c
				}()
				end := make(chan string, 1)
				r.workers.Go(func() {
					_, err := Work(t.Context(), o)
					end <- strings.TrimPrefix(fmt.Sprint(err), "<nil>")
				})
				synctest.Wait()
				if test.interrupt {
					interrupt(errors.New("interrupted"))
				} else {
					_ = conns[0].Close()
					synctest.Wait()
					r.join(t.Context(), r.pod(0, "n1"))
				}
				if c := <-crew; c != nil {
					synctest.Wait()
					c.Close("")
				}
				if got := <-end; got != test.end || len(conns) != test.dials {
					t.Errorf("got %q after %d dials, want %q after %d", got, len(conns), test.end, test.dials)
				}
			})
		})
	}
}

// TestWork_interrupted checks that a pod that is evicted before the run fails, so that its Job
// starts it again, and that it ends as other workers in the run.
func TestWork_interrupted(t *testing.T) {
	for name, test := range map[string]struct {
		count int
		ended bool
	}{"before the run": {2, false}, "in the run": {1, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				ctx, evict := context.WithCancelCause(t.Context())
				defer evict(nil)
				crew := make(chan *Crew)
				go func() { crew <- r.gatherCount(test.count) }()
				end := make(chan error, 1)
				r.workers.Go(func() { _, err := Work(ctx, r.pod(0, "n1")); end <- err })
				synctest.Wait()
				evict(errors.New("evicted"))
				err := <-end
				if _, ended := errors.AsType[*EndError](err); ended != test.ended || err == nil {
					t.Errorf("got %v, want the end of a worker in the run: %v", err, test.ended)
				}
				if !test.ended {
					r.join(t.Context(), r.pod(0, "n2"), r.pod(1, "n3"))
				}
				c := <-crew
				if got := strings.Join(c.Members(), " "); !test.ended && got != "n2 n3" {
					t.Errorf("got members %q, want n2 n3", got)
				}
				c.Close("")
			})
		})
	}
}

// TestWork_lateName checks that a worker waits for the name of the coordinator, with few
// queries, and reports it once.
func TestWork_lateName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		queries, reports := 0, []string{}
		o := r.pod(1, "n2")
		o.Within = 10 * time.Minute
		o.Dial = func(context.Context, string) (net.Conn, error) {
			queries++
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "mesh-0.mesh", IsNotFound: true}}
		}
		o.Waiting = func(err error) { reports = append(reports, err.Error()) }
		_, err := Work(t.Context(), o)
		if want := "join the coordinator at c: no coordinator within 10m0s: dial tcp: lookup mesh-0.mesh: no such host"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if want := "join the coordinator at c: dial tcp: lookup mesh-0.mesh: no such host"; len(reports) != 1 || reports[0] != want {
			t.Errorf("got %q, want %q", reports, want)
		}
		if queries < 100 || queries > 140 {
			t.Errorf("got %d queries in 10 minutes, want about 120", queries)
		}
	})
}
