package sysfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
)

// A Dir is a sysfs directory. The methods return nil for a file that does not exist,
// because the available files depend on the kernel and the driver. They also return nil
// for a file that cannot be read or parsed, and append the error to the problem list.
type Dir struct {
	path     string
	problems *[]error
}

// Dir returns the directory with the given path below the root. The methods, including
// subdirectories' methods, append errors to problems.
func (fs FS) Dir(problems *[]error, elements ...string) Dir {
	return Dir{fs.path(elements...), problems}
}

// Sub returns a subdirectory.
func (d Dir) Sub(name string) Dir { return Dir{filepath.Join(d.path, name), d.problems} }

// Path returns the directory path, including the root.
func (d Dir) Path() string { return d.path }

// Exists reports whether the directory exists.
func (d Dir) Exists() bool {
	info, err := os.Stat(d.path)
	return err == nil && info.IsDir()
}

// Names returns the sorted entry names; nil if the directory does not exist. After an error
// it returns the entries read so far.
func (d Dir) Names() []string {
	entries, err := os.ReadDir(d.path)
	d.failed(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Numbers returns the entries with a number from 0 to max as the name, in ascending order.
func (d Dir) Numbers(max int) []int {
	var numbers []int
	for _, name := range d.Names() {
		if n, err := strconv.Atoi(name); err == nil && n >= 0 && n <= max && strconv.Itoa(n) == name {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// Text returns the file contents without leading and trailing white space.
func (d Dir) Text(name string) *string {
	b, err := readFile(filepath.Join(d.path, name))
	if d.failed(err) {
		return nil
	}
	text := strings.TrimSpace(string(b))
	return &text
}

// Bytes returns the first bytes of a binary file, at most max. A file can be shorter for a
// user without privileges: a PCI function's config, for example.
func (d Dir) Bytes(name string, max int) []byte {
	b, err := readFile(filepath.Join(d.path, name))
	if d.failed(err) {
		return nil
	}
	return b[:min(len(b), max)]
}

// Uint returns the number at a file's start. The number must fit into bits.
func (d Dir) Uint(name string, bits int) *uint64 {
	return parsed(d, name, func(s string) (uint64, error) { return parseUint(s, bits) })
}

// Int returns the decimal number in a file.
func (d Dir) Int(name string) *int { return parsed(d, name, parseInt) }

// GUID returns the GUID in a file.
func (d Dir) GUID(name string) *ib.GUID { return parsed(d, name, parseGUID) }

// Link returns a symbolic link target's last element.
func (d Dir) Link(name string) *string {
	target, err := os.Readlink(filepath.Join(d.path, name))
	if d.failed(err) {
		return nil
	}
	base := filepath.Base(target)
	return &base
}

// parsed reads and parses a file.
func parsed[T any](d Dir, name string, parse func(string) (T, error)) *T {
	text := d.Text(name)
	if text == nil {
		return nil
	}
	v, err := parse(*text)
	if err != nil {
		*d.problems = append(*d.problems, fmt.Errorf("read %s: %w", filepath.Join(d.path, name), err))
		return nil
	}
	return &v
}

// pageSize is a sysfs file's maximum size: the kernel's largest PAGE_SIZE.
const pageSize = 64 << 10

// readFile reads a sysfs file, which a single read returns completely. os.ReadFile makes
// three times as many system calls, because it tries to add the file to the poller.
func readFile(path string) ([]byte, error) {
	fail := func(op string, err error) ([]byte, error) { return nil, &fs.PathError{Op: op, Path: path, Err: err} }
	fd, err := retry(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return fail("open", err)
	}
	defer func() { _ = unix.Close(fd) }()
	b := make([]byte, 4<<10)
	for n := 0; ; b = append(b, make([]byte, len(b))...) {
		more, err := retry(func() (int, error) { return unix.Read(fd, b[n:]) })
		if err != nil {
			return fail("read", err)
		}
		if n += more; n < len(b) || n >= pageSize {
			return b[:n], nil
		}
	}
}

// retry repeats a system call while signals interrupt it.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// failed reports whether err is an error. It adds the error to the problems unless the
// file does not exist or is not a directory: a class may contain files, for example
// abi_version, beside the device directories.
func (d Dir) failed(err error) bool {
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
		*d.problems = append(*d.problems, err)
	}
	return err != nil
}
