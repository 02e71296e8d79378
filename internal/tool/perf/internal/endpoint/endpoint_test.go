package endpoint

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/verbs"
)

// On iWARP, memory for the data of reads has the access for writes of the peer.
func TestOutAccess(t *testing.T) {
	const read, write = verbs.AccessLocalWrite, verbs.Access(0)
	for _, c := range []struct {
		access, roce, iwarp verbs.Access
	}{
		{read, read, read | verbs.AccessRemoteWrite},
		{write, write, write},
	} {
		o := Options{OutAccess: c.access}
		if roce, iwarp := o.outAccess(false), o.outAccess(true); roce != c.roce || iwarp != c.iwarp {
			t.Errorf("%v: got %v and %v on iWARP, want %v and %v", c.access, roce, iwarp, c.roce, c.iwarp)
		}
	}
}

func TestEndpoint_explain(t *testing.T) {
	e := &Endpoint{Port: &port.Port{Device: "efa_0"}, options: Options{Type: verbs.QPTypeRC}}
	err := e.explain(fmt.Errorf("queue pair of transport 2: %w", verbs.ErrOpcode))
	if want := "create RC queue pair on efa_0: no such transport on this device"; !errors.Is(err, ErrTransport) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
