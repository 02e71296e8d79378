package rendezvous

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/hostlist"
)

// Ports of coordinators: a port of this range follows from job and step, so that several
// jobs can share a host.
const (
	firstPort = 18600
	portCount = 1000
)

// slurm returns the place of a task in a job step.
func slurm(e Environment, r Request) (*Place, error) {
	nodes, err := hostlist.Expand(e.Getenv("SLURM_STEP_NODELIST"))
	if err != nil {
		return nil, fmt.Errorf("invalid SLURM_STEP_NODELIST: %w", err)
	}
	rank, err := number(e, "SLURM_PROCID")
	if err != nil {
		return nil, err
	}
	tasks, err := tasksPerNode(e.Getenv("SLURM_STEP_TASKS_PER_NODE"), len(nodes))
	if err != nil {
		return nil, err
	}
	p := &Place{Engine: Slurm, Rank: rank}
	for _, n := range tasks {
		p.Size += n
		p.Shared = p.Shared || n > 1
	}
	for i, node := range nodes {
		for task := range tasks[i] {
			p.Expect = append(p.Expect, taskName(node, task, p.Shared))
		}
	}
	local := 0
	if p.Shared {
		if local, err = number(e, "SLURM_LOCALID"); err != nil {
			return nil, err
		}
	}
	node := e.Getenv("SLURMD_NODENAME")
	if node == "" {
		return nil, fmt.Errorf("SLURMD_NODENAME is not set, want the name of this node")
	}
	p.Name = taskName(node, local, p.Shared)
	p.Token, p.Derived = slurmToken(e), true
	return p, p.meet(e, nodes[0], r.Listen)
}

// meet sets the addresses of the coordinator: task 0 runs on the first node. Its name may
// not be known to the resolver; often the step was launched there.
func (p *Place) meet(e Environment, first, listen string) error {
	text := slurmPort(e)
	p.address = net.JoinHostPort("", text)
	if listen != "" {
		_, port, err := net.SplitHostPort(listen)
		if err != nil || port == "0" {
			return fmt.Errorf("invalid address %q of rank 0: want a port that all tasks know, such as :18600", listen)
		}
		p.address, text = listen, port
	}
	hosts := []string{first}
	if launcher := e.Getenv("SLURM_LAUNCH_NODE_IPADDR"); launcher != "" {
		hosts = append(hosts, launcher)
	}
	if p.Rank == 0 {
		hosts = append(hosts, "localhost")
	}
	for _, host := range hosts {
		p.Coordinators = append(p.Coordinators, net.JoinHostPort(host, text))
	}
	return nil
}

// slurmPort returns the first port that Slurm reserved for the step, or a port that follows
// from job and step.
func slurmPort(e Environment) string {
	reserved, _, _ := strings.Cut(e.Getenv("SLURM_STEP_RESV_PORTS"), ",")
	first, _, _ := strings.Cut(reserved, "-")
	if _, err := strconv.ParseUint(first, 10, 16); err == nil {
		return first
	}
	job, _ := strconv.ParseUint(e.Getenv("SLURM_JOB_ID"), 10, 64) // 0 if it is unknown
	step, _ := strconv.ParseUint(e.Getenv("SLURM_STEP_ID"), 10, 32)
	return strconv.FormatUint(firstPort+(job*16+step)%portCount, 10)
}

// slurmToken returns a token that the tasks of a step share. Other users can compute it.
func slurmToken(e Environment) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "ibkit mesh slurm %s %s %s %d", e.Getenv("SLURM_CLUSTER_NAME"), e.Getenv("SLURM_JOB_ID"), e.Getenv("SLURM_STEP_ID"), e.UserID))
	return hex.EncodeToString(sum[:16])
}

// tasksPerNode parses SLURM_STEP_TASKS_PER_NODE, such as "2(x3),1".
func tasksPerNode(text string, nodes int) (tasks []int, err error) {
	wrong := func() error {
		return fmt.Errorf("invalid SLURM_STEP_TASKS_PER_NODE: got %q, want the tasks of %d nodes, such as 2(x3),1", text, nodes)
	}
	for part := range strings.SplitSeq(text, ",") {
		count, times, repeated := strings.Cut(part, "(x")
		n, err := strconv.ParseUint(count, 10, 16)
		repeat := uint64(1)
		if repeated && err == nil {
			repeat, err = strconv.ParseUint(strings.TrimSuffix(times, ")"), 10, 24)
		}
		if err != nil || len(tasks)+int(repeat) > nodes {
			return nil, wrong()
		}
		for range repeat {
			tasks = append(tasks, int(n))
		}
	}
	if len(tasks) != nodes {
		return nil, wrong()
	}
	return tasks, nil
}
