package rendezvous

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
)

// NodeVariable is the environment variable with the name of a pod's node. Manifests set it from
// the field spec.nodeName: a pod has another host name unless it has the node's network.
const NodeVariable = "IBKIT_MESH_NODE"

// indexed returns the place of a pod in an Indexed Job, also in that of a JobSet. The Job
// controller sets JOB_COMPLETION_INDEX only, and the name of the Job cannot be read from the
// host name of a pod with the node's network, so that the rest is on the command line.
func indexed(e Environment, r Request) (*Place, error) {
	rank, err := number(e, "JOB_COMPLETION_INDEX")
	if err != nil {
		return nil, err
	}
	if r.Rendezvous == "" {
		return nil, fmt.Errorf("find the coordinator: an Indexed Job needs --rendezvous JOB-0.SERVICE:%d", firstPort)
	}
	return pod(e, rank, r.Size, r)
}

// grouped returns the place of a pod in a group of a LeaderWorkerSet, which sets all
// (kubernetes-sigs/lws, pkg/utils/pod/pod_utils.go, AddLWSVariables).
func grouped(e Environment, r Request) (*Place, error) {
	rank, err := number(e, "LWS_WORKER_INDEX")
	if err != nil {
		return nil, err
	}
	size, err := number(e, "LWS_GROUP_SIZE")
	if err != nil {
		return nil, err
	}
	if r.Rendezvous == "" {
		_, port, _ := net.SplitHostPort(r.Listen) // named reports an invalid address
		r.Rendezvous = net.JoinHostPort(e.Getenv("LWS_LEADER_ADDRESS"), cmp.Or(port, strconv.Itoa(firstPort)))
	}
	return pod(e, rank, size, r)
}

// pod returns the place of a pod with an index.
func pod(e Environment, rank, size int, r Request) (*Place, error) {
	if rank >= size {
		return nil, fmt.Errorf("invalid index %d of this pod with %d workers: want an index below the number of workers (--ranks)", rank, size)
	}
	p, err := ranked(e, Request{Rank: rank, Size: size, Rendezvous: r.Rendezvous, Listen: r.Listen})
	if err != nil {
		return nil, err
	}
	p.Engine, p.Index = Kubernetes, &rank
	if p.Name, err = WorkerName(e); err != nil {
		return nil, err
	}
	if rank == 0 { // its own name may not be known yet
		_, port, _ := net.SplitHostPort(r.Rendezvous) // valid
		p.Coordinators = append(p.Coordinators, net.JoinHostPort("localhost", port))
	}
	return p, nil
}
