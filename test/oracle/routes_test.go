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
	"time"

	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/internal/tool/route/dump"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// routedFabrics are small fabrics for each opensm engine: a tree, an irregular
// fabric and tori.
var routedFabrics = []struct{ name, description string }{
	{"tree", "fat-tree:radix=8,pods=4"},
	{"irregular", "dragonfly:groups=3,switches=3,hosts=2"},
	{"torus", "torus:x=5,y=4,hosts=1"},
	{"torus3", "torus:x=4,y=4,z=4,hosts=1"},
}

// engines are opensm's engines. By default, each engine runs on the fabric at its place
// in the list, so that trees have ftree, and tori torus-2QoS and minhop, which needs
// several lanes there.
var engines = []string{"ftree", "dnup", "minhop", "torus-2QoS", "updn", "dfsssp", "dor", "lash"}

// exportNet writes a simulated fabric as an ibsim net file and returns the fabric.
func exportNet(t *testing.T, description, path string) *sim.Fabric {
	t.Helper()
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := f.WriteNet(out); err != nil {
		t.Fatal(err)
	}
	return f
}

// engineOptions returns the opensm options for an engine. updn and dnup need a root in
// fabrics that are not trees, and torus-2QoS the links of the origin.
func engineOptions(t *testing.T, f *sim.Fabric, engine, description, dir string) []string {
	t.Helper()
	options := []string{"routing_engine " + engine, "qos TRUE", "log_flags 0x43", "dump_files_dir " + dir}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	guid := func(id string) string {
		n := f.Node(id)
		if n == nil {
			return "0x0"
		}
		return n.Info.NodeGUID.String()
	}
	switch {
	case engine == "updn" && !strings.HasPrefix(description, "fat-tree"):
		for _, n := range f.Nodes {
			if n.IsSwitch() {
				return append(options, "root_guid_file "+write("roots", n.Info.NodeGUID.String()+"\n"))
			}
		}
	case engine == "torus-2QoS" && strings.HasPrefix(description, "torus"):
		o := guid("switch-0-0-0")
		if f.Node("switch-0-0-1") == nil {
			return append(options, "torus_config "+write("torus.conf", fmt.Sprintf(
				"mesh 5 4 1\nxp_link %s %s\nyp_link %s %s\nx_dateline 0\ny_dateline 0\n", o, guid("switch-1-0-0"), o, guid("switch-0-1-0"))))
		}
		return append(options, "torus_config "+write("torus.conf", fmt.Sprintf(
			"torus 4 4 4\nxp_link %s %s\nyp_link %s %s\nzp_link %s %s\n", o, guid("switch-1-0-0"), o, guid("switch-0-1-0"), o, guid("switch-0-0-1"))))
	}
	return options
}

// A verdict is the result of a routing check.
type verdict struct {
	loop bool // a credit loop
	hops string
}

var (
	lftHops  = regexp.MustCompile(`(?s)LFT ROUTE HOP HISTOGRAM.*?HOPS NUM-CA-CA-PAIRS\n(.*?)---`)
	hopsLine = regexp.MustCompile(`(?m)^\s+(\d+)\s+(\d+)$`)
)

