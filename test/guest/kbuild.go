package guest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// BuildModule builds the out-of-tree kernel module whose sources and Kbuild file are in
// a directory, with the package linux-headers-amd64. It returns the path of the module,
// for [Spec].Insert. The directory is not changed; the module is cached until the
// sources or the kernel change.
func (k *Kernel) BuildModule(ctx context.Context, dir string) (string, error) {
	sum, err := hashDir(dir)
	if err != nil {
		return "", fmt.Errorf("build module %s: %w", dir, err)
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	to := filepath.Join(cache, fmt.Sprintf("module_%s_%x", filepath.Base(filepath.Dir(k.Image)), sum[:8]))
	unlock, err := lock(to + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
		if err := k.buildModule(ctx, dir, to); err != nil {
			return "", fmt.Errorf("build module %s: %w", dir, err)
		}
	}
	return onlyModule(to)
}

// buildModule builds in a copy of the directory, which is then moved to the cache.
func (k *Kernel) buildModule(ctx context.Context, dir, to string) error {
	headers := "/usr/src/linux-headers-" + k.Release
	if _, err := os.Stat(headers); err != nil {
		return fmt.Errorf("%w: make deps installs the headers of the kernel", err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(to), "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	work := filepath.Join(temp, "module")
	if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
		return err
	}
	if _, err := output(ctx, "make", "-C", headers, "M="+work, "modules"); err != nil {
		return err
	}
	if _, err := onlyModule(work); err != nil {
		return err
	}
	return os.Rename(work, to)
}

// onlyModule returns the path of the module in a directory.
func onlyModule(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.ko"))
	if err != nil {
		return "", err
	}
	if len(files) != 1 {
		return "", fmt.Errorf("find module in %s: %d files *.ko", dir, len(files))
	}
	return files[0], nil
}

// hashDir hashes names and contents of the files in a directory.
func hashDir(dir string) ([]byte, error) {
	sum := sha256.New()
	files := os.DirFS(dir)
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(sum, "%q %d\n", path, len(body)) // a hash never fails
		_, _ = sum.Write(body)
		return nil
	})
	return sum.Sum(nil), err
}
