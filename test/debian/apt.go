package debian

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// keyring has the keys of all releases.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// mirror returns the archive that this host's apt reads its own release from.
func mirror(ctx context.Context) (string, error) {
	text, err := Output(ctx, "apt-get", "indextargets", "--format=$(REPO_URI)", "Created-By: Packages", "Origin: Debian", "Codename: "+Bookworm.Name)
	if err != nil {
		return "", fmt.Errorf("find mirror: %w", err)
	}
	uri, _, _ := strings.Cut(text, "\n")
	if uri == "" {
		return "", fmt.Errorf("find mirror: apt has no package list of %s; apt-get update on Debian 12 downloads it", Bookworm.Name)
	}
	return uri, nil
}

// apt returns the options with which apt knows the packages of the release only, in the
// cache directory. The host's own release needs none.
func (r *Release) apt(ctx context.Context) ([]string, error) {
	if r.installed() {
		return nil, nil
	}
	cache, err := CacheDir("debian")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, r.Name+"_apt")
	options := []string{"-o", "Dir=" + dir, "-o", "Dir::State::status=" + filepath.Join(dir, "status"), "-o", "APT::Sandbox::User=root"}
	unlock, err := Lock(dir + ".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return options, err
	}
	mirror, err := mirror(ctx)
	if err != nil {
		return nil, err
	}
	for _, sub := range []string{"etc/apt", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	source := fmt.Sprintf("deb [signed-by=%s] %s %s main\n", keyring, mirror, r.Name)
	return options, errors.Join(
		os.WriteFile(filepath.Join(dir, "status"), nil, 0o644),
		os.WriteFile(filepath.Join(dir, "etc/apt/sources.list"), []byte(source), 0o644),
	)
}

// Update downloads the package lists of a release that is not the host's.
func (r *Release) Update(ctx context.Context) error {
	options, err := r.apt(ctx)
	if err != nil || options == nil {
		return err
	}
	_, err = Output(ctx, "apt-get", append(options, "update", "-q")...)
	return err
}

// Show returns the control fields of a package's newest version, see deb-control(5).
func (r *Release) Show(ctx context.Context, name string) (string, error) {
	options, err := r.apt(ctx)
	if err != nil {
		return "", err
	}
	return Output(ctx, "apt-cache", append(options, "show", "--no-all-versions", name)...)
}

// Unpack downloads packages and unpacks them into a directory.
func (r *Release) Unpack(ctx context.Context, dir string, packages ...string) error {
	options, err := r.apt(ctx)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "ibkit-packages-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	download := exec.CommandContext(ctx, "apt-get", append(append(options, "download", "-q"), packages...)...)
	download.Dir = temp
	if out, err := download.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", download, err, out)
	}
	debs, err := filepath.Glob(filepath.Join(temp, "*.deb"))
	if err != nil || len(debs) != len(packages) {
		return fmt.Errorf("%s left %d packages, want %d", download, len(debs), len(packages))
	}
	for _, deb := range debs {
		if _, err := Output(ctx, "dpkg-deb", "-x", deb, dir); err != nil {
			return err
		}
	}
	return nil
}
