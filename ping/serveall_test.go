package ping

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// A fleet is a set of ports; some cannot be opened, or break.
type fleet struct {
	opens  map[string]error
	breaks map[string]bool
	list   error
	events []string
	cancel func()
}

func (f *fleet) ports() ([]ServePort, error) {
	if f.list != nil {
		return nil, f.list
	}
	var ports []ServePort
	for _, name := range []string{"a", "b"} {
		ports = append(ports, ServePort{Name: name, Open: func(context.Context) (umad.Port, error) {
			if err := f.opens[name]; err != nil {
				return nil, err
			}
			p := &umadtest.Port{Attributes: umad.PortAttr{Device: name}}
			if f.breaks[name] {
				p.OnRecv = func(*umadtest.Port) error { return umad.ErrDeviceRemoved }
			}
			return p, nil
		}})
	}
	return ports, nil
}

// notify records events, and ends the server at the event that contains last.
func (f *fleet) notify(last string) func(string, umad.PortAttr, error) {
	return func(name string, attr umad.PortAttr, err error) {
		event := fmt.Sprintf("%s serves %s", name, attr.Device)
		if err != nil {
			event = fmt.Sprintf("%s: %v", name, err)
		}
		f.events = append(f.events, event)
		if strings.Contains(event, last) {
			f.cancel()
		}
	}
}

func TestServer_ServeAll(t *testing.T) {
	denied := errors.New("denied")
	tests := []struct {
		name    string
		fleet   fleet
		last    string
		events  []string
		missing []string
		err     error
	}{
		{
			name: "all ports", last: "b serves",
			events: []string{"a serves a", "b serves b"},
		},
		{
			name: "one cannot be opened", fleet: fleet{opens: map[string]error{"a": denied}}, last: "a: denied",
			events:  []string{"b serves b", "a: denied"},
			missing: []string{"a"},
		},
		{
			name: "no port can be opened", fleet: fleet{opens: map[string]error{"a": denied, "b": denied}}, last: "-",
			err: denied,
		},
		{
			name: "no port", fleet: fleet{list: denied}, last: "-",
			err: denied,
		},
		{
			name: "one breaks", fleet: fleet{breaks: map[string]bool{"b": true}}, last: "b: serve pings: device removed",
			events:  []string{"a serves a", "b serves b", "b: serve pings: device removed"},
			missing: []string{"b"},
		},
		{
			name: "all break", fleet: fleet{breaks: map[string]bool{"b": true}, opens: map[string]error{"a": denied}}, last: "-",
			events: []string{"b serves b", "a: denied"},
			err:    umad.ErrDeviceRemoved,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			f := &tt.fleet
			f.cancel = cancel
			missing, err := NewServer(ServeOptions{OUI: OUI}).ServeAll(ctx, ServePorts{List: f.ports, Notify: f.notify(tt.last)})
			if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
				t.Errorf("got error %v, want %v", err, tt.err)
			}
			if !slices.Equal(missing, tt.missing) {
				t.Errorf("missing ports: got %q, want %q", missing, tt.missing)
			}
			if !slices.Equal(f.events, tt.events) {
				t.Errorf("events: got %q, want %q", f.events, tt.events)
			}
		})
	}
}

// A port that broke is served again when it is back.
func TestServer_ServeAllRescan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f := &fleet{breaks: map[string]bool{"a": true}, cancel: func() {}}
		notify := f.notify("-")
		rounds := 0
		missing, err := NewServer(ServeOptions{OUI: OUI}).ServeAll(ctx, ServePorts{List: f.ports, Rescan: time.Millisecond, Notify: func(name string, attr umad.PortAttr, err error) {
			notify(name, attr, err)
			if name != "a" || err != nil {
				return
			}
			if rounds++; rounds == 3 {
				cancel()
			}
		}})
		if err != nil || rounds != 3 || len(missing) > 1 {
			t.Errorf("got %d rounds, missing %q, error %v, events %q, want 3 rounds", rounds, missing, err, f.events)
		}
	})
}
