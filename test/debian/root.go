package debian

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Root returns the root directory with the release's programs.
func (r *Release) Root(ctx context.Context) (string, error) { return r.RootWith(ctx, packages...) }

// RootWith returns a root directory with packages of the release. This host has the packages
// of its own release that tests need.
func (r *Release) RootWith(ctx context.Context, packages ...string) (string, error) {
	if r.installed() {
		return "/", nil
	}
	return Bootstrap(ctx, r.Name, packages...)
}

// Bootstrap returns a directory in the cache with a minimal release and additional
// packages. It makes the directory with debootstrap, completely or not at all.
func Bootstrap(ctx context.Context, release string, packages ...string) (string, error) {
	cache, err := CacheDir("debian")
	if err != nil {
		return "", err
	}
	list := strings.Join(packages, ",")
	dir := filepath.Join(cache, fmt.Sprintf("%s_%x", release, sha256.Sum256([]byte(list)))[:len(release)+9])
	unlock, err := Lock(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	temp := dir + ".new"
	if err := os.RemoveAll(temp); err != nil { // from a process that was killed
		return "", err
	}
	if err := bootstrap(ctx, release, list, temp); err != nil {
		return "", errors.Join(fmt.Errorf("unpack Debian %s: %w", release, err), os.RemoveAll(temp))
	}
	return dir, os.Rename(temp, dir)
}

func bootstrap(ctx context.Context, release, include, dir string) error {
	mirror, err := mirror(ctx)
	if err != nil {
		return err
	}
	args := []string{"--variant=minbase"}
	if include != "" {
		args = append(args, "--include="+include)
	}
	if _, err := Output(ctx, "debootstrap", append(args, release, dir, mirror)...); err != nil {
		return err
	}
	archives, err := filepath.Glob(filepath.Join(dir, "var/cache/apt/archives/*.deb"))
	if err != nil {
		return err
	}
	for _, path := range archives {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// Path returns the path on this host of a file in a root directory. An absolute link in
// the directory begins there.
func Path(root, name string) (string, error) {
	const most = 10 // links
	for range most {
		path := filepath.Join(root, name)
		target, err := os.Readlink(path)
		switch {
		case err != nil || !filepath.IsAbs(target):
			_, err := os.Stat(path)
			return path, err
		default:
			name = target
		}
	}
	return "", fmt.Errorf("follow link %s in %s: more than %d links", name, root, most)
}
