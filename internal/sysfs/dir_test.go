package sysfs

import (
	"slices"
	"testing"
)

func TestDir(t *testing.T) {
	fs := tree(t, map[string]string{
		"device/fw_ver":   "20.31.1014",
		"device/rate":     "100 Gb/sec (4X EDR)",
		"device/numa":     "-1",
		"device/guid":     "b859:9f03:0001:e2d4",
		"device/empty":    "",
		"device/word":     "many",
		"device/ports/10": "",
		"device/ports/2":  "",
		"device/ports/x":  "",
		"device/ports/02": "",
	})
	var problems []error
	d := fs.Dir(&problems, "device")
	if v := d.Text("fw_ver"); v == nil || *v != "20.31.1014" {
		t.Errorf("fw_ver: got %v, want 20.31.1014", v)
	}
	if v := d.Int("numa"); v == nil || *v != -1 {
		t.Errorf("numa: got %v, want -1", v)
	}
	if v := d.GUID("guid"); v == nil || *v != 0xb8599f030001e2d4 {
		t.Errorf("guid: got %v, want 0xb8599f030001e2d4", v)
	}
	if v := d.Sub("ports").Numbers(255); !slices.Equal(v, []int{2, 10}) {
		t.Errorf("ports: got %v, want [2 10]", v)
	}
	if d.Text("absent") != nil || d.Uint("absent", 8) != nil || d.Sub("absent").Names() != nil || d.Link("absent") != nil {
		t.Error("got a value of an absent file, want nil")
	}
	if len(problems) != 0 {
		t.Errorf("got problems %v, want none", problems)
	}
	if d.Uint("empty", 8) != nil || d.Uint("word", 8) != nil || d.Text("ports") != nil || len(problems) != 3 {
		t.Errorf("got problems %v, want 3 and no values", problems)
	}
}

// FuzzDir checks that file contents lead to either a value or a problem.
func FuzzDir(f *testing.F) {
	f.Add("4: ACTIVE")
	f.Add("b859:9f03:0001:e2d4")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(Dir) bool{
			func(d Dir) bool { return d.Uint("file", 16) != nil },
			func(d Dir) bool { return d.Int("file") != nil },
			func(d Dir) bool { return d.GUID("file") != nil },
		} {
			var problems []error
			d := tree(t, map[string]string{"file": text}).Dir(&problems)
			if got := parse(d); got == (len(problems) != 0) {
				t.Errorf("%q: got value %v and problems %v", text, got, problems)
			}
		}
	})
}
