package verbs_test

import (
	"fmt"
	"log"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/verbs"
)

func TestHostDevices(t *testing.T) {
	tests := map[string]struct {
		files map[string]string
		want  []verbs.Device
	}{
		"no RDMA": {map[string]string{"class/net/eth0/mtu": "1500"}, nil},
		"by number of the node": {
			map[string]string{
				"class/infiniband/a/node_type":            "1: CA",
				"class/infiniband/b/node_type":            "1: CA",
				"class/infiniband_verbs/abi_version":      "6",
				"class/infiniband_verbs/uverbs2/ibdev":    "b",
				"class/infiniband_verbs/uverbs10/ibdev":   "a",
				"class/infiniband_verbs/uverbs10/dev":     "231:202",
				"class/infiniband_verbs/uverbs10/unknown": "",
			},
			[]verbs.Device{{Name: "b", Path: "/nodes/uverbs2"}, {Name: "a", Path: "/nodes/uverbs10"}},
		},
		"without a node": {
			map[string]string{"class/infiniband/a/node_type": "1: CA", "class/infiniband_verbs/uverbs0/ibdev": "b"}, nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := verbs.Host{Sysfs: testenv.WriteTree(t, test.files), Dev: "/nodes"}.Devices()
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("got %v, %v, want %v", got, err, test.want)
			}
		})
	}
}

// A class that cannot be read is an error; the others' devices are listed.
func TestHostDevices_Unreadable(t *testing.T) {
	root := testenv.WriteTree(t, map[string]string{
		"class/infiniband/a/node_type":                "1: CA",
		"class/infiniband_verbs/uverbs0/ibdev":        "a",
		"class/infiniband_verbs/uverbs1/ibdev/subdir": "",
	})
	got, err := verbs.Host{Sysfs: root}.Devices()
	want := []verbs.Device{{Name: "a", Path: "/dev/infiniband/uverbs0"}}
	if diff := cmp.Diff(want, got); diff != "" || err == nil {
		t.Errorf("got %v, %v, want %v and an error", got, err, want)
	}
}

func ExampleDevices() {
	devices, err := verbs.Devices()
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range devices {
		c, err := d.Open()
		if err != nil {
			log.Print(err)
			continue
		}
		if port, err := c.QueryPort(1); err == nil {
			fmt.Println(d.Name, port.State, port.ActiveMTU)
		}
		c.Close()
	}
}
