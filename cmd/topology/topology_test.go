package topology

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/internal/tool/topology"
)

var (
	program = cmdtest.Native(New)
	date    = regexp.MustCompile(`generated on .*`)
)

// topologies is the directory with the outputs of ibnetdiscover.
const topologies = "../../test/topologies/"

func TestTopology_Views(t *testing.T) {
	for name, test := range map[string]struct {
		args string
		code int
	}{
		"cables":      {"", cmdutil.ExitOK},
		"nodes":       {"--nodes", cmdutil.ExitOK},
		"chassis":     {"--switches --sim net:../../test/nets/chassis.net", cmdutil.ExitOK},
		"ports":       {"--all-ports --sim net:../../test/nets/parallel-links-and-router.net", cmdutil.ExitOK},
		"check":       {"--check --sim net:../../test/nets/routers.net", cmdutil.ExitFindings},
		"netdiscover": {"--format netdiscover -g", cmdutil.ExitOK},
		"csv":         {"--format csv", cmdutil.ExitOK},
		"dot":         {"--format dot", cmdutil.ExitOK},
		"slurm":       {"--format slurm", cmdutil.ExitOK},
		"slurm3":      {"--format slurm --sim fat-tree:radix=4,levels=3,pods=4", cmdutil.ExitOK},
		"plan":        {"--plan testdata/plan.csv", cmdutil.ExitFindings},
		"punch-list":  {"--plan testdata/plan.csv --punch-list", cmdutil.ExitFindings},
		"lst":         {"--format lst", cmdutil.ExitOK},
		"svg":         {"--format svg", cmdutil.ExitOK},
		"labels":      {"--sim single-switch:hosts=3,speed=NDR,split=2,vendor=on", cmdutil.ExitOK},
		"plan-svg":    {"--format svg --plan testdata/plan.csv", cmdutil.ExitFindings},
		"slurm-block": {"--format slurm-block", cmdutil.ExitOK},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"topology"}, strings.Fields(test.args)...)
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, args...)
			if code != test.code || err != "" {
				t.Errorf("got exit code %d, error output %q, want %d", code, err, test.code)
			}
			cmdtest.Golden(t, name+".golden", date.ReplaceAllString(out, "generated on DATE"))
		})
	}
}

// Adapters without a host name are left out and named, and parts without a connection have
// no common switch: Slurm would place jobs across them.
// The database has sections from registers with --phy only.
func TestTopology_PHY(t *testing.T) {
	for _, test := range []struct {
		line string
		want int // rows of CABLE_INFO
	}{{"--format db_csv", 0}, {"--format db_csv --phy", 24}} {
		code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "optics"}, append([]string{"topology"}, strings.Fields(test.line)...)...)
		if code != cmdutil.ExitOK || err != "" {
			t.Errorf("%s: got exit code %d, error output %q", test.line, code, err)
		}
		d, readErr := ibdiagnet.ReadDatabase(strings.NewReader(out), "db_csv")
		if readErr != nil || len(d.PHY) != test.want || (len(d.Temperatures) == 4) != (test.want > 0) {
			t.Errorf("%s: got %d cables, %d temperatures, error %v, want %d cables", test.line, len(d.PHY), len(d.Temperatures), readErr, test.want)
		}
	}
}

