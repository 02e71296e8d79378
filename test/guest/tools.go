package guest

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/test/debian"
)

// programs adds the programs in a root directory to an image, with their libraries and script
// interpreters.
type programs struct {
	*image
	root string
}

// addPrograms adds programs by name.
func (im programs) addPrograms(names []string) error {
	var objects []string
	for _, name := range names {
		path, err := debian.LookProgram(im.root, name)
		if err != nil {
			return err
		}
		objects = append(objects, path)
	}
	for len(objects) > 0 {
		path := objects[0]
		objects = objects[1:]
		if im.has(path) {
			continue
		}
		needs, err := im.addObject(path)
		if err != nil {
			return err
		}
		objects = append(objects, needs...)
	}
	return nil
}

// addObject adds a program or a library and returns the paths of its libraries.
// Scripts must be for sh, which the guest has.
func (im programs) addObject(path string) (needs []string, err error) {
	from, err := debian.Path(im.root, path)
	if err != nil {
		return nil, err
	}
	body, err := os.ReadFile(from)
	if err != nil {
		return nil, err
	}
	im.add(path, 0o755, body)
	if line, _, _ := bytes.Cut(body, []byte("\n")); bytes.HasPrefix(line, []byte("#!")) {
		if string(line) != "#!/bin/sh" {
			return nil, fmt.Errorf("pack %s: a script for an interpreter that the guest lacks: %s", path, line)
		}
		return nil, nil
	}
	f, err := elf.NewFile(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", path, err)
	}
	if needs, err = im.libraries(f); err != nil {
		return nil, fmt.Errorf("pack %s: %w", path, err)
	}
	if strings.HasPrefix(filepath.Base(path), "libibverbs.so") {
		providers, err := im.addProviders(path)
		return append(needs, providers...), err
	}
	return needs, nil
}

// libraryDirs are the directories of Debian's libraries.
var libraryDirs = []string{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"}

// libraries returns the paths of the libraries that an object is linked with, and of the
// dynamic linker.
func (im programs) libraries(f *elf.File) ([]string, error) {
	names, err := f.ImportedLibraries()
	if err != nil {
		return nil, err
	}
	runPath, err := f.DynString(elf.DT_RUNPATH)
	if err != nil {
		return nil, err
	}
	dirs := slices.Concat(runPath, libraryDirs)
	var paths []string
	for _, name := range names {
		path, err := im.library(name, dirs)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			name, err := io.ReadAll(p.Open())
			if err != nil {
				return nil, err
			}
			paths = append(paths, string(bytes.TrimRight(name, "\x00")))
		}
	}
	return paths, nil
}

// library returns the path of a library in the first of the directories that has it.
func (im programs) library(name string, dirs []string) (string, error) {
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if _, err := debian.Path(im.root, path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("find library %s: none in %s", name, strings.Join(dirs, ", "))
}

// addProviders adds the files that name the libibverbs providers, and returns the
// providers. All are added, as on a host, because libibverbs spends time on each.
func (im programs) addProviders(libibverbs string) ([]string, error) {
	const dir = "/etc/libibverbs.d"
	drivers, err := os.ReadDir(filepath.Join(im.root, dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, d := range drivers {
		path := filepath.Join(dir, d.Name())
		body, err := os.ReadFile(filepath.Join(im.root, path))
		if err != nil {
			return nil, err
		}
		im.add(path, 0o644, body)
	}
	in := filepath.Join(filepath.Dir(libibverbs), "libibverbs")
	files, err := filepath.Glob(filepath.Join(im.root, in, "*.so"))
	for i := range files {
		files[i] = filepath.Join(in, filepath.Base(files[i]))
	}
	return files, err
}
