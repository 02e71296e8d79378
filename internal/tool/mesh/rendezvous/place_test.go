package rendezvous

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// environment returns an environment of "NAME=VALUE" lines on the host h1.example.
func environment(text string) Environment {
	variables := map[string]string{}
	for line := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(line, "=")
		variables[name] = value
	}
	return Environment{
		Getenv: func(name string) string { return variables[name] }, Hostname: func() (string, error) { return "h1.example", nil }, UserID: 1000,
	}
}

// checkPlace checks the place that Find finds in an environment.
func checkPlace(t *testing.T, text string, r Request, want Place) {
	t.Helper()
	got, err := Find(t.Context(), environment(text), r)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, *got, cmp.AllowUnexported(Place{})); d != "" {
		t.Error(d)
	}
}

// checkInvalid checks the error for an environment.
func checkInvalid(t *testing.T, text string, r Request, want string) {
	t.Helper()
	if p, err := Find(t.Context(), environment(text), r); err == nil || err.Error() != want {
		t.Errorf("got %+v, %v, want %s", p, err, want)
	}
}

const slurmStep = `SLURM_JOB_ID=12 SLURM_STEP_ID=1 SLURM_STEP_NODELIST=n[08-10] SLURM_STEP_TASKS_PER_NODE=1(x3)
	SLURM_PROCID=1 SLURM_LOCALID=0 SLURMD_NODENAME=n09 SLURM_LAUNCH_NODE_IPADDR=10.0.0.1 `

func TestFind(t *testing.T) {
	for name, test := range map[string]struct {
		environment string
		request     Request
		want        Place
	}{
		"slurm": {slurmStep, Request{}, Place{
			Engine: Slurm, Name: "n09", Rank: 1, Size: 3, Expect: []string{"n08", "n09", "n10"},
			Coordinators: []string{"n08:18793", "10.0.0.1:18793"}, address: ":18793", Token: "0c66cdb450d1bcaeb2918b865623ad64", Derived: true,
		}},
		"slurm with a secret": {slurmStep + "IBKIT_MESH_TOKEN=s", Request{Listen: ":7000", Name: "x"}, Place{
			Engine: Slurm, Name: "x", Rank: 1, Size: 3, Expect: []string{"n08", "n09", "n10"},
			Coordinators: []string{"n08:7000", "10.0.0.1:7000"}, address: ":7000", Token: "s",
		}},
		"slurm with several tasks on a node": {
			`SLURM_JOB_ID=12 SLURM_STEP_ID=1 SLURM_STEP_NODELIST=a,b SLURM_STEP_TASKS_PER_NODE=2,1 SLURM_PROCID=0 SLURM_LOCALID=0
			SLURMD_NODENAME=a SLURM_STEP_RESV_PORTS=12000-12003 IBKIT_MESH_TOKEN=s`, Request{}, Place{
				Engine: Slurm, Name: "a:0", Rank: 0, Size: 3, Expect: []string{"a:0", "a:1", "b:0"}, Shared: true,
				Coordinators: []string{"a:12000", "localhost:12000"}, address: ":12000", Token: "s",
			},
		},
		"ranks": {"", Request{Ranked: true, Rank: 2, Size: 4, Rendezvous: "h0:7000"}, Place{
			Name: "h1", Rank: 2, Size: 4, Coordinators: []string{"h0:7000"}, address: ":7000",
		}},
		"Open MPI": {
			"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2",
			Request{Rendezvous: "h0:7000"},
			Place{Engine: OpenMPI, Name: "h1:1", Rank: 3, Size: 8, Coordinators: []string{"h0:7000"}, address: ":7000", Shared: true},
		},
	} {
		t.Run(name, func(t *testing.T) { checkPlace(t, test.environment, test.request, test.want) })
	}
}

func TestFind_invalid(t *testing.T) {
	for name, test := range map[string]struct {
		environment string
		request     Request
		want        string
	}{
		"no launcher":      {"", Request{}, ErrNoLauncher.Error()},
		"batch script":     {"SLURM_PROCID=0 SLURM_JOB_ID=1", Request{}, ErrNoLauncher.Error()},
		"node list":        {slurmStep + "SLURM_STEP_NODELIST=n[1-", Request{}, `invalid SLURM_STEP_NODELIST: parse host list "n[1-": missing "]"`},
		"rank":             {slurmStep + "SLURM_PROCID=x", Request{}, `invalid SLURM_PROCID: got "x", want a number`},
		"tasks":            {slurmStep + "SLURM_STEP_TASKS_PER_NODE=1(x4)", Request{}, `invalid SLURM_STEP_TASKS_PER_NODE: got "1(x4)", want the tasks of 3 nodes, such as 2(x3),1`},
		"few tasks":        {slurmStep + "SLURM_STEP_TASKS_PER_NODE=1", Request{}, `invalid SLURM_STEP_TASKS_PER_NODE: got "1", want the tasks of 3 nodes, such as 2(x3),1`},
		"no node name":     {slurmStep + "SLURMD_NODENAME=", Request{}, "SLURMD_NODENAME is not set, want the name of this node"},
		"no rendezvous":    {"", Request{Ranked: true}, `invalid rendezvous "": want HOST:PORT`},
		"Open MPI alone":   {"OMPI_COMM_WORLD_RANK=0", Request{}, "find the coordinator: Open MPI does not tell its address"},
		"PMI without FD":   {"PMI_FD=x PMI_RANK=0 PMI_SIZE=1", Request{}, `invalid PMI_FD: got "x", want a number`},
		"PMI without rank": {"PMI_FD=3", Request{}, `invalid PMI_RANK: got "", want a number`},
	} {
		t.Run(name, func(t *testing.T) { checkInvalid(t, test.environment, test.request, test.want) })
	}
}

// TestFind_jobs checks that steps, jobs and users have different tokens, and tasks of a step
// the same.
func TestFind_jobs(t *testing.T) {
	seen := map[string]string{}
	for _, change := range []string{"", "SLURM_JOB_ID=13", "SLURM_STEP_ID=2", "SLURM_CLUSTER_NAME=x"} {
		for _, task := range []string{"0", "1"} {
			p, err := Find(t.Context(), environment(slurmStep+change+" SLURM_PROCID="+task), Request{})
			if err != nil {
				t.Fatal(err)
			}
			if other, ok := seen[p.Token]; ok && other != change {
				t.Errorf("got the same token with %q and %q", change, other)
			}
			seen[p.Token] = change
		}
	}
	if len(seen) != 4 {
		t.Errorf("got %d tokens, want 4", len(seen))
	}
}

func TestPlace_Listen(t *testing.T) {
	p := &Place{address: "127.0.0.1:0"}
	l, err := p.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p.address = l.Addr().String()
	if _, err := p.Listen(); err == nil || !strings.HasPrefix(err.Error(), "listen for workers: ") {
		t.Errorf("got %v, want an error for a port in use", err)
	}
	if err := p.Close(); err != nil || errors.Is(err, ErrNoLauncher) {
		t.Error(err)
	}
}

func TestWorkerName(t *testing.T) {
	for name, test := range map[string]struct{ environment, want string }{
		"host":          {"", "h1"},
		"one task":      {"OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1", "h1"},
		"several tasks": {"OMPI_COMM_WORLD_LOCAL_RANK=3 OMPI_COMM_WORLD_LOCAL_SIZE=4", "h1:3"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := WorkerName(environment(test.environment)); err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}
