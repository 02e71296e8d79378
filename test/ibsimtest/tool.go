package ibsimtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ibkit/ibkit/test/debian"
)

// toolTimeout is the maximum time that a tool may run. The longest run takes less than a
// minute on a quiet machine.
const toolTimeout = 5 * time.Minute

// ErrMissing is wrapped by errors about tools that are not installed.
var ErrMissing = errors.New("not installed (make deps installs what the tests need)")

// A Result has the output, the exit code and the cost of a tool.
type Result struct {
	Stdout, Stderr string
	Code           int // exit code; -1: ended by a signal

	Wall, User, Sys time.Duration
	MaxRSS          int64 // bytes; 0 unless Sim.WatchRSS is set
}

// findTool returns the path of a tool in a Debian package. It does not search PATH, which
// may have another program with the same name.
func findTool(name string) (string, error) {
	for _, dir := range []string{"/usr/sbin", "/usr/bin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("find %s: %w", name, ErrMissing)
}

// findPreload returns the library below a root directory that connects C tools to ibsim.
func findPreload(root string) (string, error) {
	libs, err := filepath.Glob(filepath.Join(root, "usr/lib/*/umad2sim/libumad2sim.so"))
	if err != nil || len(libs) == 0 {
		return "", fmt.Errorf("find libumad2sim.so in %s: %w", root, ErrMissing)
	}
	return filepath.Join("/", strings.TrimPrefix(libs[0], root)), nil
}

// memory is a file system without a disk. libumad2sim.so makes and removes some 50
// directories and files in each tool run: 7 ms here, up to 200 ms on a disk with other load.
const memory = "/dev/shm"

// makeScratch makes the scratch directory for a server and for the tools that attach to it.
func makeScratch() (string, error) {
	if _, err := os.Stat(memory); err != nil {
		return os.MkdirTemp("", "ibsimtest-")
	}
	return os.MkdirTemp(memory, "ibsimtest-")
}

// ClientLibrary returns the path of the library that makes Debian's tools clients, for
// LD_PRELOAD in scripts.
func (s *Sim) ClientLibrary() string { return s.lib }

// RunC runs a Debian tool as a client of the server, attached to the node with the ID
// or description host (empty: the first node in the net file). An exit code other than
// 0 is not an error.
func (s *Sim) RunC(ctx context.Context, host, tool string, args ...string) (Result, error) {
	path, err := findTool(tool)
	if err != nil {
		return Result{}, err
	}
	r, err := s.exec(ctx, append(hostEnv(host), "LD_PRELOAD="+s.lib), "/", path, args)
	r.Stderr = withoutNoise(r.Stderr)
	return r, err
}

// RunRelease is [Sim.RunC] for a tool of another Debian release, which runs in the root
// directory of the release. This needs root privileges.
func (s *Sim) RunRelease(ctx context.Context, release *debian.Release, host, tool string, args ...string) (Result, error) {
	root, err := release.Root(ctx)
	if err != nil {
		return Result{}, err
	}
	path, err := debian.LookProgram(root, tool)
	if err != nil {
		return Result{}, err
	}
	lib, err := findPreload(root)
	if err != nil {
		return Result{}, err
	}
	r, err := s.exec(ctx, append(hostEnv(host), "LD_PRELOAD="+lib), root, path, args)
	r.Stderr = withoutNoise(r.Stderr)
	return r, err
}

// Run runs a program that speaks the ibsim protocol itself, for example ibkit.
func (s *Sim) Run(ctx context.Context, host, path string, args ...string) (Result, error) {
	return s.exec(ctx, append(hostEnv(host), "IBKIT_SIM=ibsim"), "/", path, args)
}

// exec runs the program at a path below a root directory.
func (s *Sim) exec(ctx context.Context, env []string, root, path string, args []string) (Result, error) {
	// The preloaded library creates a sysfs tree in the working directory.
	scratch := s.dir
	if root != "/" {
		scratch = filepath.Join(root, "tmp")
	}
	cwd, err := os.MkdirTemp(scratch, "cwd-")
	if err != nil {
		return Result{}, err
	}
	defer os.RemoveAll(cwd)

	// A file, not a pipe: reading a pipe would take processor time beside a measured tool.
	stdout, err := os.CreateTemp(s.dir, "stdout-")
	if err != nil {
		return Result{}, err
	}
	defer func() { stdout.Close(); os.Remove(stdout.Name()) }()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Args[0] = filepath.Base(path) // the C tools print it, as they do in a shell
	cmd.Dir = cwd
	cmd.Env = append(append(os.Environ(), s.Env()...), env...)
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	dieWithParent(cmd)
	if root != "/" {
		cmd.SysProcAttr.Chroot = root
		cmd.Dir = strings.TrimPrefix(cwd, root)
	}
	var rss int64
	start := time.Now()
	err = s.runWatched(cmd, &rss)
	r := Result{Wall: time.Since(start), MaxRSS: rss, Stderr: stderr.String()}
	output, readErr := os.ReadFile(stdout.Name())
	r.Stdout = string(output)
	if cmd.ProcessState != nil {
		r.Code = cmd.ProcessState.ExitCode()
		r.User, r.Sys = cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime()
	}
	var exit *exec.ExitError
	if err != nil && (ctx.Err() != nil || !errors.As(err, &exit) || r.Code < 0) {
		return r, fmt.Errorf("run %s %s: %w: %s", filepath.Base(path), strings.Join(args, " "),
			errors.Join(err, ctx.Err()), r.Stderr)
	}
	return r, readErr
}

// runWatched runs a command and measures its peak memory if WatchRSS is set.
func (s *Sim) runWatched(cmd *exec.Cmd, rss *int64) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	if s.WatchRSS {
		stop := watchRSS(cmd.Process.Pid)
		defer func() { *rss = stop() }()
	}
	return cmd.Wait()
}

func hostEnv(host string) []string {
	if host == "" {
		return nil
	}
	return []string{"SIM_HOST=" + host}
}

// withoutNoise removes the libumad2sim.so greeting.
func withoutNoise(stderr string) string {
	var kept strings.Builder
	for line := range strings.Lines(stderr) {
		if !strings.Contains(line, "sim_connect: attached as client") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
