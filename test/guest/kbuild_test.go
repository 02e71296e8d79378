//go:build guest

package guest_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
)

func TestModule(t *testing.T) {
	t.Parallel()
	file := guest.Module(t, debian.Bookworm, "testdata/module")
	if again := guest.Module(t, debian.Bookworm, "testdata/module"); again != file {
		t.Errorf("built as %s and then as %s", file, again)
	}
	g := guest.New(t, guest.Spec{Modules: []string{"ib_core"}, Insert: []string{file}})
	const parameter = "/sys/module/guesttest/parameters/greeting"
	if got := strings.TrimSpace(g.Must(t, "cat", parameter)); got != "hello" {
		t.Errorf("%s has %q", parameter, got)
	}
}

func TestBrokenModule(t *testing.T) {
	t.Parallel()
	k, err := guest.FindKernel(t.Context(), debian.Bookworm)
	if err != nil {
		t.Fatal(err)
	}
	if path, err := k.BuildModule(t.Context(), t.TempDir()); err == nil {
		t.Errorf("got %s from an empty folder", path)
	}
}
