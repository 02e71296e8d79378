// Package testenv makes what tests of several packages stand on. Only tests
// import it.
package testenv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/tools/txtar"
)

// WriteTree writes files, by their names below a new folder, and returns the
// folder. Each text gets a line end, as the kernel's files have one. A name
// "a -> b" is a symbolic link.
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

// UnpackTree writes the files of a txtar archive, such as a host's sysfs, below a
// new folder, and returns the folder. A name "a -> b" is a symbolic link.
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

// SocketPair returns two connected sockets that keep messages apart and do not
// block.
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
