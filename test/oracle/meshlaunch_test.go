//go:build oracle

package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// meshHosts is the number of hosts in the examples of docs/mesh.md and in the fabric demo.
const meshHosts = 16

// newMeshHosts returns a directory for scripts: it has the keys and settings of ssh and sshd, a
// list of hosts, and programs in bin.
func newMeshHosts(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir(), root: "/"}
	bin := filepath.Join(c.dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(c.dir, "key")
	if out, err := ibsimtest.Command(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Symlink(native(), filepath.Join(bin, "ibkit")); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string]string{"ssh": "ssh -F " + c.dir + "/ssh_config", "mpiexec": "mpiexec.hydra", "mpirun": "mpirun.openmpi"} {
		c.write("bin/"+name, "#!/bin/sh\nexec /usr/bin/"+command+" \"$@\"\n", 0o700)
	}
	c.write("ssh_config", "IdentityFile "+key+"\nUserKnownHostsFile /dev/null\nStrictHostKeyChecking no\nLogLevel ERROR\n", 0o600)
	c.write("sshd_config", fmt.Sprintf("HostKey %s\nAuthorizedKeysFile %[1]s.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nMaxStartups 100\nSetEnv PATH=%s:/usr/bin:/bin IBKIT_SIM=demo NO_COLOR=1\n", key, bin), 0o600)
	list := ""
	for i := range meshHosts {
		list += fmt.Sprintf("node%02d\n", i+1)
	}
	c.write("hosts", list, 0o600)
	return c
}

// script runs a shell script on the host head, and returns its output and exit code.
func (c *cluster) script(t *testing.T, text string) (out, errOut string, code int) {
	t.Helper()
	c.write("script", "for h in $(cat hosts); do for i in $(seq 600); do ssh $h true 2>/dev/null && break; sleep 0.1; done; done\n"+text, 0o600)
	hosts, err := filepath.Abs("testdata/mesh/hosts.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := ibsimtest.Command(t, "unshare", "--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc",
		"sh", hosts, c.dir, fmt.Sprint(meshHosts), "sh", "script")
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(c.dir, "bin")+":"+os.Getenv("PATH"), "HOME="+c.dir, "IBKIT_SIM=demo",
		"ANSIBLE_INVENTORY="+c.dir+"/hosts", "ANSIBLE_REMOTE_TEMP="+c.dir+"/ansible", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), code
}

// meshExample returns the example of a launcher in docs/mesh.md.
func meshExample(t *testing.T, launcher string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/mesh.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?ms)^### " + regexp.QuoteMeta(launcher) + "$.*?^```sh\n(.*?)^```$").FindSubmatch(page)
	if m == nil {
		t.Fatalf("docs/mesh.md has no example of %s", launcher)
	}
	return string(m[1])
}

// TestMesh_Launchers runs the examples of docs/mesh.md with the launchers of Debian on 16
// hosts, each with a network and a name of its own. The exit code is that of the coordinator.
func TestMesh_Launchers(t *testing.T) {
	t.Parallel()
	for _, launcher := range []string{"ssh", "pdsh", "clush", "Ansible", "MPICH and Intel MPI", "Open MPI"} {
		t.Run(launcher, func(t *testing.T) {
			c := newMeshHosts(t)
			out, errOut, code := c.script(t, meshExample(t, launcher))
			var got []string
			for _, m := range regexp.MustCompile(`(?m)^error: (\S+ \S+):`).FindAllStringSubmatch(out, -1) {
				got = append(got, m[1])
			}
			want := []string{"unreachable node10", "slow-link leaf1[1]"} // the faults of the demo
			if code != 3 || !slices.Equal(got, want) || !strings.Contains(out+errOut, "16 of 16 workers, ") {
				t.Errorf("got exit code %d and %q, want 3 and %q in\n%s\n%s", code, got, want, out, errOut)
			}
		})
	}
}

// meshWorkers starts mesh over ssh on six hosts in the background, and waits until they joined.
const meshWorkers = `export IBKIT_SIM=fat-tree:radix=8,pods=4
ibkit mesh run --hosts 'node[01-06]' --bind :18600 --alone --schedule random:24 --pace 500ms --join-timeout 60s --json &
run=$!
joined() { ss -Htn state established sport = :18600 | wc -l; }
for i in $(seq 600); do test $(joined) = 6 && break; sleep 0.1; done
sleep 1
`

// TestMesh_Network disturbs runs between real hosts: a host that leaves the network is named
// and the others are measured, and a coordinator that is interrupted leaves no worker behind.
func TestMesh_Network(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, script string
		want         []string
		failure      string
	}{
		{"partition", "ip link set node03 down; ip link set node05 down; wait $run", []string{"hung host00003", "hung host00005"}, ""},
		{"interrupted", `kill -TERM $run; wait $run; code=$?
for i in $(seq 600); do pgrep -f 'mesh run --join' >/dev/null || exit $code; sleep 0.1; done
echo workers still run >&2; exit 99`, nil, "interrupted after "},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newMeshHosts(t)
			out, errOut, code := c.script(t, meshWorkers+test.script)
			var v meshVerdict
			if err := json.Unmarshal([]byte(out), &v); err != nil {
				t.Fatalf("exit code %d, %v in\n%s%s", code, err, out, errOut)
			}
			if got := v.kinds(); code != 4 || !slices.Equal(got, test.want) || v.Flows == 0 || !strings.Contains(out, test.failure) {
				t.Errorf("got exit code %d, %d flows and %q, want 4, some and %q in\n%s%s", code, v.Flows, got, test.want, out, errOut)
			}
		})
	}
}
