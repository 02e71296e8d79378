package conventions

import (
	"fmt"
	"go/build"
	"go/importer"
	"go/types"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestInternalExports checks that the exported declarations in a public package have no
// type from an internal package, which other modules cannot name.
func TestInternalExports(t *testing.T) {
	dirs := map[string]bool{}
	for _, file := range sources(t) {
		dirs[file.dir] = below(slices.Concat(public, tools), file.dir) && !isInternal(file.dir)
	}
	packages := importer.ForCompiler(positions, "gc", openExports(t))
	for dir, checked := range dirs {
		if !checked {
			continue
		}
		t.Run(dir, func(t *testing.T) {
			p, err := packages.Import(module + "/" + dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range p.Scope().Names() {
				object := p.Scope().Lookup(name)
				if !object.Exported() {
					continue
				}
				if found := internalType(object.Type(), p); found != "" {
					t.Errorf("got %s with the type %s, want no internal type", name, found)
				}
			}
		})
	}
}

// isInternal reports whether a path has an element "internal".
func isInternal(path string) bool {
	return slices.Contains(strings.Split(path, "/"), "internal")
}

// exportFiles returns the files with the compiler's export data by import path, for all
// imports of the module.
func exportFiles(t *testing.T) map[string]string {
	t.Helper()
	files, err := listExports()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var listExports = sync.OnceValues(func() (map[string]string, error) {
	all, err := parseSources()
	if err != nil {
		return nil, err
	}
	paths := map[string]bool{"./...": true}
	for _, file := range all {
		if matched, err := build.Default.MatchFile(filepath.Split(file.path)); err != nil || !matched {
			continue
		}
		for _, spec := range file.parsed.Imports {
			paths[strings.Trim(spec.Path.Value, `"`)] = true
		}
	}
	args := slices.AppendSeq([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, maps.Keys(paths))
	list := exec.Command("go", args...)
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list exports: %w", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return files, nil
})

// internalType returns the name of an internal type that is visible in a declaration in
// package p with type t, or "".
func internalType(t types.Type, p *types.Package) string {
	var visit func(types.Type) string
	seen := map[types.Type]bool{}
	tuple := func(vars *types.Tuple) string {
		for v := range vars.Variables() {
			if found := visit(v.Type()); found != "" {
				return found
			}
		}
		return ""
	}
	visit = func(t types.Type) string {
		if seen[t] {
			return ""
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Alias:
			return visit(types.Unalias(t))
		case *types.Named:
			owner := t.Obj().Pkg()
			if owner != nil && strings.HasPrefix(owner.Path(), module+"/") && isInternal(owner.Path()) {
				return t.String()
			}
			if owner != p {
				return ""
			}
			for m := range t.Methods() {
				if m.Exported() {
					if found := visit(m.Type()); found != "" {
						return found
					}
				}
			}
			return visit(t.Underlying())
		case *types.Struct:
			for f := range t.Fields() {
				if f.Exported() {
					if found := visit(f.Type()); found != "" {
						return found
					}
				}
			}
		case *types.Interface:
			for m := range t.Methods() {
				if found := visit(m.Type()); found != "" {
					return found
				}
			}
		case *types.Signature:
			if found := tuple(t.Params()); found != "" {
				return found
			}
			return tuple(t.Results())
		case *types.Map:
			if found := visit(t.Key()); found != "" {
				return found
			}
			return visit(t.Elem())
		case interface{ Elem() types.Type }: // pointer, slice, array, channel
			return visit(t.Elem())
		}
		return ""
	}
	return visit(t)
}