func TestTopology_Slurm(t *testing.T) {
	const leftOut = `warning: leave out node 0x0000000000000020 at leafA[1]: "MT4129 ConnectX7 Mellanox Technologies" is the description of the vendor
warning: leave out node 0x0000000000000030 at leafA[2]: "MT4129 ConnectX7 Mellanox Technologies" is the description of the vendor
warning: leave out node 0x0000000000000040 at leafA[3]: "localhost mlx5_0" does not contain the name of a host
warning: leave out node 0x0000000000000050 at leafB[1]: "MT4129 ConnectX7 Mellanox Technologies" is the description of the vendor
warning: the result is partial: 4 adapters without the name of a host (a node name map can assign it: --node-name-map)
`
	const apart = "# part 1 of 2 without a connection: leafA\n# part 2 of 2 without a connection: leafB\n"
	mapped := cmdtest.WriteFile(t, "0x20 n03\n0x30 n04\n0x40 n05\n0x50 n06\n")
	for args, want := range map[string]struct {
		out, err string
		code     int
	}{
		"--from default-names.topo --format slurm":       {"tree\nSwitchName=leafB Nodes=n07\n", leftOut, cmdutil.ExitPartial},
		"--from default-names.topo --format slurm-block": {"block\nBlockName=leafB Nodes=n07\nBlockSizes=1\n", leftOut, cmdutil.ExitPartial},
		"--from default-names.topo --format slurm --node-name-map " + mapped: {
			"tree\n" + apart + "SwitchName=leafA Nodes=n[03-05]\nSwitchName=leafB Nodes=n[06-07]\n", "", cmdutil.ExitOK,
		},
		"--from two-subnets.topo --format slurm":       {"tree\n" + apart + "SwitchName=leafA Nodes=a1\nSwitchName=leafB Nodes=b[1-2]\n", "", cmdutil.ExitOK},
		"--from two-subnets.topo --format slurm-block": {"block\n" + apart + "BlockName=leafA Nodes=a1\nBlockName=leafB Nodes=b[1-2]\nBlockSizes=1\n", "", cmdutil.ExitOK},
	} {
		t.Run(args, func(t *testing.T) {
			code, out, err := program.Run(t, nil, append([]string{"topology"}, strings.Fields(strings.Replace(args, "--from ", "--from "+topologies, 1))...)...)
			if code != want.code || out != "# topology.conf for TopologyPlugin=topology/"+want.out || err != want.err {
				t.Errorf("got exit code %d, output\n%s\nerror output\n%s\nwant %d\n%s\n%s", code, out, err, want.code, want.out, want.err)
			}
		})
	}
}

// The JSON conforms to the schema and decodes into topology.Report without loss.
func TestTopology_JSON(t *testing.T) {
	for _, args := range []string{
		"--sim demo", "--sim demo --plan testdata/plan.csv", "--sim demo --check", "--sim net:../../test/nets/chassis.net --check", "--sim net:../../test/nets/odd-descriptions.net",
	} {
		t.Run(args, func(t *testing.T) {
			_, out, _ := program.Run(t, nil, append([]string{"topology", "--json"}, strings.Fields(args)...)...)
			cmdtest.CheckDocument(t, "../../schema/topology.json", out, new(topology.Report))
		})
	}
}

// The picture of the documentation is that of the fabric demo.
func TestTopology_Picture(t *testing.T) {
	const path = "../../docs/pictures/topology.svg"
	_, out, _ := program.Run(t, nil, "topology", "--sim", "demo", "--format", "svg")
	if *cmdtest.Update {
		if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != out {
		t.Errorf("%s is stale: run the test with -update", path)
	}
}

// The page has the findings of links and of the plan, also findings without a cable.
func TestTopology_Page(t *testing.T) {
	code, out, err := program.Run(t, nil, "topology", "--sim", "demo", "--format", "html", "--plan", "testdata/plan.csv")
	for _, want := range []string{`"swapped: the cables of leaf1[4]`, `"slower: leaf1[1] to spine1[1] runs at 2X NDR, planned: 4X"`, "fat tree; switches: 6", `"others":[[`, `"missing-cable: `} {
		if code != cmdutil.ExitFindings || !strings.Contains(out, want) || err != "" {
			t.Errorf("got exit code %d, error output %q, want %s in the page", code, err, want)
		}
	}
}

// The page has the fabric's source and time, and the verdict if there are no problems.
func TestTopology_PageSource(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "a<b.cache")
	if code, _, err := program.Run(t, nil, "topology", "--sim", "single-switch", "--save", cache); code != 0 {
		t.Fatalf("got exit code %d, error output %q", code, err)
	}
	const at = `at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}`
	topo := filepath.Join("..", "..", "test", "topologies", "two-subnets.topo")
	for args, want := range map[string]string{
		"--from " + topo:      `"verdict":"no problems found; not judged: states, enabled widths and speeds"`,
		"--sim single-switch": `<title>Fabric: simulated fabric single-switch, scanned ` + at + `</title>(?s:.*)"source":"simulated fabric single-switch, scanned ` + at + `"`,
		"--from " + cache:     `<title>Fabric: file a&lt;b\.cache, written ` + at + `</title>(?s:.*)"source":"file a\\u003cb\.cache, written ` + at + `"`,
	} {
		t.Run(args, func(t *testing.T) {
			code, out, err := program.Run(t, nil, append([]string{"topology", "--format", "html"}, strings.Fields(args)...)...)
			if code != 0 || err != "" || !regexp.MustCompile(want).MatchString(out) || !strings.Contains(out, `"verdict":"no problems found`) {
				t.Errorf("got exit code %d, error output %q, page\n%.900s\nwant %s", code, err, out, want)
			}
		})
	}
}

