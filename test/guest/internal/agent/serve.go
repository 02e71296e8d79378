package main

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest/internal/wire"
)

// server starts processes and reports their events.
type server struct {
	mu        sync.Mutex // guards all below
	events    *gob.Encoder
	processes map[uint32]int // process ID of running commands by the runner's number
	sessions  map[int]uint32 // number of the command that has started a session last
}

// serve answers the runner until it closes the port.
func serve() error {
	port, err := openPort(wire.PortName)
	if err != nil {
		return err
	}
	if _, err := port.Write([]byte{0}); err != nil {
		return fmt.Errorf("report to runner: %w", err)
	}
	requests := gob.NewDecoder(port)
	var b wire.Begin
	if err := requests.Decode(&b); err != nil {
		return fmt.Errorf("read first request: %w", err)
	}
	if err := begin(b); err != nil {
		return err
	}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return fmt.Errorf("name kernel: %w", err)
	}
	s := &server{events: gob.NewEncoder(port), processes: map[uint32]int{}, sessions: map[int]uint32{}}
	s.send(wire.Event{Hello: &wire.Hello{Release: unix.ByteSliceToString(name.Release[:])}})
	for {
		var r wire.Request
		if err := requests.Decode(&r); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("read request: %w", err)
		}
		switch {
		case r.Start != nil:
			s.start(r.ID, *r.Start)
		case r.End != 0:
			go s.end(r.ID, r.End)
		case r.Status:
			go s.status(r.ID)
		default:
			s.signal(r.ID, unix.Signal(r.Signal))
		}
	}
}

// send sends an event. If that fails, the runner has disconnected and the guest ends.
func (s *server) send(e wire.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.events.Encode(e); err != nil {
		fmt.Fprintln(os.Stderr, "agent: send event:", err)
		os.Exit(1)
	}
}

// openPort opens a named virtio-serial port. The driver learns the name from a device
// message some time after the driver was loaded. The runner's timeout limits the loop.
func openPort(name string) (*os.File, error) {
	for {
		files, err := filepath.Glob("/sys/class/virtio-ports/*/name")
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || strings.TrimSpace(string(text)) != name {
				continue
			}
			return os.OpenFile(filepath.Join("/dev", filepath.Base(filepath.Dir(file))), os.O_RDWR, 0)
		}
		time.Sleep(time.Millisecond)
	}
}
