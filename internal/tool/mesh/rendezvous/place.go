// Package rendezvous finds out how a process of a cluster test was started: its name, the
// members that the launcher starts with it, and the address and token of the coordinator.
// It reads the environment of Slurm, of launchers with PMI-1 (MPICH, Intel MPI, srun
// --mpi=pmi2), of Open MPI and of Kubernetes.
package rendezvous

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// TokenVariable is the environment variable with the token of a run.
const TokenVariable = "IBKIT_MESH_TOKEN"

// An Engine is a launcher.
type Engine string // "": ranks from the command line

// The engines.
const (
	Slurm      Engine = "Slurm"
	PMI        Engine = "PMI"
	OpenMPI    Engine = "Open MPI"
	Kubernetes Engine = "Kubernetes"
)

// A Place is a process's part in a run.
type Place struct {
	Engine Engine
	Name   string // member name: the host, or "HOST:TASK" with several tasks on a host
	Rank   int    // the process with rank 0 coordinates
	Size   int

	Expect       []string // member names; nil: Size members with any name
	Coordinators []string // addresses to dial, HOST:PORT; one of them is right
	Shared       bool     // several tasks run on a host
	Index        *int     // of a pod that may start again; nil: Rank is unique in the run

	Token   string // "": the caller must know it
	Derived bool   // the token follows from public numbers, and is no secret

	address  string       // at which rank 0 listens
	listener net.Listener // of rank 0, from Find or Listen
	pmi      *pmi
}

// An Environment is where a place is found.
type Environment struct {
	Getenv   func(string) string
	Hostname func() (string, error)
	UserID   int
}

// ErrNoLauncher is returned if no launcher started the process.
var ErrNoLauncher = errors.New("no launcher started this process")

// A Request is the part of the place that the command line sets. Its zero value leaves all to the
// launcher.
type Request struct {
	Ranked     bool
	Rank, Size int
	Rendezvous string // address HOST:PORT of rank 0
	Name       string
	Listen     string // address of rank 0; "": derived from the job
}

// Find returns the place of this process. It may wait for others (PMI) until ctx ends. The
// caller closes the place after the run.
func Find(ctx context.Context, e Environment, r Request) (*Place, error) {
	p, err := find(ctx, e, r)
	if err != nil {
		return nil, err
	}
	if r.Name != "" {
		p.Name = r.Name
	}
	if token := e.Getenv(TokenVariable); token != "" {
		p.Token, p.Derived = token, false
	}
	return p, nil
}

func find(ctx context.Context, e Environment, r Request) (*Place, error) {
	switch {
	case r.Ranked:
		return ranked(e, r)
	case r.Rendezvous != "" && e.Getenv("OMPI_COMM_WORLD_RANK") != "":
		return openMPI(e, r)
	case e.Getenv("SLURM_STEP_NODELIST") != "" && e.Getenv("SLURM_PROCID") != "":
		p, err := slurm(e, r)
		if err == nil && e.Getenv("PMI_FD") != "" {
			err = p.exchange(ctx, e, r)
		}
		return p, err
	case e.Getenv("PMI_FD") != "":
		return hydra(ctx, e, r)
	case e.Getenv("OMPI_COMM_WORLD_RANK") != "":
		return nil, fmt.Errorf("find the coordinator: %s does not tell its address", OpenMPI)
	case e.Getenv("LWS_LEADER_ADDRESS") != "":
		return grouped(e, r)
	case e.Getenv("JOB_COMPLETION_INDEX") != "":
		return indexed(e, r)
	}
	return nil, ErrNoLauncher
}

// Listen returns the listener of rank 0. It belongs to the caller.
func (p *Place) Listen() (l net.Listener, err error) {
	if l, p.listener = p.listener, nil; l != nil {
		return l, nil
	}
	if l, err = net.Listen("tcp", p.address); err != nil {
		return nil, fmt.Errorf("listen for workers: %w", err)
	}
	return l, nil
}

// Close ends the part of the process in the launcher's protocol.
func (p *Place) Close() error {
	err := p.closeListener()
	if p.pmi != nil {
		err = errors.Join(err, p.pmi.finalize())
	}
	return err
}

// closeListener closes a listener that nobody took.
func (p *Place) closeListener() error {
	if p.listener == nil {
		return nil
	}
	return p.listener.Close()
}

// ranked returns the place with a rank from the command line.
func ranked(e Environment, r Request) (*Place, error) {
	p := &Place{Rank: r.Rank, Size: r.Size, Coordinators: []string{r.Rendezvous}}
	return p.named(e, 0, 1, r.Rendezvous, r.Listen)
}

// openMPI returns the place of an Open MPI process.
func openMPI(e Environment, r Request) (*Place, error) {
	var numbers [4]int
	for i, name := range []string{"RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE"} {
		var err error
		if numbers[i], err = number(e, "OMPI_COMM_WORLD_"+name); err != nil {
			return nil, err
		}
	}
	p := &Place{Engine: OpenMPI, Rank: numbers[0], Size: numbers[1], Coordinators: []string{r.Rendezvous}}
	return p.named(e, numbers[2], numbers[3], r.Rendezvous, r.Listen)
}

// named sets the name from the host name and the task on this host, and the address of rank
// 0.
func (p *Place) named(e Environment, task, tasks int, rendezvous, listen string) (*Place, error) {
	_, port, err := net.SplitHostPort(rendezvous)
	if err != nil {
		return nil, fmt.Errorf("invalid rendezvous %q: want HOST:PORT", rendezvous)
	}
	p.address = cmp.Or(listen, net.JoinHostPort("", port))
	host, err := HostName(e)
	if err != nil {
		return nil, err
	}
	p.Shared = tasks > 1
	p.Name = taskName(host, task, p.Shared)
	return p, nil
}

// taskName returns the name of a task: that of its host unless it shares the host.
func taskName(host string, task int, shared bool) string {
	if !shared {
		return host
	}
	return host + ":" + strconv.Itoa(task)
}

// HostName returns the name of this host without its domain.
func HostName(e Environment) (string, error) {
	host, err := e.Hostname()
	if err != nil {
		return "", fmt.Errorf("read host name: %w", err)
	}
	host, _, _ = strings.Cut(host, ".")
	return host, nil
}

// WorkerName returns the name of a worker that joins an address: that of its node under
// Kubernetes, or of its host, with a task number if Open MPI runs several tasks there.
func WorkerName(e Environment) (string, error) {
	if node := e.Getenv(NodeVariable); node != "" {
		return node, nil
	}
	host, err := HostName(e)
	if err != nil || e.Getenv("OMPI_COMM_WORLD_LOCAL_SIZE") == "" {
		return host, err
	}
	task, err := number(e, "OMPI_COMM_WORLD_LOCAL_RANK")
	if err != nil {
		return "", err
	}
	tasks, err := number(e, "OMPI_COMM_WORLD_LOCAL_SIZE")
	return taskName(host, task, tasks > 1), err
}

// number returns an environment variable that must be a number of a process.
func number(e Environment, name string) (int, error) {
	text := e.Getenv(name)
	n, err := strconv.ParseUint(text, 10, 24)
	if err != nil {
		return 0, fmt.Errorf("invalid %s: got %q, want a number", name, text)
	}
	return int(n), nil
}
