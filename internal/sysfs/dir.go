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

// A Dir is a folder of sysfs whose files are read one by one. A file that is not
// there is nil and no problem: kernels and drivers differ in what they show. One
// that cannot be read or understood is nil and a problem, and the others are
// still read.
type Dir struct {
	path     string
	problems *[]error
}

// Dir returns a folder by its path below the root. What cannot be read in it or
// below is appended to problems.
func (fs FS) Dir(problems *[]error, elements ...string) Dir {
	return Dir{fs.path(elements...), problems}
}

// Sub returns a folder below.
func (d Dir) Sub(name string) Dir { return Dir{filepath.Join(d.path, name), d.problems} }

// Path returns where the folder is.
func (d Dir) Path() string { return d.path }

// Exists tells whether the folder is there.
func (d Dir) Exists() bool {
	info, err := os.Stat(d.path)
	return err == nil && info.IsDir()
}

// Names returns the names in the folder in the order of their bytes, nil if the
// folder is not there.
func (d Dir) Names() []string {
	entries, err := os.ReadDir(d.path)
	if d.failed(err) {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Numbers returns the names in the folder that are numbers from 0 to max, in
// their order.
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

// Text returns what a file says, without blanks around it.
func (d Dir) Text(name string) *string {
	b, err := readFile(filepath.Join(d.path, name))
	if d.failed(err) {
		return nil
	}
	text := strings.TrimSpace(string(b))
	return &text
}

// Uint returns the number of so many bits that a file begins with.
func (d Dir) Uint(name string, bits int) *uint64 {
	return parsed(d, name, func(s string) (uint64, error) { return parseUint(s, bits) })
}

// Int returns the decimal number that a file holds.
func (d Dir) Int(name string) *int { return parsed(d, name, strconv.Atoi) }

// GUID returns the GUID that a file holds.
func (d Dir) GUID(name string) *ib.GUID { return parsed(d, name, parseGUID) }

// Link returns the last part of what a symbolic link points to.
func (d Dir) Link(name string) *string {
	target, err := os.Readlink(filepath.Join(d.path, name))
	if d.failed(err) {
		return nil
	}
	base := filepath.Base(target)
	return &base
}

// parsed reads a file by a parser.
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

// pageSize is the most that a file of sysfs holds (PAGE_SIZE of the widest kernel).
const pageSize = 64 << 10

// readFile reads a file of sysfs, which comes whole in one read. os.ReadFile makes
// three times as many system calls, for it takes such files for ones to wait for.
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

// retry repeats a system call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// failed notes an error, unless it says that something is not there: where one
// expects a folder, a class may have a file of its own, such as abi_version.
func (d Dir) failed(err error) bool {
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
		*d.problems = append(*d.problems, err)
	}
	return err != nil
}
