package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/yamlfile"
)

// StateSchema identifies the file with a node's state.
const StateSchema = "ibkit/check-state/1"

// A State is what a node check remembers for the next check: port counters, and when their
// links went down.
type State struct {
	Schema string               `json:"schema"`
	Time   time.Time            `json:"time"`
	Ports  map[string]PortState `json:"ports"` // by node GUID and port number

	path string
}

// A PortState is a port's state.
type PortState struct {
	Device   string            `json:"device"` // for readers: the name may change
	Time     time.Time         `json:"time"`
	Counters map[string]uint64 `json:"counters"`
	Downs    []Downs           `json:"downs"`
}

// Downs counts how often a link went down between two checks.
type Downs struct {
	Time  time.Time `json:"time"` // of the second check
	Count uint64    `json:"count"`
}

// ReadState reads the last check's state. Without a file, or with an empty file, the state
// is empty. It returns an error for another content, which would be lost: errors in the
// content have type [*textfile.Error].
func ReadState(path string) (*State, error) {
	empty := &State{Schema: StateSchema, Ports: map[string]PortState{}, path: path}
	data, err := yamlfile.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(bytes.TrimSpace(data)) == 0:
		return empty, nil
	case err != nil:
		return nil, fmt.Errorf("read state: %w", err)
	}
	s, err := ParseState(data, path)
	if err != nil {
		return nil, err
	}
	s.path = path
	return s, nil
}

// ParseState parses a file's content.
func ParseState(data []byte, file string) (*State, error) {
	var s State
	if err := json.Unmarshal(data, &s); err != nil {
		e := &textfile.Error{File: file, Err: errors.New("not a state of ibkit check node")}
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			e.Line = 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte{'\n'})
		}
		return nil, e
	}
	if s.Schema != StateSchema {
		return nil, &textfile.Error{File: file, Err: fmt.Errorf("not a state of ibkit check node: schema %q", s.Schema)}
	}
	if s.Ports == nil {
		s.Ports = map[string]PortState{}
	}
	return &s, nil
}

// Write replaces the file as a whole.
func (s *State) Write() error {
	err := fileout.Write(s.path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(s)
	})
	if err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

// update stores a port's counters and returns its increases since the last check, nil in
// the first check, and how often the link went down in the window. A counter that is
// smaller than before was cleared: it has increased by its value. downs are the names of
// counters for links that went down.
func (s *State) update(key, device string, now time.Time, counters map[string]uint64, downs []string, window time.Duration) (increases map[string]uint64, times uint64) {
	before, known := s.Ports[key]
	p := PortState{Device: device, Time: now, Counters: counters, Downs: []Downs{}}
	for _, d := range before.Downs {
		// A time in the future comes from a clock that was set back.
		if age := now.Sub(d.Time); age <= window && age >= 0 {
			p.Downs = append(p.Downs, d)
		}
	}
	if known {
		increases = map[string]uint64{}
		for name, v := range counters {
			was, ok := before.Counters[name]
			switch {
			case !ok:
			case v >= was:
				increases[name] = v - was
			default:
				increases[name] = v
			}
		}
		var most uint64
		for _, name := range downs {
			most = max(most, increases[name])
		}
		if most > 0 {
			p.Downs = append(p.Downs, Downs{now, most})
		}
	}
	s.Ports[key] = p
	for _, d := range p.Downs {
		times += d.Count
	}
	return increases, times
}

// expire removes ports that were not seen for the window, for example on a device that was
// replaced.
func (s *State) expire(now time.Time, window time.Duration) {
	for key, p := range s.Ports {
		if now.Sub(p.Time) > window {
			delete(s.Ports, key)
		}
	}
}
