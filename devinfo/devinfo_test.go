package devinfo

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

// TestRun_Order checks that devices are sorted by the number of their uverbs node.
func TestRun_Order(t *testing.T) {
	const devices = 64
	files := map[string]string{}
	for i := range devices {
		name := fmt.Sprintf("dev%d", devices-i)
		files["class/infiniband/"+name+"/node_type"] = "1: CA"
		files["class/infiniband/"+name+"/ports/1/state"] = "4: ACTIVE"
		files[fmt.Sprintf("class/infiniband_verbs/uverbs%d/ibdev", i)] = name
	}
	o := Options{Sysfs: testenv.WriteTree(t, files)}
	r, err := Run(t.Context(), o)
	if err != nil || len(r.Devices) != devices || len(r.Problems) != 0 {
		t.Fatalf("got %d devices, problems %v, error %v, want %d devices", len(r.Devices), r.Problems, err, devices)
	}
	for i, d := range r.Devices {
		if want := fmt.Sprintf("dev%d", devices-i); d.Name != want || *d.UVerbs != fmt.Sprintf("uverbs%d", i) {
			t.Errorf("device %d: got %s at %s, want %s at uverbs%d", i, d.Name, *d.UVerbs, want, i)
		}
	}
	// Names omits devices without a node.
	o.Dev = testenv.WriteTree(t, map[string]string{"uverbs7": "", "uverbs9": ""})
	if got, want := Names(o), []string{"dev57", "dev55"}; !slices.Equal(got, want) {
		t.Errorf("got names %v, want %v", got, want)
	}
	o.Device = "nosuch"
	if _, err := Run(t.Context(), o); !errors.Is(err, ErrNoDevice) {
		t.Errorf("got error %v, want %v", err, ErrNoDevice)
	}
}
