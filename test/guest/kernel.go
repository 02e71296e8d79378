package guest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
)

// vmlinux is the name of the unpacked kernel in its cache directory.
const vmlinux = "vmlinux"

// metaPackage depends on the newest kernel in the Debian release.
const metaPackage = "linux-image-amd64"

// Kernel is a Debian kernel, unpacked in the cache.
type Kernel struct {
	Release string // output of uname -r, for example 6.1.0-56-amd64
	Image   string // path of the kernel as an ELF file
	Modules string // path of the directory with modules.dep
}

// found caches the kernel for this process.
var found struct {
	sync.Mutex
	kernel *Kernel
}

// FindKernel returns the kernel that linux-image-amd64 depends on in this machine's
// package lists. It downloads the kernel if it is not cached.
func FindKernel(ctx context.Context) (*Kernel, error) {
	found.Lock()
	defer found.Unlock()
	if found.kernel == nil {
		k, err := findKernel(ctx)
		if err != nil {
			return nil, err
		}
		found.kernel = k
	}
	return found.kernel, nil
}

func findKernel(ctx context.Context) (*Kernel, error) {
	text, err := output(ctx, "apt-cache", "show", "--no-all-versions", metaPackage)
	if err != nil {
		return nil, fmt.Errorf("find kernel package: %w", err)
	}
	p, err := parseMetaPackage(text)
	if err != nil {
		return nil, fmt.Errorf("find kernel package: %w", err)
	}
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, p.name+"_"+p.version)
	unlock, err := lock(filepath.Join(cache, "lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := p.download(ctx, dir); err != nil {
			return nil, fmt.Errorf("download kernel: %w", err)
		}
	} else if err != nil {
		return nil, err
	}
	return &Kernel{
		Release: p.release,
		Image:   filepath.Join(dir, vmlinux),
		Modules: filepath.Join(dir, "lib", "modules", p.release),
	}, nil
}

// kernelPackage is a version of a package with a kernel.
type kernelPackage struct {
	name, version, release string
}

// kernelDependency matches the Depends field in the meta package, see deb-control(5).
var kernelDependency = regexp.MustCompile(`(?m)^Depends:.*?\b(linux-image-([0-9][^ ,]*)) \(= ([^)]+)\)`)

func parseMetaPackage(text string) (kernelPackage, error) {
	m := kernelDependency.FindStringSubmatch(text)
	if m == nil {
		return kernelPackage{}, fmt.Errorf("%s depends on no kernel: run apt-get update on a Debian system", metaPackage)
	}
	return kernelPackage{name: m[1], release: m[2], version: m[3]}, nil
}

// download unpacks the package into a directory, completely or not at all.
func (p kernelPackage) download(ctx context.Context, dir string) error {
	temp, err := os.MkdirTemp(filepath.Dir(dir), "download-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	deb, err := downloadPackage(ctx, p.name+"="+p.version, temp)
	if err != nil {
		return err
	}
	tree := filepath.Join(temp, "tree")
	if _, err := output(ctx, "dpkg-deb", "-x", deb, tree); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(tree, "lib")); errors.Is(err, fs.ErrNotExist) {
		// Debian 13 has modules in /usr only.
		if err := os.Symlink("usr/lib", filepath.Join(tree, "lib")); err != nil {
			return err
		}
	}
	if _, err := output(ctx, "depmod", "-b", tree, p.release); err != nil {
		return err
	}
	if err := unpackKernel(ctx, filepath.Join(tree, "boot", "vmlinuz-"+p.release), filepath.Join(tree, vmlinux)); err != nil {
		return err
	}
	return os.Rename(tree, dir)
}

// downloadPackage downloads a Debian package into a directory without other packages, and
// returns the package path.
func downloadPackage(ctx context.Context, name, dir string) (string, error) {
	apt := exec.CommandContext(ctx, "apt-get", "download", "-q", name)
	apt.Dir = dir
	if out, err := apt.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", apt, err, out)
	}
	debs, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(debs) != 1 {
		return "", fmt.Errorf("%s left %d packages", apt, len(debs))
	}
	return debs[0], nil
}

// cacheDir returns the directory for files that are kept between runs. It can be removed
// while no guest is starting.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache: %w", err)
	}
	dir := filepath.Join(base, "ibkit", "guest")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make cache: %w", err)
	}
	return dir, nil
}

// lock waits until no other process holds the file. The kernel releases the lock when
// the process ends.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock cache: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock cache: %w", err)
	}
	return func() { _ = f.Close() }, nil
}

// output runs a program on this machine, including programs that only root has in the
// PATH, and returns the output.
func output(ctx context.Context, name string, args ...string) (string, error) {
	path, err := lookProgram(name)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", cmd, err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}
