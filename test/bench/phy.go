package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// comparePhy compares the time of ibkit phy with that of the scan in it, which ibkit linkinfo
// does, too, on a served fabric with registers. mstlink reads a port at a time: its time is
// in the log of TestMstlink_Time in test/oracle.
func comparePhy(ctx context.Context, t *table, name, _, ours string, runs int) (err error) {
	fabric := ""
	for _, f := range servedFabrics {
		if f.name == name && f.events == "" {
			fabric = f.fabric
		}
	}
	if fabric == "" {
		return errors.New("no served fabric without events has the name")
	}
	s, err := serve(ours, fabric+",vendor=on")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	ibkit := filepath.Join(filepath.Dir(ours), "ibkit")
	native := func(command string, args ...string) contestant {
		args = append([]string{command, "--sim", "ibsim"}, args...)
		return contestant{name: "ibkit " + command, sim: s, prints: command, run: func(ctx context.Context, s *ibsimtest.Sim) (ibsimtest.Result, error) {
			return s.Run(ctx, "", ibkit, args...)
		}}
	}
	results, err := contest(ctx, []contestant{native("linkinfo"), native("phy")}, runs)
	if err != nil {
		return err
	}
	t.add(name, results)
	return nil
}
