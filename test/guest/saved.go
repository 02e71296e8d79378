package guest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ibkit/ibkit/test/debian"
)

// savedLifetime is the time after which a machine state that another version of the tree
// saved is removed.
const savedLifetime = 24 * time.Hour

// saveTimeout is the longest time for booting a machine and saving the state, which take 8
// s on a quiet machine.
const saveTimeout = 2 * time.Minute

// initrds caches this process's first file systems by the kernel, the shell's root directory
// and the modules that are loaded.
var initrds struct {
	sync.Mutex
	files map[string]*os.File
}

// baseInitrd returns the first file system of all guests with the same base. It is not closed.
func baseInitrd(ctx context.Context, k *Kernel, root string, modules []string) (*os.File, error) {
	initrds.Lock()
	defer initrds.Unlock()
	key := strings.Join(append([]string{k.Release, root}, modules...), " ")
	if f := initrds.files[key]; f != nil {
		return f, nil
	}
	im, err := baseImage(ctx, k, root, modules)
	if err != nil {
		return nil, err
	}
	f, err := im.initrd()
	if err != nil {
		return nil, err
	}
	if initrds.files == nil {
		initrds.files = map[string]*os.File{}
	}
	initrds.files[key] = f
	return f, nil
}

// savedState returns the state of a machine with an agent that waits for its first
// request, from the cache. Booting and loading modules take most of the time in a small
// test, and all guests with the same base do it alike: the first guest boots, and the
// others go on from that state.
func savedState(ctx context.Context, h hardware) (*os.File, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	id, err := h.identity(ctx)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(cache, "state_"+id)
	unlock, err := debian.Lock(filepath.Join(cache, "state.lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	state, err := os.Open(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return state, err
	}
	if err := removeSaved(cache); err != nil {
		return nil, err
	}
	temp := path + ".new"
	err = saveState(ctx, h, temp)
	if errors.Is(err, ErrTimeout) {
		// Rarely a machine does not boot or QEMU does not save it.
		err = saveState(ctx, h, temp)
	}
	if err != nil {
		return nil, fmt.Errorf("save state of a booted machine: %w", err)
	}
	if err := os.Rename(temp, path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// removeSaved removes old states.
func removeSaved(cache string) error {
	paths, err := filepath.Glob(filepath.Join(cache, "state_*"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || time.Since(info.ModTime()) < savedLifetime {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// identity returns a hash of everything that a machine's state depends on.
func (h hardware) identity(ctx context.Context) (string, error) {
	version, err := debian.Output(ctx, qemu, "--version")
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, version, h.machine(new(descriptors)))
	if _, err := io.Copy(sum, io.NewSectionReader(h.initrd, 0, 1<<30)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8]), nil
}

// saveState boots a machine and writes the state to a file.
func saveState(ctx context.Context, h hardware, to string) error {
	console := &console{}
	ours, theirs, err := socketPair()
	if err != nil {
		return err
	}
	defer ours.Close()
	defer theirs.Close()
	h.console, h.monitor, h.disk = console, theirs, h.initrd
	h.wires = slices.Clone(h.wires)
	for rail := range h.wires {
		end, other, err := socketPair()
		if err != nil {
			return err
		}
		defer end.Close()
		defer other.Close()
		h.wires[rail] = end
	}
	ctx, cancel := context.WithTimeoutCause(ctx, saveTimeout, fmt.Errorf("%w: %v", ErrTimeout, saveTimeout))
	defer cancel()
	v, err := startVM(ctx, h)
	if err != nil {
		return err
	}
	defer v.agent.Close()
	_, err = io.ReadFull(v.agent, make([]byte, 1))
	if err == nil {
		// QEMU reads the next command when the last command has ended.
		_, err = fmt.Fprintf(ours, "migrate_set_parameter max-bandwidth 100G\nmigrate \"exec:cat >'%s'\"\nquit\n", to)
	}
	if err != nil {
		cancel()
	}
	<-v.done
	if err := errors.Join(context.Cause(ctx), v.err); err != nil {
		return fmt.Errorf("%w\n%s", err, tail(console.String(), 20))
	}
	var said bytes.Buffer
	_ = theirs.Close()
	if _, err := io.Copy(&said, ours); err != nil {
		return err
	}
	if strings.Contains(said.String(), "Error") {
		return fmt.Errorf("QEMU: %s", strings.TrimSpace(said.String()))
	}
	return nil
}
