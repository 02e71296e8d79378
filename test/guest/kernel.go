package guest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/ibkit/ibkit/test/debian"
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

	debian *debian.Release
}

// found caches the kernels for this process.
var found struct {
	sync.Mutex
	kernels map[*debian.Release]*Kernel
}

// FindKernel returns the kernel that linux-image-amd64 depends on in a release's package
// lists. It downloads the kernel if it is not cached.
func FindKernel(ctx context.Context, r *debian.Release) (*Kernel, error) {
	found.Lock()
	defer found.Unlock()
	if k := found.kernels[r]; k != nil {
		return k, nil
	}
	k, err := findKernel(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("find kernel of Debian %s: %w", r.Name, err)
	}
	if found.kernels == nil {
		found.kernels = map[*debian.Release]*Kernel{}
	}
	found.kernels[r] = k
	return k, nil
}

func findKernel(ctx context.Context, r *debian.Release) (*Kernel, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	unlock, err := debian.Lock(filepath.Join(cache, "lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	// The lists of another release may be old or missing.
	p, err := newestKernel(ctx, r)
	if err == nil && p.cached(cache) {
		return p.kernel(cache, r), nil
	}
	if err := r.Update(ctx); err != nil {
		return nil, err
	}
	if p, err = newestKernel(ctx, r); err != nil {
		return nil, err
	}
	if !p.cached(cache) {
		if err := p.download(ctx, r, p.dir(cache)); err != nil {
			return nil, fmt.Errorf("download kernel: %w", err)
		}
	}
	return p.kernel(cache, r), nil
}

// kernelPackage is a version of a package with a kernel.
type kernelPackage struct {
	name, version, release string
}

// kernelDependency matches the Depends field in the meta package, see deb-control(5).
var kernelDependency = regexp.MustCompile(`(?m)^Depends:.*?\b(linux-image-([0-9][^ ,]*)) \(= ([^)]+)\)`)

// newestKernel returns the newest kernel package in a release's lists.
func newestKernel(ctx context.Context, r *debian.Release) (kernelPackage, error) {
	text, err := r.Show(ctx, metaPackage)
	if err != nil {
		return kernelPackage{}, err
	}
	return parseMetaPackage(text)
}

func parseMetaPackage(text string) (kernelPackage, error) {
	m := kernelDependency.FindStringSubmatch(text)
	if m == nil {
		return kernelPackage{}, fmt.Errorf("%s depends on no kernel: run apt-get update on a Debian system", metaPackage)
	}
	return kernelPackage{name: m[1], release: m[2], version: m[3]}, nil
}

// kernelParts matches the packages that a kernel package without files consists of.
var kernelParts = regexp.MustCompile(`\b(linux-(?:base|binary|modules)-[0-9][^ ,]*) \(= ([^)]+)\)`)

// parts returns the packages with the kernel's files as NAME=VERSION: since Linux 7 the
// kernel and the modules have packages of their own.
func (p kernelPackage) parts(ctx context.Context, r *debian.Release) ([]string, error) {
	text, err := r.Show(ctx, p.name)
	if err != nil {
		return nil, err
	}
	names := []string{p.name + "=" + p.version}
	for _, m := range kernelParts.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1]+"="+m[2])
	}
	return names, nil
}

func (p kernelPackage) dir(cache string) string {
	return filepath.Join(cache, p.name+"_"+p.version)
}

func (p kernelPackage) cached(cache string) bool {
	_, err := os.Stat(p.dir(cache))
	return err == nil
}

func (p kernelPackage) kernel(cache string, r *debian.Release) *Kernel {
	return &Kernel{
		debian:  r,
		Release: p.release,
		Image:   filepath.Join(p.dir(cache), vmlinux),
		Modules: filepath.Join(p.dir(cache), "lib", "modules", p.release),
	}
}

// download unpacks the package into a directory, completely or not at all.
func (p kernelPackage) download(ctx context.Context, r *debian.Release, dir string) error {
	temp, err := os.MkdirTemp(filepath.Dir(dir), "download-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	parts, err := p.parts(ctx, r)
	if err != nil {
		return err
	}
	tree := filepath.Join(temp, "tree")
	if err := r.Unpack(ctx, tree, parts...); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(tree, "lib")); errors.Is(err, fs.ErrNotExist) {
		// Debian 13 has modules in /usr only.
		if err := os.Symlink("usr/lib", filepath.Join(tree, "lib")); err != nil {
			return err
		}
	}
	if _, err := debian.Output(ctx, "depmod", "-b", tree, p.release); err != nil {
		return err
	}
	image := filepath.Join(tree, "boot", "vmlinuz-"+p.release)
	if _, err := os.Stat(image); errors.Is(err, fs.ErrNotExist) {
		image = filepath.Join(tree, "lib", "modules", p.release, "vmlinuz") // since Linux 7
	}
	if err := unpackKernel(ctx, image, filepath.Join(tree, vmlinux)); err != nil {
		return err
	}
	return os.Rename(tree, dir)
}

// cacheDir returns the directory for kernels, modules and machine states.
func cacheDir() (string, error) { return debian.CacheDir("guest") }
