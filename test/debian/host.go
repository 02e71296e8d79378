package debian

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// programDirs are the directories with Debian programs, including root's programs.
var programDirs = []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// LookProgram returns the path of a Debian program below a root directory.
func LookProgram(root, name string) (string, error) {
	for _, dir := range programDirs {
		path := filepath.Join(dir, name)
		if _, err := Path(root, path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("find program %s in %s: not installed; make deps installs what tests need", name, root)
}

// Output runs a program on this host, including programs that only root has in the
// PATH, and returns the output.
func Output(ctx context.Context, name string, args ...string) (string, error) {
	path, err := LookProgram("/", name)
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

// CacheDir returns a directory for files that are kept between runs. It can be removed
// while no test runs.
func CacheDir(name string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache: %w", err)
	}
	dir := filepath.Join(base, "ibkit", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make cache: %w", err)
	}
	return dir, nil
}

// Lock waits until no other process holds the file. The kernel releases the lock when
// the process ends.
func Lock(path string) (unlock func(), err error) {
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
