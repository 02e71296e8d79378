package verbs

import (
	"errors"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A brief and a normal write send the whole message without an allocation.
func TestWrite(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fd, message := int(w.Fd()), []byte("doorbell")
	for _, brief := range []bool{true, false} {
		if n := testing.AllocsPerRun(10, func() {
			if err := new(linux).Write(fd, message, brief); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("brief %v: got %v allocations, want 0", brief, n)
		}
		if err := new(linux).Write(-1, message, brief); !errors.Is(err, unix.EBADF) {
			t.Errorf("brief %v: got error %v, want %v", brief, err, unix.EBADF)
		}
	}
	w.Close()
	if all, err := io.ReadAll(r); err != nil || len(all) != 2*11*len(message) {
		t.Errorf("got %d bytes, error %v, want %d", len(all), err, 2*11*len(message))
	}
}
