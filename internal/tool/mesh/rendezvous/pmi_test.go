package rendezvous

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A manager is a process manager with PMI-1 for tests.
type manager struct {
	t       *testing.T
	size    int
	answers map[string]string // replace answers, by command

	lock    sync.Mutex
	values  map[string]string
	waiting int
	barrier chan struct{}
	calls   []string
}

func newManager(t *testing.T, size int) *manager {
	return &manager{t: t, size: size, values: map[string]string{}, barrier: make(chan struct{})}
}

// start serves a process and returns its environment.
func (m *manager) start(rank int, more string) Environment {
	m.t.Helper()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	file := os.NewFile(uintptr(ends[0]), "manager")
	conn, err := net.FileConn(file)
	file.Close()
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { conn.Close() })
	go m.serve(conn)
	e := environment(fmt.Sprintf("PMI_FD=%d PMI_RANK=%d PMI_SIZE=%d %s", ends[1], rank, m.size, more))
	e.Hostname = func() (string, error) { return "localhost", nil }
	return e
}

func (m *manager) serve(conn net.Conn) {
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		if _, err := fmt.Fprintln(conn, m.answer(lines.Text())); err != nil {
			return
		}
	}
}

func (m *manager) answer(line string) string {
	fields := map[string]string{}
	for word := range strings.FieldsSeq(line) {
		key, value, _ := strings.Cut(word, "=")
		fields[key] = value
	}
	command := fields["cmd"]
	m.lock.Lock()
	m.calls = append(m.calls, command)
	defer m.lock.Unlock()
	if other, ok := m.answers[command]; ok {
		return other
	}
	switch command {
	case "init":
		return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
	case "get_my_kvsname":
		return "cmd=my_kvsname kvsname=space1 rc=0"
	case "put":
		m.values[fields["kvsname"]+fields["key"]] = fields["value"]
		return "cmd=put_result rc=0 msg=success"
	case "barrier_in":
		if m.waiting++; m.waiting == m.size {
			close(m.barrier)
		}
		m.lock.Unlock()
		<-m.barrier
		m.lock.Lock()
		return "cmd=barrier_out rc=0"
	case "get":
		return "cmd=get_result rc=0 msg=success value=" + m.values[fields["kvsname"]+fields["key"]]
	case "finalize":
		return "cmd=finalize_ack rc=0"
	}
	return "cmd=error rc=-1"
}

// TestFind_pmi checks that all processes receive the address and the token of rank 0, which
// listens there.
func TestFind_pmi(t *testing.T) {
	const size = 3
	m := newManager(t, size)
	places := make([]*Place, size)
	var all sync.WaitGroup
	for rank := range size {
		e := m.start(rank, "MPI_LOCALRANKID="+strconv.Itoa(rank)+" MPI_LOCALNRANKS=3")
		all.Go(func() {
			var err error
			if places[rank], err = Find(context.Background(), e, Request{}); err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	l, err := places[0].Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for rank, p := range places {
		if p.Engine != PMI || p.Rank != rank || p.Size != size || p.Name != fmt.Sprintf("localhost:%d", rank) || len(p.Token) != 32 || p.Token != places[0].Token || p.Derived {
			t.Errorf("got %+v, want rank %d with the token of all", p, rank)
		}
		_, port, _ := net.SplitHostPort(p.Coordinators[0])
		if _, want, _ := net.SplitHostPort(l.Addr().String()); port != want {
			t.Errorf("rank %d: got coordinators %v, want port %s", rank, p.Coordinators, want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := len(slices.DeleteFunc(m.calls, func(c string) bool { return c != "finalize" })); n != size {
		t.Errorf("got %d calls of finalize, want %d", n, size)
	}
}

// TestFind_slurmPMI checks that a task of srun --mpi=pmi2 has the names of Slurm, and
// address and token of PMI.
func TestFind_slurmPMI(t *testing.T) {
	m := newManager(t, 1)
	p, err := Find(t.Context(), m.start(0, `SLURM_STEP_NODELIST=n1 SLURM_STEP_TASKS_PER_NODE=1 SLURM_PROCID=0 SLURMD_NODENAME=n1
		SLURM_LAUNCH_NODE_IPADDR=127.0.0.1`), Request{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var hosts []string
	for _, a := range p.Coordinators {
		host, _, _ := net.SplitHostPort(a)
		hosts = append(hosts, host)
	}
	if p.Engine != Slurm || p.Name != "n1" || p.Derived || !slices.Equal(hosts, []string{"localhost", "n1", "127.0.0.1", "localhost"}) {
		t.Errorf("got %+v, want the name of the node, a random token and the hosts of both", p)
	}
}

func TestFind_pmiInvalid(t *testing.T) {
	for command, answer := range map[string]string{
		"init":           "cmd=response_to_init rc=-1",
		"get_my_kvsname": "HTTP/1.1 400 Bad Request",
		"put":            "cmd=put_result rc=17 msg=full",
		"barrier_in":     strings.Repeat("x", maxLine+1),
		"get":            "cmd=get_result rc=0 value=",
	} {
		t.Run(command, func(t *testing.T) {
			m := newManager(t, 1)
			m.answers = map[string]string{command: answer}
			p, err := Find(t.Context(), m.start(0, ""), Request{})
			if err == nil || !strings.HasPrefix(err.Error(), "exchange the address of the coordinator by PMI: got ") {
				t.Errorf("got %+v, %v, want an error about the answer", p, err)
			}
		})
	}
}

// TestFind_pmiInterrupted checks that a rank that does not start ends the wait of others at
// the time of the caller.
func TestFind_pmiInterrupted(t *testing.T) {
	m := newManager(t, 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	missing := fmt.Errorf("rank 1 is missing")
	go func() {
		for {
			m.lock.Lock()
			waiting := m.waiting
			m.lock.Unlock()
			if waiting > 0 {
				cancel(missing)
				return
			}
		}
	}()
	if p, err := Find(ctx, m.start(0, ""), Request{}); err == nil || !strings.Contains(err.Error(), missing.Error()) {
		t.Errorf("got %+v, %v, want %v", p, err, missing)
	}
	close(m.barrier)
}
