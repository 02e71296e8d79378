//go:build inguest

package verbs_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/verbs"
)

func TestGuestExample(t *testing.T) {
	leaves(t, "the example", func() {
		if got, want := testenv.Stdout(t, Example), "hello\n"; got != want {
			t.Errorf("got output %q, want %q", got, want)
		}
	})
	if got, want := testenv.Stdout(t, ExampleDevices), "rxe0 Active 1024\n"; got != want {
		t.Errorf("got output %q, want %q", got, want)
	}
}

func TestGuestDevices(t *testing.T) {
	got, err := verbs.Devices()
	want := []verbs.Device{{Name: device, Path: node, Driver: verbs.DriverRXE}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// The kernel frees a dropped context's objects, as after Close.
func TestGuestForgotten(t *testing.T) {
	files := func() int {
		t.Helper()
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := files()
	leaves(t, "a dropped context", func() {
		func() {
			c := must(verbs.Open(device, node))(t)
			must(c.Events())(t)
			pd := must(c.AllocPD())(t)
			must(pd.RegisterMR(must(c.NewMemory(1, verbs.MemoryOptions{}))(t), 0))(t)
			cq := must(c.CreateCQ(verbs.CQInit{Entries: 1, Channel: must(c.NewCompChannel())(t)}))(t)
			must(pd.CreateQP(verbs.QPInit{Type: verbs.QPTypeUD, SendCQ: cq, RecvCQ: cq}))(t)
		}()
		for end := time.Now().Add(timeout); files() > before; runtime.GC() {
			if time.Now().After(end) {
				t.Fatalf("got %d open files, want %d", files(), before)
			}
		}
	})
}
