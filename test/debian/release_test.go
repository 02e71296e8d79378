package debian

import (
	"os"
	"path/filepath"
	"testing"
)

func TestIsVersion(t *testing.T) {
	for _, c := range []struct {
		version, declared string
		want              bool
	}{
		{"44.0-2", "44.0", true},
		{"4.5+0.17-1", "4.5", true},
		{"25.01.0+0.80-1", "25.01", true},
		{"65.0-1.1", "65.0", true},
		{"65.01-1", "65.0", false},
		{"4.50-1", "4.5", false},
		{"66.0-1", "65.0", false},
		{"", "65.0", false},
	} {
		t.Run(c.version+" "+c.declared, func(t *testing.T) {
			if got := isVersion(c.version, c.declared); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestPath(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"lib", "lib64"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "lib/ld-2.31.so"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"lib64/ld.so.2": "/lib/ld-2.31.so", "lib/ld.so.2": "ld-2.31.so", "lib/loop": "/lib/loop", "lib/dead": "/lib/none", "lib/shell": "/bin/sh",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"/lib64/ld.so.2": "lib/ld-2.31.so", "/lib/ld.so.2": "lib/ld.so.2", "/lib/ld-2.31.so": "lib/ld-2.31.so",
		"/lib/loop": "", "/lib/dead": "", "/lib/shell": "", "/none": "",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Path(root, name)
			if want == "" && err == nil {
				t.Errorf("got %s, want an error", got)
			}
			if want != "" && got != filepath.Join(root, want) {
				t.Errorf("got %s, %v, want %s", got, err, filepath.Join(root, want))
			}
		})
	}
}