// A damaged cache is compared as far as it can be read: nodes that it lacks are no difference.
func TestTopology_DamagedDiff(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	program.Run(t, nil, "topology", "--sim", "demo", "--save", cache)
	whole, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cache, whole[:len(whole)*3/4], 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, warnings := program.Run(t, nil, "topology", "--sim", "demo", "--diff", cache)
	want := "warning: the fabric stored in " + cache + " is partial: parts of the file could not be read\nwarning: read cache " + cache + ": offset 8: got "
	if code != cmdutil.ExitPartial || out != "" || !strings.HasPrefix(warnings, want) {
		t.Errorf("got exit code %d, output %q, warnings %s\nwant %d, no output, and %s", code, out, warnings, cmdutil.ExitPartial, want)
	}
}

func TestTopology_Diff(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	for _, test := range []struct {
		args, out string
		code      int
	}{
		{"--sim demo --save " + cache + " --format csv", "start_device,", 0},
		{"--sim demo --diff " + cache, "", 0},
		{"--from " + cache + " --diff " + cache, "", 0},
		{"--sim single-switch --diff " + cache, "\n", 3},
		{"--from " + cache + " --cas", "TYPE", 0},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, out, err := program.Run(t, nil, append([]string{"topology"}, strings.Fields(test.args)...)...)
			if code != test.code || !strings.HasPrefix(out, test.out) || test.out == "" && out != "" || err != "" {
				t.Errorf("got exit code %d, output\n%s\nerror output %q, want %d, %q", code, out, err, test.code, test.out)
			}
		})
	}
}

// A plan of the current cabling has no differences, in each format that ReadPlan accepts.
func TestTopology_WritePlan(t *testing.T) {
	for source, counts := range map[string]string{
		"--sim demo": "6 switches, 16 channel adapters, 0 routers, 24 cables",
		"--sim net:../../test/nets/parallel-links-and-router.net": "2 switches, 2 channel adapters, 1 router, 8 cables",
		"--from " + topologies + "default-names.topo":             "2 switches, 5 channel adapters, 0 routers, 5 cables",
		"--from " + topologies + "parallel-slow.topo":             "2 switches, 1 channel adapter, 0 routers, 4 cables",
		"--from " + topologies + "rails.topo":                     "2 switches, 10 channel adapters, 0 routers, 11 cables",
		"--from " + topologies + "router.topo":                    "1 switch, 1 channel adapter, 1 router, 2 cables",
		"--from " + topologies + "two-subnets.topo":               "3 switches, 3 channel adapters, 0 routers, 4 cables",
	} {
		for _, format := range []string{"--write-plan", "csv", "netdiscover", "lst", "json"} {
			t.Run(source+" "+format, func(t *testing.T) {
				plan := filepath.Join(t.TempDir(), "plan")
				args := append([]string{"topology"}, strings.Fields(source)...)
				export := append(slices.Clone(args), "--format", format)
				if format == "--write-plan" {
					export = append(slices.Clone(args), format, plan)
				}
				code, out, err := program.Run(t, nil, export...)
				if code != cmdutil.ExitOK {
					t.Fatal(err)
				}
				if format != "--write-plan" {
					plan = cmdtest.WriteFile(t, out)
				}
				for view, want := range map[string]string{"": counts + ": as planned\n", " --punch-list": "as planned\n"} {
					code, out, err = program.Run(t, nil, append(args, strings.Fields("--plan "+plan+view)...)...)
					if code != cmdutil.ExitOK || out != want || err != "" {
						t.Errorf("got exit code %d, output %q, error output %q, want %q", code, out, err, want)
					}
				}
			})
		}
	}
}

