//go:build guest

package guest_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// TestMissing requests parts that do not exist. The error must name them.
func TestMissing(t *testing.T) {
	t.Parallel()
	const none = "no_such_thing"
	for name, c := range map[string]struct {
		spec guest.Spec
		want string
	}{
		"tool":             {guest.Spec{Tools: []string{none}}, none},
		"module":           {guest.Spec{Modules: []string{none}}, none},
		"program":          {guest.Spec{Programs: []guest.Program{{Package: "github.com/ibkit/ibkit/" + none}}}, none},
		"file":             {guest.Spec{Files: map[string]string{"/file": none}}, none},
		"inserted module":  {guest.Spec{Insert: []string{none}}, none},
		"no kernel module": {guest.Spec{Insert: []string{"doc.go"}}, "doc.go"},
		"wire":             {guest.Spec{Devices: []guest.Device{{Name: "rxe0", Link: guest.Wire}}}, "wire"},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := guest.Boot(t.Context(), c.spec)
			if err == nil {
				_ = g.Close()
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error does not name %s: %v", c.want, err)
			}
		})
	}
}

func TestOddName(t *testing.T) {
	t.Parallel()
	const name = `a 'b"`
	g := guest.New(t, guest.Spec{Devices: []guest.Device{{Name: name}}})
	if got, want := g.Must(t, "ls", "/sys/class/infiniband"), name+"\n"; got != want {
		t.Errorf("got devices %q, want %q", got, want)
	}
}
