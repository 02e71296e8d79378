package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest/internal/wire"
)

// disk has the guest's files.
const disk = "/dev/vda"

// begin makes a saved machine a guest: the time, random numbers, files. The disk module is
// loaded here because the saved machine had another disk.
func begin(b wire.Begin) error {
	now := unix.NsecToTimespec(b.Time.UnixNano())
	if err := unix.ClockSettime(unix.CLOCK_REALTIME, &now); err != nil {
		return fmt.Errorf("set clock: %w", err)
	}
	if err := seed(b.Random); err != nil {
		return err
	}
	if out, err := exec.Command("modprobe", "virtio_blk").CombinedOutput(); err != nil {
		return fmt.Errorf("load module of the disk: %w: %s", err, out)
	}
	f, err := openDisk()
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unpack(f); err != nil {
		return fmt.Errorf("unpack files: %w", err)
	}
	return nil
}

// seed adds random bytes to the kernel's generator, as random(4) describes: otherwise, all
// guests would have the same numbers as the saved machine.
func seed(random []byte) error {
	f, err := os.OpenFile("/dev/urandom", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(random); err != nil {
		return err
	}
	if err := unix.IoctlSetInt(int(f.Fd()), unix.RNDRESEEDCRNG, 0); err != nil {
		return fmt.Errorf("use random bytes: %w", err)
	}
	return nil
}

// openDisk opens the disk, which appears some time after the disk module was loaded. The
// runner's timeout limits the loop.
func openDisk() (*os.File, error) {
	for {
		f, err := os.Open(disk)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		time.Sleep(time.Millisecond)
	}
}

// unpack writes the files from an archive.
func unpack(from *os.File) error {
	for archive := tar.NewReader(from); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(h.Name, 0o755)
		case tar.TypeSymlink:
			err = os.Symlink(h.Linkname, h.Name)
		default:
			err = unpackFile(h, from)
		}
		if err != nil {
			return err
		}
	}
}

// unpackFile writes the file with contents at the current archive position, and does not
// move that position. The kernel copies the contents: copies by a program take twice as
// long in emulation.
func unpackFile(h *tar.Header, from *os.File) error {
	f, err := os.OpenFile(h.Name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, h.FileInfo().Mode())
	if err != nil {
		return err
	}
	offset, err := from.Seek(0, io.SeekCurrent)
	for left := h.Size; left > 0 && err == nil; {
		var n int
		if n, err = unix.Sendfile(int(f.Fd()), int(from.Fd()), &offset, int(left)); n == 0 && err == nil {
			err = io.ErrUnexpectedEOF
		}
		left -= int64(n)
	}
	return errors.Join(err, f.Close())
}
