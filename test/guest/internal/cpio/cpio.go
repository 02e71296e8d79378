// Package cpio writes archives in the cpio "new ASCII" format, from which Linux fills its
// first file system (Documentation/driver-api/early-userspace/buffer-format.rst).
package cpio

import (
	"bufio"
	"fmt"
	"io"
)

// File kinds, as in st_mode.
const (
	Dir  = 0o040000
	File = 0o100000
	Link = 0o120000
)

const trailer = "TRAILER!!!"

// Writer writes an archive. The methods stop working at the first error, which Close returns.
type Writer struct {
	w      *bufio.Writer
	offset int
	inode  uint32
	err    error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: bufio.NewWriterSize(w, 1<<20)}
}

// Add adds a file. Mode is kind and permissions; body is the file content or the link
// target. Directories must come before their contents.
func (w *Writer) Add(name string, mode uint32, body []byte) {
	w.inode++
	w.entry(name, mode, w.inode, body)
}

// Close ends the archive. It does not close the writer below.
func (w *Writer) Close() error {
	w.entry(trailer, 0, 0, nil)
	if w.err != nil {
		return fmt.Errorf("write cpio archive: %w", w.err)
	}
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("write cpio archive: %w", err)
	}
	return nil
}

func (w *Writer) entry(name string, mode, inode uint32, body []byte) {
	links := 1
	if mode&Dir == Dir {
		links = 2
	}
	w.write(fmt.Appendf(nil, "070701"+"%08x%08x"+"%08x%08x"+"%08x"+"%08x"+"%08x"+"%08x%08x"+"%08x%08x"+"%08x"+"%08x",
		inode, mode,
		0, 0, // user, group
		links,
		0, // time
		len(body),
		0, 0, // device
		0, 0, // device that a special file stands for
		len(name)+1,
		0, // checksum, unused
	))
	w.write(append([]byte(name), 0))
	w.pad()
	w.write(body)
	w.pad()
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	_, w.err = w.w.Write(b)
	w.offset += len(b)
}

// pad fills up to a multiple of four bytes.
func (w *Writer) pad() {
	w.write(make([]byte, -w.offset&3))
}
