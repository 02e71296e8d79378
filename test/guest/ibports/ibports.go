// Package ibports gives guests InfiniBand ports: those of the module
// test/kmod/ibtest, plugged into a fabric that ibkit simulates in the guest.
package ibports

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
)

// Devices are those that the module makes, with a port each.
var Devices = []string{"ibtest0", "ibtest1"}

// Spec returns that of a guest with the module, ibkit, and tools of Debian.
func Spec(tb testing.TB, tools ...string) guest.Spec {
	tb.Helper()
	_, file, _, _ := runtime.Caller(0)
	return guest.Spec{
		Modules:  []string{"ib_uverbs", "ib_umad"},
		Insert:   []string{guest.Module(tb, filepath.Join(filepath.Dir(file), "../../kmod/ibtest"))},
		Programs: []guest.Program{guest.Ibkit},
		Tools:    tools,
	}
}

// A Bridge is a running ibkit sim bridge.
type Bridge struct {
	tb      testing.TB
	guest   *guest.Guest
	process *guest.Process
}

// PlugIn makes the first device of a guest a port of one node of a fabric, and
// the second one of another node. Args are further ones for ibkit sim bridge.
func PlugIn(tb testing.TB, g *guest.Guest, fabric, first, second string, args ...string) *Bridge {
	tb.Helper()
	args = slices.Concat([]string{
		"ibkit", "sim", "bridge", fabric, "--plug", Devices[0] + "=" + first, "--plug", Devices[1] + "=" + second,
	}, args)
	b := &Bridge{tb, g, g.MustStart(tb, args...)}
	if err := b.process.AwaitOutput(tb.Context(), "Plugged in."); err != nil {
		tb.Fatal(err)
	}
	return b
}

// Unplug ends the bridge, and leaves the ports down.
func (b *Bridge) Unplug() {
	b.tb.Helper()
	if code := b.end(unix.SIGTERM); code != 0 {
		b.tb.Errorf("ibkit sim bridge ended with %d", code)
	}
}

// Kill ends the bridge without its having a say.
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