// ibdmchk runs Debian's ibdmchk on the dumps in a directory. On fabrics this small it ends
// with a segmentation fault after the verdict.
func ibdmchk(t *testing.T, dir string, args ...string) (verdict, string) {
	t.Helper()
	multicast := filepath.Join(dir, "opensm.mcfdbs")
	if _, err := os.Stat(multicast); err != nil {
		if err := os.WriteFile(multicast, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := ibsimtest.Command(t, "/usr/bin/ibdmchk", append([]string{
		"-s", filepath.Join(dir, "opensm-subnet.lst"), "-f", filepath.Join(dir, "opensm.fdbs"), "-m", multicast}, args...)...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	text := string(out)
	found, free := strings.Contains(text, "credit loops in routing"), strings.Contains(text, "no credit loops found")
	if found == free {
		t.Fatalf("ibdmchk has no verdict about credit loops:\n%s", text)
	}
	v := verdict{loop: found}
	if m := lftHops.FindStringSubmatch(text); m != nil {
		for _, line := range hopsLine.FindAllStringSubmatch(m[1], -1) {
			v.hops += line[1] + ": " + line[2] + "  "
		}
	}
	return v, text
}

// checkRoutes runs ibkit check routes and returns the verdict and report. s may be nil.
func checkRoutes(t *testing.T, s *ibsimtest.Sim, args ...string) (verdict, string) {
	t.Helper()
	args = append([]string{"check", "routes", "--json"}, args...)
	var text string
	if s != nil {
		text = s.MustRun(t, "", ibkit(), args...).Stdout
	} else {
		cmd := ibsimtest.Command(t, ibkit(), args...)
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		text = string(out)
	}
	var r struct {
		Hops     []route.ReportHops
		Findings []struct{ Kind string }
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%q: %v in %q", args, err, text)
	}
	var v verdict
	for _, h := range r.Hops {
		v.hops += fmt.Sprintf("%d: %d  ", h.Links, h.Paths)
	}
	for _, f := range r.Findings {
		v.loop = v.loop || f.Kind == string(report.CreditLoop)
	}
	return v, text
}

// writeLanes writes the path service levels and the lanes in a stored routing for ibdmchk,
// and returns ibdmchk's options.
func writeLanes(t *testing.T, saved, dir string) []string {
	t.Helper()
	r, err := dump.Load([]string{saved}, dump.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var levels, lanes strings.Builder
	for _, n := range r.Nodes {
		for i := range n.Ports {
			for _, to := range r.Nodes {
				if from, to := &n.Ports[i], &to.Ports[min(1, len(to.Ports)-1)]; !n.IsSwitch() && from.LID != 0 && to.LID != 0 && from != to {
					sl, _ := r.PathSLs.Of(from, to.LID)
					fmt.Fprintf(&levels, "%v %d %d\n", n.GUID, to.LID, sl)
				}
			}
		}
		if n.Tables == nil {
			continue
		}
		for in := range n.Ports {
			for out := range n.Ports {
				fmt.Fprintf(&lanes, "%v %d %d", n.GUID, in, out)
				for sl := uint8(0); sl < 16; sl += 2 {
					fmt.Fprintf(&lanes, " 0x%x%x", n.Lane(uint8(in), uint8(out), sl), n.Lane(uint8(in), uint8(out), sl+1))
				}
				lanes.WriteByte('\n')
			}
		}
	}
	psl, slvl := filepath.Join(dir, "opensm.psl"), filepath.Join(dir, "opensm.slvl")
	for path, text := range map[string]string{psl: levels.String(), slvl: lanes.String()} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"-c", psl, "-d", slvl}
}

// TestRoutes_Engines compares the verdicts on the tables from each opensm engine with
// ibdmchk: from opensm's dumps on a single virtual lane, from the dumps with service
// levels from subnet administration, and read over ibsim.
func TestRoutes_Engines(t *testing.T) {
	t.Parallel()
	for i, fabric := range routedFabrics {
		t.Run(fabric.name, func(t *testing.T) {
			net := filepath.Join(t.TempDir(), "net")
			f := exportNet(t, fabric.description, net)
			for _, engine := range ibsimtest.Share(engines, i, len(routedFabrics)) {
				t.Run(engine, func(t *testing.T) { compareEngine(t, f, net, engine, fabric.description) })
			}
		})
	}
}

func compareEngine(t *testing.T, f *sim.Fabric, net, engine, description string) {
	dir := t.TempDir()
	s := ibsimtest.New(t, net)
	sm, err := s.StartSM("", engineOptions(t, f, engine, description, dir)...)
	if err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(dir, "saved")
	live, text := checkRoutes(t, s, "--path-sls", "--save", saved)
	if err := sm.Stop(); err != nil { // the dumps are complete
		t.Fatal(err)
	}

	list, tables := filepath.Join(dir, "opensm-subnet.lst"), filepath.Join(dir, "opensm.fdbs")
	want, _ := ibdmchk(t, dir)
	got, report := checkRoutes(t, nil, "--tables", list+","+tables)
	if got != want {
		t.Errorf("one lane: got %+v, want %+v as ibdmchk\n%s", got, want, report)
	}
	if !want.loop { // the service levels were not read
		if live != want {
			t.Errorf("live: got %+v, want %+v\n%s", live, want, text)
		}
		return
	}
	lanes := writeLanes(t, saved, dir)
	want, output := ibdmchk(t, dir, lanes...)
	got, report = checkRoutes(t, nil, "--tables", strings.Join([]string{list, tables, lanes[1], lanes[3]}, ","))
	if got != want || live != want {
		t.Errorf("with service levels: got %+v from the dumps, %+v live, want %+v as ibdmchk\n%s\n%s", got, live, want, report, output)
	}
	t.Logf("credit loops on one lane; with service levels: %v", want.loop)
}

// TestRoutes_Faults compares the verdicts on edited opensm tables.
func TestRoutes_Faults(t *testing.T) {
	net := filepath.Join(t.TempDir(), "net")
	exportNet(t, "fat-tree:radix=4,pods=4", net)
	dir := t.TempDir()
	s := ibsimtest.New(t, net)
	sm, err := s.StartSM("", "log_flags 0x43", "dump_files_dir "+dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := sm.Stop(); err != nil {
		t.Fatal(err)
	}
	tables := filepath.Join(dir, "opensm.fdbs")
	sound, err := os.ReadFile(tables)
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(sound), "dump_ucast_routes: ")
	lid := regexp.MustCompile(`(?m)^0x0008 : \d+ `)
	for _, test := range []struct {
		name string
		edit func(section string) string
	}{
		{"sound", func(s string) string { return s }},
		{"dead end", func(s string) string { return lid.ReplaceAllString(s, "0x0008 : 004 ") }},
		{"no entry", func(s string) string { return lid.ReplaceAllString(s, "0x0008 : 255 ") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			edited := slices.Clone(sections)
			edited[1] = test.edit(edited[1])
			if err := os.WriteFile(tables, []byte(strings.Join(edited, "dump_ucast_routes: ")), 0o644); err != nil {
				t.Fatal(err)
			}
			compareMissingPaths(t, filepath.Join(dir, "opensm-subnet.lst"), tables)
		})
	}
}

// missingPaths matches the number of paths in the ibdmchk output.
var missingPaths = regexp.MustCompile(`Found (\d+) missing paths`)

// compareMissingPaths compares the number of paths that do not lead to their destination
// according to a link list and forwarding tables, from ibkit and from ibdmchk.
func compareMissingPaths(t *testing.T, list, tables string) {
	t.Helper()
	out, _ := ibsimtest.Command(t, "/usr/bin/ibdmchk", "-s", list, "-f", tables, "-m", os.DevNull).Output() // it ends with a segmentation fault
	want := "0"
	if m := missingPaths.FindSubmatch(out); m != nil {
		want = string(m[1])
	}
	_, text := checkRoutes(t, nil, "--tables", list+","+tables)
	var r route.Report
	_ = json.Unmarshal([]byte(text), &struct {
		*route.Report
		Lost, Lanes, Congestion any
	}{Report: &r})
	t.Logf("%s of %d paths are missing", want, r.Paths)
	if got := fmt.Sprint(r.Paths - r.Reached); got != want || r.Paths == 0 {
		t.Errorf("got %s missing paths, want %s as ibdmchk\n%s\n%s", got, want, text, out)
	}
}

// TestRoutes_IdleManager checks that the SMInfo count in opensm advances by its own reply
// only, so that the tables are read once.
func TestRoutes_IdleManager(t *testing.T) {
	net := filepath.Join(t.TempDir(), "net")
	f := exportNet(t, "fat-tree:radix=4,pods=4", net)
	s := ibsimtest.New(t, net)
	s.NewSM(t, "", "sweep_interval 600")
	switches := 0
	for _, n := range f.Nodes {
		if n.IsSwitch() {
			switches++
		}
	}
	reads := func() (tables, counts int) {
		out := s.MustRun(t, "", ibkit(), "check", "routes", "-vv").Stderr
		return strings.Count(out, "sent: SubnDR Get LinearForwardingTable"), strings.Count(out, "received: SubnLID GetResp SMInfo")
	}
	// opensm may still work after the subnet is up.
	within(t, time.Minute, "each table is read once", func() bool {
		tables, counts := reads()
		if tables%switches != 0 || counts < 3 {
			t.Fatalf("got %d requests for tables of %d switches, %d counts", tables, switches, counts)
		}
		return tables == switches && counts == 3
	})
}
