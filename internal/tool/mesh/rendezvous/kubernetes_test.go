package rendezvous

import "testing"

// index returns the index of a pod.
func index(n int) *int { return &n }

const leaderWorkerSet = "LWS_LEADER_ADDRESS=w-0.w.default LWS_GROUP_SIZE=4 IBKIT_MESH_NODE=n2.example IBKIT_MESH_TOKEN=s "

func TestFind_Kubernetes(t *testing.T) {
	job := Request{Size: 8, Rendezvous: "mesh-0.mesh:18600"}
	for name, test := range map[string]struct {
		environment string
		request     Request
		want        Place
	}{
		"worker of a Job": {"JOB_COMPLETION_INDEX=3 IBKIT_MESH_NODE=n2.example IBKIT_MESH_TOKEN=s", job, Place{
			Engine: Kubernetes, Name: "n2.example", Rank: 3, Size: 8, Index: index(3), Coordinators: []string{"mesh-0.mesh:18600"}, address: ":18600", Token: "s",
		}},
		"coordinator of a Job": {"JOB_COMPLETION_INDEX=0 IBKIT_MESH_NODE=n1", job, Place{
			Engine: Kubernetes, Name: "n1", Rank: 0, Size: 8, Index: index(0), Coordinators: []string{"mesh-0.mesh:18600", "localhost:18600"}, address: ":18600",
		}},
		"without the node name": {"JOB_COMPLETION_INDEX=1", job, Place{
			Engine: Kubernetes, Name: "h1", Rank: 1, Size: 8, Index: index(1), Coordinators: []string{"mesh-0.mesh:18600"}, address: ":18600",
		}},
		"ranks of the command line": {"JOB_COMPLETION_INDEX=1", Request{Ranked: true, Rank: 2, Size: 8, Rendezvous: "h0:7000"}, Place{
			Name: "h1", Rank: 2, Size: 8, Coordinators: []string{"h0:7000"}, address: ":7000",
		}},
		"MPIJob with Open MPI": {
			"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1 JOB_COMPLETION_INDEX=0", job,
			Place{Engine: OpenMPI, Name: "h1", Rank: 3, Size: 8, Coordinators: []string{"mesh-0.mesh:18600"}, address: ":18600"},
		},
		"LeaderWorkerSet": {leaderWorkerSet + "LWS_WORKER_INDEX=2", Request{}, Place{
			Engine: Kubernetes, Name: "n2.example", Rank: 2, Size: 4, Index: index(2), Coordinators: []string{"w-0.w.default:18600"}, address: ":18600", Token: "s",
		}},
		"LeaderWorkerSet with a port": {leaderWorkerSet + "LWS_WORKER_INDEX=0", Request{Listen: ":7000"}, Place{
			Engine: Kubernetes, Name: "n2.example", Rank: 0, Size: 4, Index: index(0), Coordinators: []string{"w-0.w.default:7000", "localhost:7000"}, address: ":7000", Token: "s",
		}},
	} {
		t.Run(name, func(t *testing.T) { checkPlace(t, test.environment, test.request, test.want) })
	}
}

func TestFind_invalidKubernetes(t *testing.T) {
	for name, test := range map[string]struct {
		environment string
		request     Request
		want        string
	}{
		"no coordinator": {"JOB_COMPLETION_INDEX=1", Request{Size: 4}, "find the coordinator: an Indexed Job needs --rendezvous JOB-0.SERVICE:18600"},
		"no size":        {"JOB_COMPLETION_INDEX=1", Request{Rendezvous: "h0:7000"}, "invalid index 1 of this pod with 0 workers: want an index below the number of workers (--ranks)"},
		"more pods":      {"JOB_COMPLETION_INDEX=4", Request{Size: 4, Rendezvous: "h0:7000"}, "invalid index 4 of this pod with 4 workers: want an index below the number of workers (--ranks)"},
		"no number":      {"JOB_COMPLETION_INDEX=x", Request{Size: 4, Rendezvous: "h0:7000"}, `invalid JOB_COMPLETION_INDEX: got "x", want a number`},
		"group index":    {leaderWorkerSet, Request{}, `invalid LWS_WORKER_INDEX: got "", want a number`},
		"group size":     {leaderWorkerSet + "LWS_WORKER_INDEX=1 LWS_GROUP_SIZE=", Request{}, `invalid LWS_GROUP_SIZE: got "", want a number`},
	} {
		t.Run(name, func(t *testing.T) { checkInvalid(t, test.environment, test.request, test.want) })
	}
}
