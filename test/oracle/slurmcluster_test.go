//go:build oracle

package oracle

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// slurmConf is a Slurm configuration for tests, without munge and accounting.
const slurmConf = `ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]d
SlurmdPort=%[3]d
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=%[4]s/state
SlurmdSpoolDir=%[4]s/spool
SlurmctldPidFile=%[4]s/pid
SlurmdPidFile=%[4]s/slurmd.pid
SlurmctldLogFile=%[4]s/log
SlurmdLogFile=%[4]s/slurmd.log
ProctrackType=proctrack/pgid
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
`

// A cluster is a directory with the configuration for running Slurm servers.
type cluster struct {
	t     *testing.T
	dir   string
	root  string     // of the programs
	ended chan error // from a server
}

// newCluster writes slurm.conf. more is added to it, with %[1]s for this host's name and
// %[4]s for the directory.
func newCluster(t *testing.T, more string) *cluster {
	return newReleaseCluster(t, debian.Bookworm, more)
}

// newReleaseCluster is newCluster for the programs of a release.
func newReleaseCluster(t *testing.T, r *debian.Release, more string) *cluster {
	t.Helper()
	root, err := r.RootWith(t.Context(), slurmPackages...)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, dir: t.TempDir(), root: root, ended: make(chan error, 16)}
	for _, d := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(c.dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c.write("slurm.conf", fmt.Sprintf(slurmConf+more, shortHostname(t), freePort(t), freePort(t), c.dir), 0o600)
	return c
}

// slurmPackages are the Slurm programs of a release.
var slurmPackages = []string{"slurmctld", "slurmd", "slurm-client"}

// inRoot runs a command in a root directory with the devices, processes and temporary files of
// this host.
const inRoot = `for d in /dev /proc /sys "$1"; do mkdir -p "$0$d" && mount --rbind "$d" "$0$d" || exit; done; shift; exec chroot "$0" "$@"`

// args returns the command line that runs a program of the cluster's release.
func (c *cluster) args(name string, args ...string) []string {
	args = append([]string{name}, args...)
	if c.root == "/" {
		return args
	}
	return append([]string{"unshare", "--mount", "sh", "-c", inRoot, c.root, os.TempDir()}, args...)
}

// command returns a command that runs a program of the cluster's release.
func (c *cluster) command(name string, args ...string) *exec.Cmd {
	all := c.args(name, args...)
	cmd := ibsimtest.Command(c.t, all[0], all[1:]...)
	cmd.Env = c.env()
	return cmd
}

// start starts slurmctld or slurmd until the test ends.
func (c *cluster) start(servers ...string) {
	c.t.Helper()
	for _, name := range servers {
		c.serve(name, name)
	}
}

// startNodes starts a slurmd for each node name, all on this host.
func (c *cluster) startNodes(nodes ...string) {
	c.t.Helper()
	for _, node := range nodes {
		if err := os.Mkdir(filepath.Join(c.dir, "spool", node), 0o700); err != nil {
			c.t.Fatal(err)
		}
		c.serve("slurmd-"+node, "slurmd", "-N", node)
	}
}

// serve runs a server until the test ends. label names its output.
func (c *cluster) serve(label, name string, args ...string) {
	c.t.Helper()
	server := c.command(name, append([]string{"-D", "-f", c.conf()}, args...)...)
	out, err := os.Create(filepath.Join(c.dir, label+".out"))
	if err != nil {
		c.t.Fatal(err)
	}
	server.Stdout, server.Stderr = out, out
	if err := server.Start(); err != nil {
		c.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		c.ended <- server.Wait()
		close(done)
	}()
	c.t.Cleanup(func() {
		_ = server.Process.Kill()
		<-done
		_ = out.Close()
	})
}

// shortHostname returns this host's name without its domain.
func shortHostname(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	return host
}

func (c *cluster) conf() string { return filepath.Join(c.dir, "slurm.conf") }

func (c *cluster) env() []string { return append(os.Environ(), "SLURM_CONF="+c.conf()) }

// write writes a file in the directory.
func (c *cluster) write(name, text string, mode os.FileMode) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), mode); err != nil {
		c.t.Fatal(err)
	}
}

// scontrol runs scontrol.
func (c *cluster) scontrol(ctx context.Context, args ...string) (string, error) {
	all := c.args("scontrol", args...)
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	cmd.Env = c.env()
	text, err := cmd.Output()
	return string(text), err
}

// output returns the servers' output.
func (c *cluster) output() string {
	var all strings.Builder
	paths, _ := filepath.Glob(filepath.Join(c.dir, "*.out")) // the pattern is valid
	for _, path := range paths {
		text, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s:\n%s%v\n", filepath.Base(path), text, err)
	}
	return all.String()
}

// wait runs scontrol until it prints the wanted output, and returns the output.
func (c *cluster) wait(wanted func(string) bool, args ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	last := ""
	for {
		text, err := c.scontrol(ctx, args...)
		if err == nil && wanted(text) {
			return text
		}
		if err == nil {
			last = text
		}
		select {
		case err := <-c.ended:
			c.t.Fatalf("a server of Slurm ended: %v\n%s", err, c.output())
		case <-ctx.Done():
			c.t.Fatalf("scontrol %v: %v; last output:\n%s\n%s", args, err, last, c.output())
		case <-time.After(100 * time.Millisecond):
		}
	}
}
