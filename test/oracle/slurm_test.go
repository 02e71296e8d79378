//go:build oracle

package oracle

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestTopology_Slurm starts slurmctld with topology.conf and compares the switches
// that scontrol shows.
func TestTopology_Slurm(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fabric, nodes string
		want          []string
	}{
		{"--sim demo", "node[01-16]", []string{
			"SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=node[01-04]",
			"SwitchName=leaf4 Level=0 LinkSpeed=1 Nodes=node[13-16]",
			"SwitchName=spine1 Level=1 LinkSpeed=1 Nodes=node[01-16] Switches=leaf[1-4]",
		}},
		{"--sim fat-tree:levels=3,radix=8,pods=4", "host[00001-00064]", []string{
			"SwitchName=pod01-leaf001 Level=0 LinkSpeed=1 Nodes=host[00001-00004]",
			"SwitchName=pod02-spine001 Level=1 LinkSpeed=1 Nodes=host[00017-00032] Switches=pod02-leaf[001-004]",
			"SwitchName=core0001 Level=2 LinkSpeed=1 Nodes=host[00001-00064] Switches=pod01-spine001,pod02-spine001,pod03-spine001,pod04-spine001",
		}},
		{"--sim torus", "host-[0-3]-[0-3]-0-[1-2]", []string{
			"SwitchName=switch-0-0-0 Level=0 LinkSpeed=1 Nodes=host-0-0-0-[1-2]",
			"SwitchName=fabric Level=1 LinkSpeed=1 Nodes=",
		}},
		{"--from ../topologies/two-subnets.topo", "a1,b[1-2]", []string{
			"SwitchName=leafA Level=0 LinkSpeed=1 Nodes=a1",
			"SwitchName=leafB Level=0 LinkSpeed=1 Nodes=b[1-2]",
		}},
		{"--from ../topologies/default-names.topo", "n07", []string{
			"SwitchName=leafB Level=0 LinkSpeed=1 Nodes=n07",
		}},
	} {
		t.Run(test.fabric, func(t *testing.T) {
			args := append([]string{"topology", "--format", "slurm"}, strings.Fields(test.fabric)...)
			conf, err := ibsimtest.Command(t, native(), args...).Output()
			if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 4) { // 4: without some hosts
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
			// Slurm asks whether separate trees are intended.
			log = regexp.MustCompile(`(?m)^.*no switch can reach all nodes.*$`).ReplaceAllString(log, "")
			if m := regexp.MustCompile(`.*(?:TOPOLOGY|topology/tree|[Ss]witch).*`).FindString(log); m != "" {
				t.Errorf("slurmctld: %s", m)
			}
		})
	}
}

// showTopology runs slurmctld and returns the output of "scontrol show topology" and the log.
func showTopology(t *testing.T, conf []byte, nodes string) (shown, log string) {
	t.Helper()
	c := newCluster(t, fmt.Sprintf(`TopologyPlugin=topology/tree
NodeName=%s NodeHostname=localhost CPUs=1
PartitionName=p Nodes=%[1]s Default=YES
`, nodes))
	c.write("topology.conf", string(conf), 0o600)
	c.start("slurmctld")
	shown = c.wait(func(string) bool { return true }, "show", "topology")
	text, err := os.ReadFile(filepath.Join(c.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return shown, string(text)
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
