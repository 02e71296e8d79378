//go:build oracle

package oracle

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slurmConf is a configuration of slurmctld for tests, without munge and accounting.
const slurmConf = `ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]d
SlurmdPort=%[3]d
AuthType=auth/none
CredType=cred/none
SlurmUser=root
StateSaveLocation=%[4]s/state
SlurmdSpoolDir=%[4]s/spool
SlurmctldPidFile=%[4]s/pid
SlurmctldLogFile=%[4]s/log
TopologyPlugin=topology/tree
ProctrackType=proctrack/pgid
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
NodeName=%[5]s NodeHostname=localhost CPUs=1
PartitionName=p Nodes=%[5]s Default=YES
`

// TestTopology_Slurm starts slurmctld with topology.conf and compares the switches
// that scontrol shows.
func TestTopology_Slurm(t *testing.T) {
	for _, test := range []struct {
		fabric, nodes string
		want          []string
	}{
		{"demo", "node[01-16]", []string{
			"SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=node[01-04]",
			"SwitchName=leaf4 Level=0 LinkSpeed=1 Nodes=node[13-16]",
			"SwitchName=spine1 Level=1 LinkSpeed=1 Nodes=node[01-16] Switches=leaf[1-4]",
		}},
		{"fat-tree:levels=3,radix=8,pods=4", "host[00001-00064]", []string{
			"SwitchName=pod01-leaf001 Level=0 LinkSpeed=1 Nodes=host[00001-00004]",
			"SwitchName=pod02-spine001 Level=1 LinkSpeed=1 Nodes=host[00017-00032] Switches=pod02-leaf[001-004]",
			"SwitchName=core0001 Level=2 LinkSpeed=1 Nodes=host[00001-00064] Switches=pod01-spine001,pod02-spine001,pod03-spine001,pod04-spine001",
		}},
		{"torus", "host-[0-3]-[0-3]-0-[1-2]", []string{
			"SwitchName=switch-0-0-0 Level=0 LinkSpeed=1 Nodes=host-0-0-0-[1-2]",
			"SwitchName=fabric Level=1 LinkSpeed=1 Nodes=",
		}},
	} {
		t.Run(test.fabric, func(t *testing.T) {
			conf, err := exec.Command(native(), "topology", "--sim", test.fabric, "--format", "slurm").Output()
			if err != nil {
				t.Fatal(err)
			}
			shown, log := showTopology(t, conf, test.nodes)
			for _, line := range test.want {
				if !strings.Contains("\n"+shown, "\n"+line) {
					t.Errorf("got\n%s\nwant %s\nof\n%s", shown, line, conf)
				}
			}
			if got, want := strings.Count(shown, "SwitchName="), strings.Count(string(conf), "SwitchName="); got != want {
				t.Errorf("got %d switches, want %d", got, want)
			}
			if m := regexp.MustCompile(`.*(?:TOPOLOGY|topology/tree|[Ss]witch).*`).FindString(log); m != "" {
				t.Errorf("slurmctld: %s", m)
			}
		})
	}
}

// showTopology runs slurmctld and returns the output of "scontrol show topology" and
// the log.
func showTopology(t *testing.T, conf []byte, nodes string) (shown, log string) {
	t.Helper()
	dir := t.TempDir()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	for name, text := range map[string]string{
		"slurm.conf": fmt.Sprintf(slurmConf, host, freePort(t), freePort(t), dir, nodes), "topology.conf": string(conf),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "slurm.conf")
	var out bytes.Buffer
	server := exec.Command("slurmctld", "-D", "-f", path)
	server.Env = append(os.Environ(), "SLURM_CONF="+path)
	server.Stdout, server.Stderr = &out, &out
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	defer func() {
		_ = server.Process.Kill()
		<-ended
		ended <- nil
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		show := exec.CommandContext(ctx, "scontrol", "show", "topology")
		show.Env = append(os.Environ(), "SLURM_CONF="+path)
		text, err := show.Output()
		if err == nil {
			log, err := os.ReadFile(filepath.Join(dir, "log"))
			if err != nil {
				t.Fatal(err)
			}
			return string(text), string(log)
		}
		select {
		case err := <-ended:
			ended <- nil
			t.Fatalf("slurmctld ended: %v\n%s", err, &out)
		case <-ctx.Done():
			t.Fatalf("slurmctld does not answer: %v\n%s", err, &out)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// freePort returns a TCP port that no program uses.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
