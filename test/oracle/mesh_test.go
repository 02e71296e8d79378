//go:build oracle

package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// A meshVerdict is the part of the JSON of mesh run that tests read.
type meshVerdict struct {
	Partial  bool
	Flows    int
	Findings []struct{ Kind, Subject, Detail string }
	BadHosts []struct{ Host, Action, Error string } `json:"bad_hosts"`
}

// kinds returns the findings as "KIND SUBJECT".
func (v meshVerdict) kinds() (all []string) {
	for _, f := range v.Findings {
		all = append(all, f.Kind+" "+f.Subject)
	}
	return all
}

// actions returns the bad hosts as "HOST ACTION".
func (v meshVerdict) actions() (all []string) {
	for _, b := range v.BadHosts {
		all = append(all, b.Host+" "+b.Action)
	}
	return all
}

// meshRun runs a command that prints the verdict, and returns it with the exit code.
func (c *cluster) meshRun(t *testing.T, name string, args ...string) (meshVerdict, int) {
	t.Helper()
	cmd := c.command(name, args...)
	cmd.Env = append(cmd.Env, "IBKIT="+native())
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	var v meshVerdict
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("exit code %d, %v in\n%s%s", code, err, out, errOut.String())
	}
	return v, code
}

// meshNodes are the nodes of a cluster on this host.
const meshNodes = `SlurmdSpoolDir=%[4]s/spool/%%n
SlurmdPidFile=%[4]s/slurmd.%%n.pid
SlurmdLogFile=%[4]s/slurmd.%%n.log
SlurmdParameters=config_overrides
NodeName=n[1-4] NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=PORTS CPUs=32
PartitionName=p Nodes=ALL Default=YES
`

// newMeshCluster starts Slurm with four idle nodes. The port of a coordinator follows from the
// job number: clusters on this host need different ones.
func newMeshCluster(t *testing.T, firstJob int) *cluster {
	t.Helper()
	return newReleaseMeshCluster(t, debian.Bookworm, firstJob)
}

// newReleaseMeshCluster is newMeshCluster for the programs of a release.
func newReleaseMeshCluster(t *testing.T, r *debian.Release, firstJob int) *cluster {
	t.Helper()
	ports := make([]string, 4)
	for i := range ports {
		ports[i] = fmt.Sprint(freePort(t))
	}
	c := newReleaseCluster(t, r, strings.ReplaceAll(meshNodes, "PORTS", "["+strings.Join(ports, ",")+"]")+fmt.Sprintf("FirstJobId=%d\n", firstJob))
	c.start("slurmctld")
	c.startNodes("n1", "n2", "n3", "n4")
	c.wait(func(text string) bool { return strings.Count(text, "State=IDLE ") == 4 }, "show", "nodes")
	return c
}

// TestMesh_Slurm runs mesh with tasks that Slurm starts on four nodes.
func TestMesh_Slurm(t *testing.T) {
	t.Parallel()
	c := newMeshCluster(t, 1)
	const fabric = "fat-tree:levels=3,radix=8,pods=4" // 64 hosts
	srun := func(args ...string) []string { return append([]string{"srun", "--quiet"}, args...) }
	t.Run("batch", func(t *testing.T) { c.meshBatch(t) })
	if testenv.AllCases() {
		t.Run("1000 tasks", func(t *testing.T) {
			v, code := c.meshRun(t, "srun", "--quiet", "--overcommit", "-N4", "-n1000", native(), "mesh", "run", "--sim", "fat-tree:levels=3,radix=16,pods=16", "--alone",
				"--schedule", "quick:16", "--fault", "host00005=50%", "--join-timeout", "5m", "--json") // 1,024 hosts
			if got := v.kinds(); code != 3 || v.Partial || !slices.Equal(got, []string{"slow-node host00005"}) {
				t.Errorf("got exit code %d, partial %v and %q, want the slow host", code, v.Partial, got)
			}
		})
	}
	for _, test := range []struct {
		name    string
		command []string
		code    int // of srun: the highest of all tasks, so that of a killed task
		flows   int
		want    []string
	}{
		{"tasks", srun("-n64", native(), "mesh", "run", "--sim", fabric, "--fault", "host00005=50%", "--pace", "0s", "--json"), 3, 64 * 63, []string{"slow-node host00005"}},
		{"PMI", srun("--mpi=pmi2", "-N4", native(), "mesh", "run", "--sim", fabric, "--json"), 0, 12, nil},
		{"kill on bad exit", srun("-K", "-N4", native(), "mesh", "run", "--sim", "demo", "--fault", "node02=50%", "--json"), 3, 12, []string{"slow-node node02"}},
		{"missing", srun("-N4", "sh", "-c", `test $SLURM_PROCID = 2 && exit; exec $IBKIT mesh run --sim demo --join-timeout 5s --json`), 4, 6, []string{"missing node03"}},
		{"frozen", srun("-N4", "-W0", "sh", "-c", `test $SLURM_PROCID = 3 && { (sleep 2; kill -STOP $$; sleep 12; kill -KILL $$) >&- & }
			exec $IBKIT mesh run --sim demo --schedule random:8 --pace 1s --json`), 137, -1, []string{"hung node04"}},
		{"killed", srun("-N4", "sh", "-c", `test $SLURM_PROCID = 1 && { (sleep 2; kill -KILL $$) >&- & }
			exec $IBKIT mesh run --sim demo --schedule random:8 --pace 1s --json`), 137, -1, []string{"unreachable node02"}},
		{"killed slurmd", srun("-N4", "sh", "-c", `test $SLURM_PROCID = 0 && { (sleep 1; kill -KILL $(cat `+c.dir+`/slurmd.n4.pid)) >&- & }
			exec $IBKIT mesh run --sim demo --pace 1s --json`), 0, 12, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, code := c.meshRun(t, test.command[0], test.command[1:]...)
			if code != test.code || test.flows >= 0 && v.Flows != test.flows || v.Partial != (code >= 4) {
				t.Errorf("got exit code %d, %d flows and partial %v, want code %d and %d flows", code, v.Flows, v.Partial, test.code, test.flows)
			}
			if got := v.kinds(); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q in %+v", got, test.want, v.Findings)
			}
		})
	}
}

