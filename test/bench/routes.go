package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/test/netgen"
)

// maxChecked is the largest number of hosts on which ibdmchk runs as often as the other
// tools. On larger nets it runs once, for up to checkLimit: the ratio is a lower bound.
const (
	maxChecked = 5000
	checkLimit = "400" // seconds
)

// compareRoutes compares reading all forwarding tables with Debian's dump_fts, and
// checking opensm's dumps with ibdmchk.
func compareRoutes(ctx context.Context, t *table, name, dir, ours string, runs int) (err error) {
	net, err := netgen.Shapes[name].Build()
	if err != nil {
		return fmt.Errorf("build net %q: %w", name, err)
	}
	s, err := startNet(dir, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	dumps := dir
	sm, err := s.StartSM("", "log_flags 0x43", "dump_files_dir "+dumps)
	if err != nil {
		return err
	}
	if err := sm.Stop(); err != nil { // the dumps are complete
		return err
	}
	ibkit := filepath.Join(filepath.Dir(ours), "ibkit")
	run := func(path string, args ...string) func(context.Context, *ibsimtest.Sim) (ibsimtest.Result, error) {
		return func(ctx context.Context, sim *ibsimtest.Sim) (ibsimtest.Result, error) {
			return sim.Run(ctx, "", path, args...)
		}
	}
	// All LIDs except the highest, which dump_fts omits if it is a multiple of 64.
	last := fmt.Sprint(len(net.Hosts) + len(net.Switches) - 1)
	reading := []contestant{
		{name: "ibkit dump_fts", sim: s, run: run(ibkit, "dump_fts", "1", last), prints: "tables"},
		{name: "dump_fts", sim: s, run: peer("dump_fts", "1", last), prints: "tables"},
		{name: "ibkit dump_fts -n", sim: s, run: run(ibkit, "dump_fts", "-n", "1", last), prints: "short tables"},
		{name: "dump_fts -n", sim: s, run: peer("dump_fts", "-n", "1", last), prints: "short tables"},
		{name: "ibkit check routes", sim: s, run: run(ibkit, "check", "routes", "--fail-on", "unreachable"), prints: "check"},
	}
	list, tables := filepath.Join(dumps, "opensm-subnet.lst"), filepath.Join(dumps, "opensm.fdbs")
	files := []contestant{
		{name: "ibkit check routes --tables", sim: s, run: run(ibkit, "check", "routes", "--fail-on", "unreachable", "--tables", list+","+tables), prints: "check of files"},
	}
	// It ends with a segmentation fault after the verdict.
	ibdmchk := contestant{name: "ibdmchk", sim: s, run: run("/bin/sh", "-c", "/usr/bin/ibdmchk -s "+list+" -f "+tables+" -m /dev/null; exit 0"), prints: "ibdmchk"}
	if len(net.Hosts) <= maxChecked {
		files = append(files, ibdmchk)
	}
	// Ratios are relative to the first tool in a contest.
	for _, tools := range [][]contestant{reading[:2], reading[2:4], reading[4:], files} {
		results, err := contest(ctx, tools, runs)
		if err != nil {
			return err
		}
		if tools[0].name == files[0].name && len(net.Hosts) > maxChecked {
			ibdmchk.name = "ibdmchk, at most " + checkLimit + " s"
			ibdmchk.run = run("/bin/sh", "-c", "timeout "+checkLimit+" /usr/bin/ibdmchk -s "+list+" -f "+tables+" -m /dev/null; exit 0")
			ibdmchk.sim.WatchRSS = true
			once, err := measure(ctx, ibdmchk)
			if err != nil {
				return err
			}
			results = append(results, result{name: ibdmchk.name, rss: once.rss, samples: []sample{once}})
		}
		t.add(name, results)
	}
	return nil
}
