package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// compareRoutes compares the read of all forwarding tables with Debian's dump_fts, and the
// check of the dumps of opensm with ibdmchk.
func compareRoutes(ctx context.Context, t *table, name, dir, ours string, runs int) (err error) {
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
	list, tables := filepath.Join(dumps, "opensm-subnet.lst"), filepath.Join(dumps, "opensm.fdbs")
	for _, tools := range [][]contestant{
		{
			{name: "ibkit dump_fts", sim: s, run: run(ibkit, "dump_fts"), prints: "tables"},
			{name: "dump_fts", sim: s, run: debian("dump_fts"), prints: "tables"},
			{name: "ibkit check routes", sim: s, run: run(ibkit, "check", "routes", "--fail-on", "unreachable"), prints: "check"},
		},
		{
			{name: "ibkit check routes --load", sim: s, run: run(ibkit, "check", "routes", "--fail-on", "unreachable", "--load", list+","+tables), prints: "check of files"},
			// It ends with a segmentation fault after its verdict.
			{name: "ibdmchk", sim: s, run: run("/bin/sh", "-c", "/usr/bin/ibdmchk -s "+list+" -f "+tables+" -m /dev/null; exit 0"), prints: "ibdmchk"},
		},
	} {
		results, err := contest(ctx, tools, runs)
		if err != nil {
			return err
		}
		t.add(name, results)
	}
	return nil
}
