package guest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/test/debian"
)

// BuildModule builds an out-of-tree kernel module from the sources and Kbuild file in a
// directory, with the package linux-headers-amd64. It returns the module path, for
// [Spec].Insert. The directory is not changed; the module is cached until the sources or
// the kernel change.
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
	unlock, err := debian.Lock(to + ".lock")
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

// BuildTreeModule builds a module from the kernel's own source that Debian's kernel
// package lacks. dir is the module's directory in the source, config its option:
// "CONFIG_RDMA_SIW". The source is from the linux-source package with the kernel's
// version, which is downloaded to the cache.
func (k *Kernel) BuildTreeModule(ctx context.Context, dir, config string) (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	to := filepath.Join(cache, "module_"+filepath.Base(filepath.Dir(k.Image))+"_"+filepath.Base(dir))
	unlock, err := debian.Lock(to + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
		temp, err := os.MkdirTemp(cache, "source-")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(temp)
		if err := k.unpackSource(ctx, dir, temp); err != nil {
			return "", fmt.Errorf("unpack source of module %s: %w", dir, err)
		}
		if err := k.buildModule(ctx, filepath.Join(temp, dir), to, config+"=m"); err != nil {
			return "", fmt.Errorf("build module %s: %w", dir, err)
		}
	}
	return onlyModule(to)
}

// unpackSource unpacks a kernel source directory below another directory.
func (k *Kernel) unpackSource(ctx context.Context, dir, to string) error {
	parts := strings.SplitN(k.Release, ".", 3)
	if len(parts) < 3 {
		return fmt.Errorf("parse release %s of the kernel: no minor number", k.Release)
	}
	name := "linux-source-" + parts[0] + "." + parts[1]
	_, version, _ := strings.Cut(filepath.Base(filepath.Dir(k.Image)), "_")
	if err := k.debian.Unpack(ctx, to, name+"="+version); err != nil {
		return err
	}
	_, err := debian.Output(ctx, "tar", "-xf", filepath.Join(to, "usr/src", name+".tar.xz"), "-C", to, "--strip-components=1", name+"/"+dir)
	return err
}

// buildModule builds in a copy of the directory, which is then moved to the cache, with the
// compiler of the kernel's release.
func (k *Kernel) buildModule(ctx context.Context, dir, to string, settings ...string) error {
	root, err := k.debian.RootWith(ctx, "linux-headers-amd64", "make")
	if err != nil {
		return err
	}
	headers := "/usr/src/linux-headers-" + k.Release
	if _, err := os.Stat(filepath.Join(root, headers)); err != nil {
		return fmt.Errorf("%w: make deps installs the headers of the kernel", err)
	}
	within, build := filepath.Dir(to), []string{"make"}
	if root != "/" {
		within, build = filepath.Join(root, "tmp"), []string{"unshare", "--pid", "--fork", "--root=" + root, "--mount-proc", "make"}
	}
	temp, err := os.MkdirTemp(within, "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	work := filepath.Join(temp, "module")
	if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
		return err
	}
	build = slices.Concat(build, []string{"-C", headers, "M=" + strings.TrimPrefix(work, strings.TrimSuffix(root, "/"))}, settings, []string{"modules"})
	if _, err := debian.Output(ctx, build[0], build[1:]...); err != nil {
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

// hashDir hashes the names and contents of all files in a directory.
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