// meshBatch runs the batch script of docs/mesh.md on four nodes.
func (c *cluster) meshBatch(t *testing.T) {
	t.Helper()
	c.write("job", meshExample(t, "Slurm"), 0o600)
	if err := os.Symlink(native(), filepath.Join(c.dir, "ibkit")); err != nil {
		t.Fatal(err)
	}
	cmd := ibsimtest.Command(t, "sbatch", "--quiet", "--wait", "-N4", "job")
	cmd.Dir = c.dir
	cmd.Env = append(c.env(), "PATH="+c.dir+":"+os.Getenv("PATH"), "IBKIT_SIM=demo")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("got %v, want success\n%s", err, out)
	}
	for name, want := range map[string]string{"mesh.html": "<!DOCTYPE html>", "mesh.csv": "src,dst,bandwidth_gbps,latency_us\nnode0"} {
		if text, err := os.ReadFile(filepath.Join(c.dir, name)); err != nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("%s: got %.100q, %v, want %q", name, text, err, want)
		}
	}
}

// TestMesh_MissingNode starts tasks while the slurmd of a node is dead, before Slurm notices it.
func TestMesh_MissingNode(t *testing.T) {
	t.Parallel()
	c := newMeshCluster(t, 21)
	out, err := ibsimtest.Command(t, "sh", "-c", "kill -KILL $(cat "+c.dir+"/slurmd.n4.pid)").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	v, code := c.meshRun(t, "srun", "-N4", "--no-kill", native(), "mesh", "run", "--sim", "demo", "--join-timeout", "5s", "--json")
	const connection = 1001 & 255 // srun returns Slurm's error number, as it is above the verdict
	if got := v.kinds(); code != connection || !v.Partial || v.Flows != 6 || !slices.Equal(got, []string{"missing node04"}) {
		t.Errorf("got exit code %d, %d flows and %q, want %d, 6 and the missing node", code, v.Flows, got, connection)
	}
}

// TestMesh_ssh runs workers by a script in place of ssh, with a host that refuses.
func TestMesh_ssh(t *testing.T) {
	t.Parallel()
	c := &cluster{t: t, dir: t.TempDir(), root: "/"}
	c.write("ssh", `#!/bin/sh
host=$1; shift
[ $host = n3 ] && { echo "$host: Permission denied" >&2; exit 255; }
exec sh -c "$*"
`, 0o700)
	v, code := c.meshRun(t, native(), "mesh", "run", "--sim", "fat-tree:radix=8,pods=4", "--alone", "--fault", "host00002=50%", "--json", "--join-timeout", "10s",
		"--hosts", "n[1-9]", "--bind", "127.0.0.1:0", "--ssh", filepath.Join(c.dir, "ssh"), "--remote", native())
	want := []string{"missing host00003", "slow-node host00002"}
	if got := v.kinds(); code != 4 || v.Flows != 56 || !slices.Equal(got, want) {
		t.Errorf("got exit code %d, %d flows and %q, want 4, 56 and %q", code, v.Flows, got, want)
	}
}
