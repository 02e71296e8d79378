package ping

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/umad"
)

// A fleet has ports that can be opened, or not, or break once they were.
type fleet struct {
	opens  map[string]error
	breaks map[string]bool
	none   error
	told   []string
	cancel func()
}

func (f *fleet) find() ([]Place, error) {
	var places []Place
	for _, name := range []string{"a", "b"} {
		places = append(places, Place{Name: name, Open: func(context.Context) (umad.Port, error) {
			if err := f.opens[name]; err != nil {
				return nil, err
			}
			// Nothing comes in at a port that does not break.
			p := &servedFake{attr: umad.PortAttr{Device: name}, interrupted: make(chan struct{})}
			if f.breaks[name] {
				p.broken = umad.ErrDeviceRemoved
			}
			return p, nil
		}})
	}
	if f.none != nil {
		return nil, f.none
	}
	return places, nil
}

// tell writes down what it is told, and ends what serves at the last of it.
func (f *fleet) tell(last string) func(string, umad.PortAttr, error) {
	return func(place string, attr umad.PortAttr, err error) {
		what := fmt.Sprintf("%s serves %s", place, attr.Device)
		if err != nil {
			what = fmt.Sprintf("%s: %v", place, err)
		}
		f.told = append(f.told, what)
		if strings.Contains(what, last) {
			f.cancel()
		}
	}
}

func TestServeAll(t *testing.T) {
	denied := errors.New("denied")
	for _, test := range []struct {
		name    string
		fleet   fleet
		last    string
		told    []string
		missing []string
		err     error
	}{
		{
			name: "all", last: "b serves",
			told: []string{"a serves a", "b serves b"},
		},
		{
			name: "one", fleet: fleet{opens: map[string]error{"a": denied}}, last: "a: denied",
			told:    []string{"b serves b", "a: denied"},
			missing: []string{"a"},
		},
		{
			name: "none can be opened", fleet: fleet{opens: map[string]error{"a": denied, "b": denied}}, last: "-",
			err: denied,
		},
		{
			name: "none is there", fleet: fleet{none: denied}, last: "-",
			err: denied,
		},
		{
			name: "one breaks", fleet: fleet{breaks: map[string]bool{"b": true}}, last: "b: serve pings: device removed",
			told:    []string{"a serves a", "b serves b", "b: serve pings: device removed"},
			missing: []string{"b"},
		},
		{
			name: "all break", fleet: fleet{breaks: map[string]bool{"b": true}, opens: map[string]error{"a": denied}}, last: "-",
			told: []string{"b serves b", "a: denied"},
			err:  umad.ErrDeviceRemoved,
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		test.fleet.cancel = cancel
		missing, err := NewServer(ServeOptions{OUI: OUI}).ServeAll(ctx, Places{Find: test.fleet.find, Tell: test.fleet.tell(test.last)})
		if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) || !slices.Equal(missing, test.missing) || !slices.Equal(test.fleet.told, test.told) {
			t.Errorf("%s: told %q, missing %q, error %v", test.name, test.fleet.told, missing, err)
		}
		cancel()
	}
}

// A port that broke is served again once it is back.
func TestServeAllAgain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := &fleet{breaks: map[string]bool{"a": true}, cancel: func() {}}
	tell := f.tell("-")
	rounds := 0
	missing, err := NewServer(ServeOptions{OUI: OUI}).ServeAll(ctx, Places{Find: f.find, Every: time.Millisecond, Tell: func(place string, attr umad.PortAttr, err error) {
		tell(place, attr, err)
		if place != "a" || err != nil {
			return
		}
		if rounds++; rounds == 3 {
			cancel()
		}
	}})
	if err != nil || rounds != 3 || len(missing) > 1 {
		t.Errorf("%d rounds, missing %q, error %v: %q", rounds, missing, err, f.told)
	}
}
