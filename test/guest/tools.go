package guest

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// programDirs are the directories with Debian programs, including root's programs.
var programDirs = []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// lookProgram returns the path of a Debian program.
func lookProgram(name string) (string, error) {
	for _, dir := range programDirs {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("find program %s: not installed; make deps installs what tests need", name)
}

// addPrograms adds Debian programs to an image, with their libraries and script interpreters.
func (im *image) addPrograms(ctx context.Context, names []string) error {
	var objects []string
	for _, name := range names {
		path, err := lookProgram(name)
		if err != nil {
			return err
		}
		objects = append(objects, path)
	}
	for len(objects) > 0 {
		var dynamic []string
		for _, path := range objects {
			d, err := im.addObject(path)
			if err != nil {
				return err
			}
			if d {
				dynamic = append(dynamic, path)
			}
		}
		libraries, err := sharedLibraries(ctx, dynamic)
		if err != nil {
			return err
		}
		objects = objects[:0]
		for _, path := range libraries {
			if im.has(path) {
				continue
			}
			if _, err := im.addObject(path); err != nil {
				return err
			}
			if strings.HasPrefix(filepath.Base(path), "libibverbs.so") {
				if objects, err = im.addProviders(path); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// addObject adds a program or a library and reports whether it is dynamically linked.
// Scripts must be for sh, which the guest has.
func (im *image) addObject(path string) (dynamic bool, err error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	im.add(path, 0o755, body)
	if line, _, _ := bytes.Cut(body, []byte("\n")); bytes.HasPrefix(line, []byte("#!")) {
		if string(line) != "#!/bin/sh" {
			return false, fmt.Errorf("pack %s: a script for an interpreter that the guest lacks: %s", path, line)
		}
		return false, nil
	}
	f, err := elf.NewFile(bytes.NewReader(body))
	if err != nil {
		return false, fmt.Errorf("pack %s: %w", path, err)
	}
	return f.Section(".dynamic") != nil, nil
}

// linked caches ldd output in this process by arguments: ldd starts several programs for
// each argument.
var linked struct {
	sync.Mutex
	texts map[string]string
}

// ldd returns the output of ldd.
func ldd(ctx context.Context, paths []string) (string, error) {
	linked.Lock()
	defer linked.Unlock()
	key := strings.Join(paths, " ")
	if text, ok := linked.texts[key]; ok {
		return text, nil
	}
	text, err := output(ctx, "ldd", paths...)
	if err != nil {
		return "", err
	}
	if linked.texts == nil {
		linked.texts = map[string]string{}
	}
	linked.texts[key] = text
	return text, nil
}

// sharedLibraries returns the paths of all libraries that the dynamic linker loads for
// programs and libraries, including the linker.
func sharedLibraries(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	text, err := ldd(ctx, paths)
	if err != nil {
		return nil, err
	}
	var libraries []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, "not found") {
			return nil, fmt.Errorf("find library: %s", strings.TrimSpace(line))
		}
		// "	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)" or
		// "	/lib64/ld-linux-x86-64.so.2 (0x…)"
		for _, word := range strings.Fields(line) {
			if filepath.IsAbs(word) && !strings.HasSuffix(word, ":") {
				libraries = append(libraries, word)
			}
		}
	}
	slices.Sort(libraries)
	return slices.Compact(libraries), nil
}

// addProviders adds the files that name the libibverbs providers, and returns the
// providers. All are added, as on a host, because libibverbs spends time on each.
func (im *image) addProviders(libibverbs string) ([]string, error) {
	const dir = "/etc/libibverbs.d"
	drivers, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, d := range drivers {
		path := filepath.Join(dir, d.Name())
		body, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		im.add(path, 0o644, body)
	}
	return filepath.Glob(filepath.Join(filepath.Dir(libibverbs), "libibverbs", "*.so"))
}
