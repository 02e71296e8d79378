package guest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestClosure(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"modules.dep":     "kernel/a/rxe.ko.xz: kernel/b/udp-tunnel.ko.xz kernel/b/core.ko.xz\nkernel/b/udp-tunnel.ko.xz:\nkernel/b/core.ko.xz:\nkernel/c/other.ko:\n",
		"modules.builtin": "kernel/d/built-in.ko\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := readModules(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tree.closure([]string{"udp_tunnel", "rxe", "built_in"})
	want := []string{"kernel/a/rxe.ko.xz", "kernel/b/core.ko.xz", "kernel/b/udp-tunnel.ko.xz"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if got, err := tree.closure([]string{"none"}); err == nil {
		t.Errorf("got %q for a module that is not there", got)
	}
}
