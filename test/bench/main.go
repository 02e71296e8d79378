// Bench compares the speed of ibkit with Debian's iblinkinfo on simulated fat trees, and
// ibkit's simulator with ibsim, as seen by Debian's ibnetdiscover. On the last fabric,
// "slow", links and agents have delays:
//
//	go run ./test/bench -runs 5 -nets ft1k,ft10k
//
// With -views it compares only ibkit views, on all these fabrics except "slow".
//
// With -counters it compares ibkit counters with Debian's ibqueryerrors.
//
// With -topology it compares ibkit topology with Debian's ibnetdiscover and ibnodes.
//
// With -routes it compares ibkit dump_fts with Debian's dump_fts, and ibkit check
// routes with ibdmchk.
//
// With -queries it compares ibkit query with a shell loop over Debian's smpquery and with
// a scan, and measures the ibkit sa tables, on ibkit's simulator.
//
// With -exporter it compares sweeps by ibkit exporter with Debian's ibnetdiscover and a
// perfquery per switch, on ibkit's simulator.
//
// With -phy it compares ibkit phy with the scan in it, on ibkit's simulator.
//
// With -pings it compares ibkit ping with Debian's ibping -f, on ibsim and on ibkit's
// simulator, and the round-trip times that ibkit prints with the elapsed time.
//
// With -release the tools are from another Debian release, in a chroot.
//
// The tools run in turn, so that other load on the machine affects all of them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/test/netgen"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	runs := flag.Int("runs", 5, "counted `runs` of each tool on each net")
	nets := flag.String("nets", "ft100,ft1k,ft4k,ft10k,slow", "`names` of the fat trees to run on")
	views := flag.Bool("views", false, "compare only the views of ibkit")
	pings := flag.Bool("pings", false, "compare ibkit ping with ibping instead")
	counters := flag.Bool("counters", false, "compare ibkit counters with ibqueryerrors instead")
	topology := flag.Bool("topology", false, "compare ibkit topology with ibnetdiscover and ibnodes instead")
	routes := flag.Bool("routes", false, "compare ibkit check routes with dump_fts and ibdmchk instead")
	queries := flag.Bool("queries", false, "compare ibkit query with smpquery instead, and measure ibkit sa")
	registers := flag.Bool("phy", false, "compare ibkit phy with the scan in it instead")
	exporter := flag.Bool("exporter", false, "compare sweeps of ibkit exporter with perfquery per switch instead")
	flag.Func("release", "`codename` of the Debian release with the other tools (default bookworm)", setRelease)
	flag.Parse()
	if release != debian.Bookworm && (*pings || *routes || *queries || *exporter) {
		log.Fatal("-release has an effect on links, -counters and -topology only")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	on := compare
	switch {
	case *views:
		on = compareViews
	case *counters:
		on = compareCounters
	case *topology:
		on = compareTopology
	case *routes:
		on = compareRoutes
	case *queries:
		on = compareQueries
	case *exporter:
		on = compareExporter
	case *registers:
		on = comparePhy
	}
	if err := run(ctx, strings.Split(*nets, ","), *pings, on, *runs); err != nil {
		stop()
		log.Fatal(err)
	}
}

// A comparison compares tools on a named fabric. It keeps its files in dir.
type comparison func(ctx context.Context, t *table, name, dir, ours string, runs int) error

func run(ctx context.Context, nets []string, pings bool, on comparison, runs int) error {
	if runs < 1 {
		return fmt.Errorf("%d runs, need at least one", runs)
	}
	if err := noStrays(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ours, err := build(ctx, dir)
	if err != nil {
		return err
	}
	if pings {
		return comparePings(ctx, os.Stdout, ours, runs)
	}
	fmt.Printf("Debian %s: rdma-core %s\n", release.Name, release.RDMACore)
	t := newTable(os.Stdout)
	for _, name := range nets {
		if err := on(ctx, t, name, dir, ours, runs); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return t.flush()
}

// compare runs all contests on a net.
func compare(ctx context.Context, t *table, name, dir, ours string, runs int) (err error) {
	if name == "slow" {
		return compareSlow(ctx, t, name, ours, runs)
	}
	file, err := writeNet(dir, name)
	if err != nil {
		return err
	}
	ibsim, err := ibsimtest.Start(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ibsim.Stop()) }()
	results, err := contest(ctx, append(tools(ibsim, ours), nativeViews(ibsim, ours)...), runs)
	if err != nil {
		return err
	}
	t.add(name, results)
	served, err := serve(ours, "net:"+file+",sm=off")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, served.Stop()) }()
	for _, options := range [][]string{nil, {"-o", "16"}} {
		results, err := contest(ctx, servers(ibsim, served, options), runs)
		if err != nil {
			return err
		}
		t.add(name, results)
	}
	return nil
}

// compareViews runs the contest between ibkit views on a net. It omits the net "slow",
// where the agents determine the time.
func compareViews(ctx context.Context, t *table, name, dir, ours string, runs int) (err error) {
	if name == "slow" {
		return nil
	}
	ibsim, err := startNet(dir, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ibsim.Stop()) }()
	results, err := contest(ctx, append(tools(ibsim, ours)[:1], nativeViews(ibsim, ours)...), runs)
	if err != nil {
		return err
	}
	t.add(name, results)
	return nil
}

// serve starts ibkit's simulator.
func serve(ours string, args ...string) (*ibsimtest.Sim, error) {
	return ibsimtest.StartServer(filepath.Join(filepath.Dir(ours), "ibkit"), append([]string{"sim", "serve"}, args...)...)
}

// compareSlow runs the contest on the slow fabric.
func compareSlow(ctx context.Context, t *table, name, ours string, runs int) (err error) {
	served, err := serve(ours, "--sim-model", slowModel, slowFabric)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, served.Stop()) }()
	results, err := contest(ctx, slowTools(served, ours), runs)
	if err != nil {
		return err
	}
	t.add(name, results)
	return nil
}

// startNet starts ibsim with the fat tree with a name.
func startNet(dir, name string) (*ibsimtest.Sim, error) {
	file, err := writeNet(dir, name)
	if err != nil {
		return nil, err
	}
	return ibsimtest.Start(file)
}

// writeNet writes a named fat tree to a file in dir.
func writeNet(dir, name string) (file string, err error) {
	shape, ok := netgen.Shapes[name]
	if !ok {
		return "", errors.New("no fat tree has this name")
	}
	file = filepath.Join(dir, name)
	return file, write(file, shape)
}

func write(file string, shape netgen.FatTree) error {
	net, err := shape.Build()
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := net.Write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func writeText(file, text string) error { return os.WriteFile(file, []byte(text), 0o600) }

// contest runs all contestants in turn.
func contest(ctx context.Context, tools []contestant, runs int) ([]result, error) {
	results := make([]result, len(tools))
	for i, tool := range tools {
		results[i].name = tool.name
	}
	for round := range runs + 1 {
		lines := map[string]int{}
		for i, tool := range tools {
			tool.sim.WatchRSS = round == 0
			s, err := measure(ctx, tool)
			if err != nil {
				return nil, err
			}
			if want, known := lines[tool.prints]; known && s.lines != want {
				return nil, fmt.Errorf("%s printed %d lines, the tool before it %d", tool.name, s.lines, want)
			}
			lines[tool.prints] = s.lines
			if round > 0 {
				results[i].samples = append(results[i].samples, s)
			} else {
				results[i].rss = s.rss
			}
		}
	}
	return results, nil
}
