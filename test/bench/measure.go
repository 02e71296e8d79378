package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// A contestant is a program that lists the links of a served fabric.
type contestant struct {
	name   string
	sim    *ibsimtest.Sim
	run    func(context.Context, *ibsimtest.Sim) (ibsimtest.Result, error)
	prints string // output format; tools with the same format print equally many lines
	code   int    // exit code: 3 for a native view of a fabric that no subnet manager configures
}

// tools returns ibkit, the C tool, and the C tool with a window of 16 packets in flight
// instead of 2: without this third contestant, most of the ratio would be due to the window.
func tools(sim *ibsimtest.Sim, ours string) []contestant {
	return []contestant{
		{name: "ibkit", sim: sim, run: func(ctx context.Context, sim *ibsimtest.Sim) (ibsimtest.Result, error) {
			return sim.Run(ctx, "", ours)
		}, prints: "links"},
		{name: "iblinkinfo", sim: sim, run: peer("iblinkinfo"), prints: "links"},
		{name: "iblinkinfo -o 16", sim: sim, run: peer("iblinkinfo", "-o", "16"), prints: "links"},
	}
}

// nativeViews returns the native views of the same scan as tools.
func nativeViews(sim *ibsimtest.Sim, ours string) []contestant {
	var views []contestant
	for _, args := range [][]string{{"linkinfo"}, {"linkinfo", "--problems"}, {"linkinfo", "--json"}, {"linkinfo", "--csv"}} {
		name := "ibkit " + strings.Join(args, " ")
		views = append(views, contestant{name: name, sim: sim, run: func(ctx context.Context, sim *ibsimtest.Sim) (ibsimtest.Result, error) {
			return sim.Run(ctx, "", filepath.Join(filepath.Dir(ours), "ibkit"), args...)
		}, prints: name, code: 3})
	}
	return views
}

// The slow fabric and its delays.
const (
	slowFabric = "fat-tree:levels=3,radix=36,pods=32" // 10,368 hosts
	slowModel  = "hop=1us,service=20us"
)

// slowTools returns ibkit and Debian's tools on a fabric with delays that ibkit serves,
// and ibkit with the same fabric in the same process, without sockets.
func slowTools(sim *ibsimtest.Sim, ours string) []contestant {
	inProcess := func(ctx context.Context, sim *ibsimtest.Sim) (ibsimtest.Result, error) {
		return sim.Run(ctx, "", ours, "--sim", slowFabric, "--sim-model", slowModel)
	}
	all := tools(sim, ours)
	return append(all,
		contestant{name: "ibnetdiscover", sim: sim, run: peer("ibnetdiscover"), prints: "topology"},
		contestant{name: "ibnetdiscover -o 16", sim: sim, run: peer("ibnetdiscover", "-o", "16"), prints: "topology"},
		contestant{name: "ibkit in one process", sim: sim, run: inProcess, prints: "links"})
}

// servers returns the same C tool on ibsim and on ibkit's simulator.
func servers(ibsim, ours *ibsimtest.Sim, options []string) []contestant {
	tool := strings.Join(append([]string{"ibnetdiscover"}, options...), " ")
	return []contestant{
		{name: tool + " on ibsim", sim: ibsim, run: peer("ibnetdiscover", options...), prints: "topology"},
		{name: tool + " on ibkit", sim: ours, run: peer("ibnetdiscover", options...), prints: "topology"},
	}
}

// release has the tools that are compared.
var release = debian.Bookworm

// peer runs a tool of the release.
func peer(tool string, args ...string) func(context.Context, *ibsimtest.Sim) (ibsimtest.Result, error) {
	return func(ctx context.Context, sim *ibsimtest.Sim) (ibsimtest.Result, error) {
		if release == debian.Bookworm {
			return sim.RunC(ctx, "", tool, args...)
		}
		return sim.RunRelease(ctx, release, "", tool, args...)
	}
}

// setRelease chooses the release with a codename.
func setRelease(name string) error {
	for _, r := range debian.Releases() {
		if r.Name == name {
			release = r
			return nil
		}
	}
	return fmt.Errorf("no Debian release %q", name)
}

// build builds ibkit as for a release and returns the iblinkinfo path.
func build(ctx context.Context, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "ibkit"), "github.com/ibkit/ibkit")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build ibkit: %w", err)
	}
	link := filepath.Join(dir, "iblinkinfo")
	return link, os.Symlink("ibkit", link)
}

// noStrays fails if another simulator runs, which would disturb the measurement.
func noStrays() error {
	names, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		return err
	}
	for _, file := range names {
		name, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		if strings.TrimSpace(string(name)) == "ibsim" {
			return fmt.Errorf("another ibsim is running as process %s", filepath.Base(filepath.Dir(file)))
		}
	}
	return nil
}

// A sample has the cost of a run.
type sample struct {
	wall, user, sys time.Duration
	sim             time.Duration // simulator processor time
	rss             int64         // bytes
	lines           int           // printed
	rtt             time.Duration // average in the output of a ping tool, or 0
}

func measure(ctx context.Context, tool contestant) (sample, error) {
	before, err := tool.sim.CPU()
	if err != nil {
		return sample{}, err
	}
	r, err := tool.run(ctx, tool.sim)
	if err != nil {
		return sample{}, err
	}
	after, err := tool.sim.CPU()
	if err != nil {
		return sample{}, err
	}
	if r.Code != tool.code || r.Stdout == "" {
		return sample{}, fmt.Errorf("%s ended with %d after %d bytes: %s", tool.name, r.Code, len(r.Stdout), r.Stderr)
	}
	return sample{
		wall: r.Wall, user: r.User, sys: r.Sys, rss: r.MaxRSS,
		sim: after - before, lines: strings.Count(r.Stdout, "\n"), rtt: rttOf(tool.name, r),
	}, nil
}
