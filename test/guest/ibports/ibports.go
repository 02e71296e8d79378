// Package ibports gives guests InfiniBand ports: the kernel module test/kmod/ibtest
// provides the ports, and test/simbridge plugs them into a simulated fabric.
package ibports

import (
	"context"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
)

// Devices lists the module's devices. Each has a single port.
var Devices = []string{"ibtest0", "ibtest1"}

// bridge is the program that plugs the ports into a fabric.
var bridge = guest.Program{Package: BridgePackage}

// BridgePackage is the bridge's import path.
const BridgePackage = "github.com/ibkit/ibkit/test/simbridge"

// Spec returns the spec for a guest with the module, ibkit, and Debian tools, for a test
// in a directory in test/guest.
func Spec(tb testing.TB, tools ...string) guest.Spec {
	tb.Helper()
	return guest.Spec{
		Modules:  []string{"ib_uverbs", "ib_umad"},
		Insert:   []string{guest.Module(tb, debian.Bookworm, "../../kmod/ibtest")},
		Programs: []guest.Program{guest.Ibkit, bridge},
		Tools:    tools,
	}
}

// A Bridge is a running simbridge.
type Bridge struct {
	tb      testing.TB
	guest   *guest.Guest
	process *guest.Process
}

// PlugIn connects a guest's two devices to the ports of two nodes in a fabric. args are
// additional simbridge options.
func PlugIn(tb testing.TB, g *guest.Guest, fabric, first, second string, args ...string) *Bridge {
	tb.Helper()
	args = slices.Concat([]string{
		"simbridge", "-plug", Devices[0] + "=" + first, "-plug", Devices[1] + "=" + second,
	}, args, []string{fabric})
	b := &Bridge{tb, g, g.MustStart(tb, args...)}
	if err := b.process.AwaitOutput(tb.Context(), "Plugged in."); err != nil {
		tb.Fatal(err)
	}
	return b
}

// Unplug stops the bridge. The ports are down afterwards.
func (b *Bridge) Unplug() {
	b.tb.Helper()
	if code := b.end(unix.SIGTERM); code != 0 {
		b.tb.Errorf("simbridge: got exit code %d, want 0", code)
	}
}

// Kill stops the bridge with SIGKILL.
func (b *Bridge) Kill() {
	b.tb.Helper()
	b.end(unix.SIGKILL)
}

func (b *Bridge) end(s unix.Signal) int {
	b.tb.Helper()
	if err := b.process.Signal(s); err != nil {
		b.tb.Fatal(err)
	}
	r, err := b.process.Wait(context.WithoutCancel(b.tb.Context()))
	if err != nil {
		b.tb.Fatal(err)
	}
	return r.Code
}
