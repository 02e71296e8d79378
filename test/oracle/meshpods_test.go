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
	"syscall"
	"testing"
	"time"

	"github.com/ibkit/ibkit/test/ibsimtest"

	"github.com/ibkit/ibkit/internal/testenv"
)

// TestMesh_Pods starts workers with the environment of an Indexed Job's pods and of a
// LeaderWorkerSet's, without a cluster.
func TestMesh_Pods(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		group  bool
		nodes  []string // by index
		args   []string
		code   int
		want   []string
		detail string
	}{
		{"Indexed Job", false, []string{"node01", "node02", "node03", "node04"}, []string{"--fault", "node02=40%"}, 3, []string{"slow-node node02"}, "40 % of its class"},
		{"LeaderWorkerSet", true, []string{"node03", "node02", "node01"}, nil, 0, nil, ""},
		{"two on a node", false, []string{"node01", "node02", "node02"}, []string{"--join-timeout", "5s"}, 4, []string{"missing "}, "1 of 3 workers did not join: index "},
	} {
		t.Run(test.name, func(t *testing.T) {
			port, log := freePort(t), filepath.Join(t.TempDir(), "log")
			pod := func(index int, args ...string) *exec.Cmd {
				job := []string{fmt.Sprintf("--ranks=%d", len(test.nodes)), fmt.Sprintf("--rendezvous=localhost:%d", port)}
				env := []string{fmt.Sprintf("JOB_COMPLETION_INDEX=%d", index)}
				if test.group {
					job = []string{fmt.Sprintf("--bind=:%d", port)}
					env = []string{fmt.Sprintf("LWS_WORKER_INDEX=%d", index), fmt.Sprintf("LWS_GROUP_SIZE=%d", len(test.nodes)), "LWS_LEADER_ADDRESS=localhost"}
				}
				cmd := ibsimtest.Command(t, native(), slices.Concat([]string{"mesh", "run", "--sim", "demo", "--pace", "0s"}, job, args)...)
				cmd.Env = append(append(os.Environ(), "IBKIT_MESH_TOKEN=secret", "IBKIT_MESH_NODE="+test.nodes[index]), env...)
				return cmd
			}
			var workers []*exec.Cmd
			for i := range len(test.nodes) - 1 {
				worker := pod(i + 1)
				if err := worker.Start(); err != nil {
					t.Fatal(err)
				}
				workers = append(workers, worker)
			}
			leader := pod(0, append(test.args, "--json", "--termination-log", log)...)
			var errOut strings.Builder
			leader.Stderr = &errOut
			out, err := leader.Output()
			exit, _ := errors.AsType[*exec.ExitError](err)
			if err != nil && exit == nil {
				t.Fatal(err)
			}
			var v meshVerdict
			if err := json.Unmarshal(out, &v); err != nil {
				t.Fatalf("%v in\n%s%s", err, out, errOut.String())
			}
			failed := 0
			for _, worker := range workers {
				if worker.Wait() != nil {
					failed++
				}
			}
			if got := v.kinds(); leader.ProcessState.ExitCode() != test.code || !slices.Equal(got, test.want) || (failed > 0) != (test.code == 4) {
				t.Errorf("got exit code %d, %d failed workers and %q, want %d and %q\n%s", leader.ProcessState.ExitCode(), failed, got, test.code, test.want, errOut.String())
			}
			if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), test.detail) {
				t.Errorf("got termination log %q, %v, want %q", text, err, test.detail)
			}
		})
	}
}

// TestMesh_PodEvicted interrupts index 0 while it waits for others: it ends at once, so that the
// Job starts it again.
func TestMesh_PodEvicted(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	pod := ibsimtest.Command(t, native(), "mesh", "run", "--sim", "demo", "--ranks=2", fmt.Sprintf("--rendezvous=localhost:%d", port), "--join-timeout=10m")
	pod.Env = append(os.Environ(), "JOB_COMPLETION_INDEX=0", "IBKIT_MESH_TOKEN=secret", "IBKIT_MESH_NODE=node01")
	if err := pod.Start(); err != nil {
		t.Fatal(err)
	}
	testenv.Await(t, "worker of index 0", func() bool {
		out, _ := exec.Command("ss", "-Htn", "state", "established", fmt.Sprintf("( sport = :%d )", port)).Output()
		return len(out) > 0
	})
	began := time.Now()
	if err := pod.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := pod.Wait(); err == nil || time.Since(began) > time.Minute {
		t.Errorf("got %v after %v, want a failure before the end of --join-timeout", err, time.Since(began))
	}
}
