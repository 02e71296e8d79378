package drain

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/report"
)

// shown is the output of scontrol --oneliner show node of Slurm 22.05, shortened.
const shown = `NodeName=n1 Arch=x86_64 CoresPerSocket=1 State=IDLE ThreadsPerCore=1 Partitions=p
NodeName=n2 Arch=x86_64 CoresPerSocket=1 State=IDLE+DRAIN ThreadsPerCore=1 Partitions=p    Reason=fan State=IDLE [root@2026-11-28T10:00:00]
NodeName=n4 Arch=x86_64 CoresPerSocket=1 State=MIXED ThreadsPerCore=1 Partitions=p
`

func TestApply(t *testing.T) {
	errUpdate := errors.New("scontrol: exit status 1: Access denied")
	update := func(node string) string {
		return "update NodeName=" + node + " State=DRAIN Reason=ibkit mesh: slow-node: 40 % of its class"
	}
	for name, test := range map[string]struct {
		hosts string // NAME:ACTION
		most  int
		fails string // a node that scontrol does not drain, or "show"
		want  string
		runs  []string
		err   string
	}{
		"drain":      {"n1:drain n3:avoid", 1, "", "n1:drained n3:avoid", []string{"--oneliner show node n1", update("n1")}, ""},
		"none":       {"n3:avoid", 1, "", "n3:avoid", nil, ""},
		"before":     {"n1:drain n2:drain", 2, "", "n1:drained n2:drained-before", []string{"--oneliner show node n1,n2", update("n1")}, ""},
		"above":      {"n1:drain n2:drain n3:avoid", 1, "", "n1:withheld n2:withheld n3:avoid", nil, "drain 2 hosts: want at most 1"},
		"unknown":    {"n1:drain n9:drain", 2, "", "n1:drained n9:failed(Slurm has no node of this name)", []string{"--oneliner show node n1,n9", update("n1")}, ""},
		"denied":     {"n1:drain n4:drain", 2, "n1", "n1:failed(" + errUpdate.Error() + ") n4:drained", []string{"--oneliner show node n1,n4", update("n1"), update("n4")}, ""},
		"controller": {"n1:drain n4:drain", 2, "show", "n1:failed(scontrol: no contact) n4:failed(scontrol: no contact)", []string{"--oneliner show node n1,n4"}, ""},
		"no name":    {"ALL:drain n[1-4]:drain n1,n2:drain", 9, "", "ALL:failed(Slurm has no node of this name) n[1-4]:failed(Slurm has no node of this name) n1,n2:failed(Slurm has no node of this name)", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var hosts []mesh.BadHost
			for _, text := range strings.Fields(test.hosts) {
				host, action, _ := strings.Cut(text, ":")
				hosts = append(hosts, mesh.BadHost{Host: host, Kind: report.SlowNode, Detail: "40 % of its class", Action: mesh.Action(action)})
			}
			var runs []string
			err := Apply(t.Context(), Slurm{func(_ context.Context, args ...string) (string, error) {
				runs = append(runs, strings.Join(args, " "))
				switch {
				case args[0] != "update":
					if test.fails == "show" {
						return "", errors.New("scontrol: no contact")
					}
					return shown, errors.New("scontrol: exit status 1") // as with an unknown node
				case strings.Contains(args[1], test.fails) && test.fails != "":
					return "", errUpdate
				}
				return "", nil
			}}, hosts, test.most)
			var got []string
			for _, b := range hosts {
				text := b.Host + ":" + string(b.Action)
				if b.Error != "" {
					text += "(" + b.Error + ")"
				}
				got = append(got, text)
			}
			if text := strings.Join(got, " "); text != test.want || !slices.Equal(runs, test.runs) {
				t.Errorf("got %s by %q, want %s by %q", text, runs, test.want, test.runs)
			}
			if text := errorText(err); text != test.err {
				t.Errorf("got error %q, want %q", text, test.err)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
