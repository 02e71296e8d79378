package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// compareTopology compares the scans that end in a topology file, and the node lists, for
// which Debian's ibnodes scans twice.
func compareTopology(ctx context.Context, t *table, name, dir, ours string, runs int) (err error) {
	s, err := startNet(dir, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	ibkit := filepath.Join(filepath.Dir(ours), "ibkit")
	plan := filepath.Join(dir, name+".csv")
	if r, err := s.Run(ctx, "", ibkit, "topology", "--write-plan", plan); err != nil || r.Code != 0 {
		return fmt.Errorf("write plan: exit code %d, %s, %w", r.Code, r.Stderr, err)
	}
	native := func(prints string, args ...string) contestant {
		return contestant{name: "ibkit " + strings.ReplaceAll(strings.Join(args, " "), plan, "FILE"), sim: s, prints: prints,
			run: func(ctx context.Context, sim *ibsimtest.Sim) (ibsimtest.Result, error) {
				return sim.Run(ctx, "", ibkit, args...)
			}}
	}
	c := func(prints, tool string, args ...string) contestant {
		return contestant{name: strings.Join(append([]string{tool}, args...), " "), sim: s, run: peer(tool, args...), prints: prints}
	}
	for _, tools := range [][]contestant{
		{
			native("topology", "topology", "--format", "netdiscover"), c("topology", "ibnetdiscover"), c("topology", "ibnetdiscover", "-o", "16"),
			native("plan", "topology", "--plan", plan),
		},
		{native("nodes", "ibnodes"), c("nodes", "ibnodes")},
	} {
		results, err := contest(ctx, tools, runs)
		if err != nil {
			return err
		}
		t.add(name, results)
	}
	return nil
}
