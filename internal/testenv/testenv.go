// Package testenv contains helpers for tests in several packages. Only tests import it.
package testenv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/tools/txtar"
)

// WriteTree writes files below a new directory and returns the directory. The keys are
// paths below it. A newline is appended to each text, as in kernel files. A key "a -> b"
// creates the symbolic link a to b.
func WriteTree(tb testing.TB, files map[string]string) string {
	tb.Helper()
	root := tb.TempDir()
	for name, text := range files {
		name, target, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(target, path)
		default:
			err = os.WriteFile(path, []byte(text+"\n"), 0o644)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return root
}

// UnpackTree writes the files from a txtar archive, for example a host's sysfs, below a new
// directory and returns the directory. A name "a -> b" creates the symbolic link a to b.
func UnpackTree(tb testing.TB, archive string) string {
	tb.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		tb.Fatal(err)
	}
	return unpack(tb, a)
}

func unpack(tb testing.TB, a *txtar.Archive) string {
	tb.Helper()
	root := tb.TempDir()
	for _, f := range a.Files {
		name, target, isLink := strings.Cut(f.Name, " -> ")
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err != nil {
			tb.Fatal(err)
		}
		if isLink {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, f.Data, 0o644)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return root
}

// SocketPair returns two connected, non-blocking sockets that preserve message
// boundaries.
func SocketPair(tb testing.TB) (a, b *os.File) {
	tb.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	a, b = os.NewFile(uintptr(fds[0]), "a"), os.NewFile(uintptr(fds[1]), "b")
	tb.Cleanup(func() {
		a.Close()
		b.Close()
	})
	return a, b
}
