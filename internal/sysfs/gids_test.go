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
