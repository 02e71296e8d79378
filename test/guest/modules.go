package guest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/test/debian"
)

// moduleTree has the depmod output for a kernel's modules.
type moduleTree struct {
	dir     string
	paths   map[string]string   // path below dir by module name
	needs   map[string][]string // dependency paths by module path
	builtin map[string]bool     // by module name
}

// readModules reads modules.dep and modules.builtin in a directory.
func readModules(dir string) (*moduleTree, error) {
	dep, err := os.ReadFile(filepath.Join(dir, "modules.dep"))
	if err != nil {
		return nil, fmt.Errorf("read modules: %w", err)
	}
	builtin, err := os.ReadFile(filepath.Join(dir, "modules.builtin"))
	if err != nil {
		return nil, fmt.Errorf("read modules: %w", err)
	}
	t := &moduleTree{dir: dir, paths: map[string]string{}, needs: map[string][]string{}, builtin: map[string]bool{}}
	for line := range strings.Lines(string(dep)) {
		path, needs, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			return nil, fmt.Errorf("read modules: line of modules.dep without a colon: %q", line)
		}
		t.paths[moduleName(path)] = path
		t.needs[path] = strings.Fields(needs)
	}
	for line := range strings.Lines(string(builtin)) {
		t.builtin[moduleName(strings.TrimSpace(line))] = true
	}
	return t, nil
}

// moduleName returns the name of the module in a file. File names may have dashes in place
// of underscores.
func moduleName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

// closure returns the sorted paths of the named modules and their dependencies. It fails
// if the kernel does not have a module.
func (t *moduleTree) closure(names []string) ([]string, error) {
	found := map[string]bool{}
	for _, name := range names {
		path, ok := t.paths[name]
		switch {
		case ok:
			found[path] = true
			for _, need := range t.needs[path] {
				found[need] = true
			}
		case !t.builtin[name]:
			return nil, fmt.Errorf("find module %s: the kernel has none in %s", name, t.dir)
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// has reports whether the kernel has a module.
func (t *moduleTree) has(name string) bool {
	_, ok := t.paths[name]
	return ok || t.builtin[name]
}

// addModules adds modules to an image in the directory that modprobe searches.
func (im *image) addModules(ctx context.Context, k *Kernel, names []string) error {
	tree, err := readModules(k.Modules)
	if err != nil {
		return err
	}
	paths, err := tree.closure(names)
	if err != nil {
		return err
	}
	dir := "/usr/lib/modules/" + k.Release
	var dep strings.Builder
	for _, path := range paths {
		body, err := readModule(ctx, filepath.Join(tree.dir, path))
		if err != nil {
			return err
		}
		im.add(filepath.Join(dir, plainModule(path)), 0o644, body)
		fmt.Fprintf(&dep, "%s:", plainModule(path))
		for _, need := range tree.needs[path] {
			fmt.Fprintf(&dep, " %s", plainModule(need))
		}
		dep.WriteByte('\n')
	}
	im.add(dir+"/modules.dep", 0o644, []byte(dep.String()))
	builtin, err := os.ReadFile(filepath.Join(tree.dir, "modules.builtin"))
	if err != nil {
		return err
	}
	im.add(dir+"/modules.builtin", 0o644, builtin)
	return nil
}

// readModule returns a module in the form that the kernel loads: Debian compresses
// modules since release 13.
func readModule(ctx context.Context, path string) ([]byte, error) {
	if plainModule(path) == path {
		return os.ReadFile(path)
	}
	out, err := debian.Output(ctx, "xz", "-dc", path)
	return []byte(out), err
}

// plainModule returns a module's file name without the compression suffix.
func plainModule(path string) string { return strings.TrimSuffix(path, ".xz") }
