package sysfs

import (
	"errors"
	"strings"
	"testing"
)

// A GID that cannot be parsed is a problem, and does not hide the others.
func TestDir_GIDs(t *testing.T) {
	fs := tree(t, map[string]string{
		"gids/0": "fe80:0000:0000:0000:b859:9f03:0001:e2d4",
		"gids/1": "", "gids/2": "10.0.0.1", "gids/3": "0000:0000:0000:0000:0000:0000:0000:0000",
		"gids/4": "0000:0000:0000:0000:0000:ffff:0a00:0002",
	})
	var problems []error
	got := fs.Dir(&problems).GIDs(new("Ethernet"))
	if len(got) != 2 || got[0].Index != 0 || got[1].Index != 4 {
		t.Errorf("got %v, want the GIDs 0 and 4", got)
	}
	want := `read /gids/1: "" is not a GID` + "\n" + `read /gids/2: "10.0.0.1" is not a GID`
	if got := strings.ReplaceAll(errors.Join(problems...).Error(), string(fs), ""); got != want {
		t.Errorf("got problems %s\nwant %s", got, want)
	}
}

// Only GIDs of Ethernet have a network device: reading it fails for others.
func TestDir_GIDs_netdev(t *testing.T) {
	fs := tree(t, map[string]string{"gids/0": "fe80::1", "gid_attrs/ndevs/0": "eth0", "gid_attrs/types/0": "IB/RoCE v1"})
	for layer, want := range map[string]string{"Ethernet": "eth0", "InfiniBand": "", "Unknown": ""} {
		var problems []error
		got := fs.Dir(&problems).GIDs(&layer)
		if len(got) != 1 || (got[0].Netdev != nil) != (want != "") || got[0].Netdev != nil && *got[0].Netdev != want {
			t.Errorf("%s: got %+v, want the network device %q", layer, got, want)
		}
	}
}