// Both questions have an answer, and findings about names remain.
func TestTopology_CheckAndPlan(t *testing.T) {
	for file, want := range map[string]struct {
		out  string
		code int
	}{
		"two-subnets.topo":   {": as planned, no problems found\n", cmdutil.ExitOK},
		"default-names.topo": {": 1 finding\n", cmdutil.ExitFindings},
	} {
		t.Run(file, func(t *testing.T) {
			file = topologies + file
			code, out, err := program.Run(t, nil, "topology", "--from", file, "--plan", file, "--check")
			if code != want.code || !strings.HasSuffix(out, want.out) || err != "" {
				t.Errorf("got exit code %d, output %q, error output %q, want %d, %q", code, out, err, want.code, want.out)
			}
		})
	}
}

func TestTopology_Usage(t *testing.T) {
	file := cmdtest.WriteFile(t, "no cache")
	for _, test := range []struct{ args, err string }{
		{"--node leaf1 --format dot", "--node and --format dot are mutually exclusive"},
		{"leaf1 --check", "--node and --check are mutually exclusive"},
		{"[", `invalid pattern "["`},
		{"--json --format csv", "--json and --format are mutually exclusive"},
		{"--phy", "--phy requires --ibdiagnet or --format db_csv"},
		{"--vs-key 1", "--vs-key has no effect without --phy"},
		{"--nodes --all-ports", "--all-ports and --nodes are mutually exclusive"},
		{"-g", "-g (--grouping) requires --format netdiscover"},
		{"-g --format csv", "-g (--grouping) requires --format netdiscover"},
		{"--nodes --format dot", "--nodes and --format dot are mutually exclusive"},
		{"--format x", "want one of table, json, netdiscover"},
		{"--sm-port 1", "--sm-port requires --from sa"},
		{"--diff " + file, "read cache " + file + ": offset 0"},
		{"--from " + file, "read fabric " + file},
		{"--plan " + file, "read plan " + file + ": not a plan"},
		{"--plan " + file + " --format csv", "--plan and --format csv are mutually exclusive"},
		{"--punch-list", "--punch-list has no effect without --plan"},
		{"--from /nonexistent", "no such file"},
	} {
		t.Run(test.args, func(t *testing.T) {
			env := map[string]string{"IBKIT_SIM": "demo"}
			code, out, err := program.Run(t, env, append([]string{"topology"}, strings.Fields(test.args)...)...)
			if code != cmdutil.ExitUsage || out != "" || !strings.Contains(err, test.err) {
				t.Errorf("got exit code %d, output %q, error output %q, want 2, %q", code, out, err, test.err)
			}
		})
	}
}

// TestTopology_Node checks the nodes and cables that --node and arguments select.
func TestTopology_Node(t *testing.T) {
	for _, test := range []struct {
		args  string
		code  int
		names []string // in the column of nodes
	}{
		{"leaf1 --all-ports", cmdutil.ExitOK, slices.Repeat([]string{"leaf1"}, 16)},
		{"node05", cmdutil.ExitOK, []string{"leaf2"}},
		{"--switches leaf*", cmdutil.ExitOK, []string{"leaf1", "leaf2", "leaf3", "leaf4"}},
		{"--switches --node spine1,leaf2", cmdutil.ExitOK, []string{"spine1", "leaf2"}},
		{"--nodes 0x0002c90000800200 node01", cmdutil.ExitOK, []string{"node01", "leaf1"}},
		{"--switches node01", cmdutil.ExitFailed, nil},
		{"node99", cmdutil.ExitFailed, nil},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, out, stderr := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"topology"}, strings.Fields(test.args)...)...)
			var names []string
			for i, line := range strings.Split(out, "\n") {
				fields := strings.Fields(line)
				switch {
				case i == 0 || len(fields) < 2 || strings.Contains(line, "switches"):
				case fields[0] == "Switch" || fields[0] == "CA":
					names = append(names, fields[len(fields)-1])
				default:
					names = append(names, fields[0])
				}
			}
			if code != test.code || !slices.Equal(names, test.names) {
				t.Errorf("got exit code %d, nodes %q, error output %q, want %d, %q", code, names, stderr, test.code, test.names)
			}
		})
	}
	_, out, _ := program.Run(t, nil, "topology", "--sim", "demo", "--json", "leaf1")
	var r topology.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Nodes) != 1 || len(r.Cables) != 6 || r.Summary.Switches != 6 {
		t.Errorf("got %d nodes, %d cables, summary %+v, error %v, want 1, 6 of 6 switches", len(r.Nodes), len(r.Cables), r.Summary, err)
	}
}
