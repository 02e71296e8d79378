package ping

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/standing"
)

// A host pings its peers by their LIDs, prints the window, and writes it for mesh analyze.
func TestPingMesh(t *testing.T) {
	f := cmdtest.ServeDemo(t)
	results := filepath.Join(t.TempDir(), "pings.json")
	code, out, errs := program.Run(t, f.Env("node05"), "ping", "--mesh", "-w", "100ms", "-t", "20000", "--rate", "500", "--json-lines", "--results", results)
	if code != cmdutil.ExitOK {
		t.Fatalf("got exit code %d: %s%s", code, out, errs)
	}
	cmdtest.CheckDocument(t, "../../schema/ping-mesh.json", out, new(standing.Document))
	if want := "directed links that routing uses; node05 pings "; !strings.Contains(errs, want) || !strings.Contains(errs, "at most 500 packets per second") {
		t.Errorf("got %q, want %q and the rate", errs, want)
	}
	read, err := mesh.Read(results)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(read.Flows); n < 2 || read.Names[0] != "node05" || !read.Mutual {
		t.Errorf("got %d flows of %q, want at least two of node05", n, read.Names)
	}
	var d standing.Document
	if err := json.Unmarshal([]byte(out), &d); err != nil || d.Sent() < 3 || d.Lost() > 0 || d.Rate != 500 {
		t.Errorf("got %+v, %v, want replies to all probes", d, err)
	}
}

// Two hosts calculate the same pairs, and both directions of a pair are not probed twice.
func TestPingMesh_SamePairs(t *testing.T) {
	f := cmdtest.ServeDemo(t)
	plans := map[string]string{}
	for _, node := range []string{"node05", "node07"} {
		code, out, errs := program.Run(t, f.Env(node), "ping", "--mesh", "-w", "20ms", "-t", "20000", "--rate", "500")
		if code != cmdutil.ExitOK {
			t.Fatalf("got exit code %d: %s%s", code, out, errs)
		}
		plan, _, _ := strings.Cut(errs, ";")
		plans[node] = plan
	}
	if plans["node05"] != plans["node07"] || plans["node05"] == "" {
		t.Errorf("got %q, want equal plans", plans)
	}
}

func TestPingMesh_Usage(t *testing.T) {
	hosts := filepath.Join(t.TempDir(), "hosts")
	for _, test := range []struct{ args, hosts, want string }{
		{"--mesh 4", "", "unexpected argument"},
		{"--mesh -c 3", "", "-c (--count) has no effect with --mesh"},
		{"--mesh --window 0s", "", "invalid --window"},
		{"--mesh --pairs 0", "", "invalid --pairs"},
		{"--mesh --paths 4", "", "--paths requires --hosts-file"},
		{"--mesh --from a --hosts-file b", "", "mutually exclusive"},
		{"--window 1s 4", "", "no effect without --mesh"},
		{"--mesh --hosts-file HOSTS", "192.0.2.1 leaf1\n", "no line has an IP address of this host"},
		{"--mesh --hosts-file HOSTS", "192.0.2.1\n192.0.2.1\n", "hosts:2: got 192.0.2.1 twice"},
		{"--mesh --hosts-file HOSTS", "# none\nnode05\n", "want an IP address or a GID"},
		{"--mesh --hosts-file HOSTS", "192.0.2.1 leaf1 x\n", "got 3 fields"},
	} {
		t.Run(test.args+" "+test.hosts, func(t *testing.T) {
			if err := os.WriteFile(hosts, []byte(test.hosts), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"ping"}, strings.Fields(strings.ReplaceAll(test.args, "HOSTS", hosts))...)
			code, out, errs := program.Run(t, nil, args...)
			if code != cmdutil.ExitUsage || out != "" || !strings.Contains(errs, test.want) {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code %d and error %q", code, out, errs, cmdutil.ExitUsage, test.want)
			}
		})
	}
}
