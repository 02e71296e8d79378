package devinfo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// uevents are read by a watcher, each at once; an empty one is an error of lost messages.
type uevents []string

func (u *uevents) Read(b []byte) (int, error) {
	if len(*u) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	next := (*u)[0]
	if *u = (*u)[1:]; next == "" {
		return 0, &os.PathError{Op: "read", Path: "uevents", Err: unix.ENOBUFS}
	}
	return copy(b, next), nil
}

// Uevents are read further after the kernel dropped some.
func TestWatcher_Uevents(t *testing.T) {
	remove := func(subsystem, name string) string {
		return fmt.Sprintf("remove@/devices/x/%[2]s\x00ACTION=remove\x00DEVPATH=/devices/x/%[2]s\x00SUBSYSTEM=%[1]s\x00", subsystem, name)
	}
	w := &watcher{changes: make(chan Change, 8)}
	err := w.uevents(t.Context(), &uevents{"libudev\x00", remove("infiniband_verbs", "uverbs1"), "", remove("infiniband", "rxe0"), remove("net", "eth0")})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got error %v, want %v", err, io.ErrUnexpectedEOF)
	}
	close(w.changes)
	var got []string
	for c := range w.changes {
		got = append(got, fmt.Sprint(c.Kind, c.Device, c.Event))
	}
	if want := []string{fmt.Sprint(leaving, "uverbs1"), fmt.Sprint(missed), fmt.Sprint(Removed, "rxe0")}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// After lost uevents, a device that does not exist any more is reported as removed.
func TestWatcher_Missed(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "class/infiniband/rxe1"), 0o755); err != nil {
		t.Fatal(err)
	}
	w := &watcher{options: Options{Sysfs: root}.withDefaults(), open: map[string]watched{}}
	closed := 0
	for _, name := range []string{"rxe0", "rxe1"} {
		w.open[name] = watched{name, func() { closed++ }}
	}
	var got []Change
	w.handle(t.Context(), Change{Kind: missed}, func(c Change) { got = append(got, c) })
	if len(got) != 1 || got[0].Kind != Removed || got[0].Device != "rxe0" || closed != 1 || len(w.open) != 1 {
		t.Errorf("got %+v, %d devices closed, %d open, want rxe0 removed", got, closed, len(w.open))
	}
}

func FuzzParseUevent(f *testing.F) {
	f.Add([]byte("add@/devices/virtual/infiniband/rxe0\x00ACTION=add\x00DEVPATH=/devices/virtual/infiniband/rxe0\x00SUBSYSTEM=infiniband\x00SEQNUM=7\x00"))
	f.Add([]byte("libudev\x00"))
	f.Fuzz(func(_ *testing.T, b []byte) { parseUevent(b) })
}

func TestParseUevent(t *testing.T) {
	got := parseUevent([]byte("remove@/devices/x/rxe0\x00ACTION=remove\x00DEVPATH=/devices/x/rxe0\x00SUBSYSTEM=infiniband\x00"))
	if want := (uevent{"remove", "infiniband", "rxe0"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
