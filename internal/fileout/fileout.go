// Package fileout writes command output files.
//
// A regular file is replaced as a whole: until Commit, and after an error, the former
// content stays. Symbolic links are followed, and the new file keeps the former mode and
// owner. Anything else that has a name, such as a FIFO, a terminal or /dev/full, is
// written through.
package fileout

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/ibkit/ibkit/internal/interrupt"
)

// A File is an output file. It ends with Commit or Abort.
type File struct {
	path string // as the caller gave it
	file *os.File

	// temp and target name the new and former content for a regular file; empty if the
	// file is written through.
	temp, target string

	// buffer holds the content for a regular file that is overwritten in place; nil otherwise.
	buffer *bytes.Buffer
}

// Create opens a file for writing and creates it if it does not exist. It reports missing
// directories and permissions early, before the content exists. The former content stays
// until Commit. Opening a FIFO waits for a reader.
func Create(path string) (*File, error) {
	f := &File{path: path}
	if err := f.open(); err != nil {
		return nil, f.wrap(err)
	}
	return f, nil
}

// Check returns the reason why a file cannot be written, before any content exists. It
// leaves the file as it is, and does not open other file kinds, such as a FIFO, for
// which this would wait.
func Check(path string) error {
	if i, err := os.Stat(path); err == nil && !i.Mode().IsRegular() && !i.IsDir() {
		return nil
	}
	f, err := Create(path)
	if err != nil {
		return err
	}
	f.Abort()
	return nil
}

// Write replaces the file content with a function's output. If the function returns
// an error, a regular file keeps the former content.
func Write(path string, write func(io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// An ExistsError reports a regular file with other content that [WriteNew] does not replace.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string { return "write " + e.Path + ": the file exists and differs" }

// Hint suggests a remedy.
func (e *ExistsError) Hint() string { return "remove the file, or choose another name" }

// WriteNew writes a file that a user may have edited: a regular file that differs
// is not replaced, and the error is an [*ExistsError].
func WriteNew(path string, content []byte) error {
	if i, err := os.Stat(path); err == nil && i.Mode().IsRegular() && i.Size() > 0 {
		former, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("write %w", err)
		}
		if bytes.Equal(former, content) {
			return nil
		}
		return &ExistsError{path}
	}
	return Write(path, func(w io.Writer) error { _, err := w.Write(content); return err })
}

func (f *File) open() (err error) {
	target, magic, err := resolve(f.path)
	if err != nil {
		return err
	}
	former, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f.createTemp(target, 0o666)
	case err != nil:
		return err
	case former.IsDir():
		return syscall.EISDIR
	}
	// The former file must be writable even if its directory is.
	if f.file, err = interrupt.OpenFile(f.path, os.O_WRONLY, 0); err != nil {
		return err
	}
	stat, ok := former.Sys().(*syscall.Stat_t)
	if !former.Mode().IsRegular() {
		return nil
	}
	if magic || ok && stat.Nlink > 1 {
		f.buffer = new(bytes.Buffer) // a second name, or a descriptor, refers to it
		return nil
	}
	direct := f.file
	if err := f.createTemp(target, former.Mode().Perm()); err != nil {
		f.file, f.buffer = direct, new(bytes.Buffer) // a directory that is not writable
		return nil
	}
	err = f.file.Chmod(former.Mode().Perm())
	if err == nil && ok {
		err = f.file.Chown(int(stat.Uid), int(stat.Gid))
	}
	if err != nil { // the file belongs to another user
		f.Abort()
		f.file, f.temp, f.buffer = direct, "", new(bytes.Buffer)
		return nil
	}
	return direct.Close()
}

// createTemp creates a new file next to target.
func (f *File) createTemp(target string, mode fs.FileMode) error {
	prefix := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".")
	for {
		temp := prefix + strconv.FormatUint(rand.Uint64(), 36)
		file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			f.file, f.temp, f.target = file, temp, target
		}
		return err
	}
}

// maxLinks is the symbolic link count that Linux follows in a path.
const maxLinks = 40

// resolve follows symbolic links from path down to a name that is not a link, whether or
// not it exists. magic reports a link in the proc file system, such as /dev/stdout: the
// link text is not a file name.
func resolve(path string) (target string, magic bool, err error) {
	for range maxLinks {
		link, err := os.Readlink(path)
		if err != nil {
			return path, false, nil // not a link, or it does not exist
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", false, err
		}
		if strings.HasPrefix(dir, "/proc/") {
			return path, true, nil
		}
		if path = link; !filepath.IsAbs(link) {
			path = filepath.Join(dir, link)
		}
	}
	return "", false, syscall.ELOOP
}

// Write writes to the new content.
func (f *File) Write(p []byte) (int, error) {
	if f.buffer != nil {
		return f.buffer.Write(p)
	}
	n, err := f.file.Write(p)
	if err != nil {
		err = f.wrap(err)
	}
	return n, err
}

// Commit replaces the former content with the new content. After an error a regular file
// keeps the former content.
func (f *File) Commit() error {
	defer f.Abort()
	var steps []func() error
	switch {
	case f.temp != "":
		steps = []func() error{f.file.Sync, f.file.Close, func() error { return os.Rename(f.temp, f.target) }}
	case f.buffer != nil:
		steps = []func() error{func() error { return f.file.Truncate(0) }, f.flush, f.file.Close}
	default:
		steps = []func() error{f.file.Close}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return f.wrap(err)
		}
	}
	f.file, f.temp = nil, ""
	return nil
}

func (f *File) flush() error {
	_, err := f.buffer.WriteTo(f.file)
	return err
}

// Abort ends the file without the new content. It has no effect after Commit.
func (f *File) Abort() {
	if f.file == nil {
		return
	}
	_ = f.file.Close() // the content does not count
	if f.temp != "" {
		_ = os.Remove(f.temp)
	}
	f.file = nil
}

// wrap adds the caller's path for a temporary file name.
func (f *File) wrap(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("write %s: %w", f.path, err)
}
