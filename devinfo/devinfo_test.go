package devinfo

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/testenv"
)

// Many devices come in the order of their device nodes, by number.
func TestMany(t *testing.T) {
	const devices = 64
	files := map[string]string{}
	for i := range devices {
		name := fmt.Sprintf("dev%d", devices-i)
		files["class/infiniband/"+name+"/node_type"] = "1: CA"
		files["class/infiniband/"+name+"/ports/1/state"] = "4: ACTIVE"
		files[fmt.Sprintf("class/infiniband_verbs/uverbs%d/ibdev", i)] = name
	}
	o := Options{Sysfs: sysfs.FS(testenv.WriteTree(t, files))}
	r, err := Run(t.Context(), o)
	if err != nil || len(r.Devices) != devices || len(r.Problems) != 0 {
		t.Fatal(err, len(r.Devices), r.Problems)
	}
	for i, d := range r.Devices {
		if want := fmt.Sprintf("dev%d", devices-i); d.Name != want || *d.UVerbs != fmt.Sprintf("uverbs%d", i) {
			t.Errorf("device %d is %s, want %s", i, d.Name, want)
		}
	}
	o.Device = "nosuch"
	if _, err := Run(t.Context(), o); !errors.Is(err, ErrNoDevice) {
		t.Error(err)
	}
}
