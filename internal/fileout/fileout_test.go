package fileout

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// put writes text to path and fails the test on an error.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := Write(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
	}
}

// checkOnly checks that a directory has no other files, in particular no temporary files.
func checkOnly(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s: got files %v, want %v", dir, got, want)
	}
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Ino
}

func TestWrite_RegularFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	put(t, path, "one")
	check(t, path, "one")

	before := inode(t, path)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, path, "two")
	check(t, path, "two")
	if inode(t, path) == before {
		t.Error("got the same file, want one that replaces it")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
	checkOnly(t, dir, "file")
}

// TestWrite_Umask checks a new file's mode.
func TestWrite_Umask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("got mode %v, %v, want 0640", info.Mode(), err)
	}
}

func TestWrite_Owner(t *testing.T) {
	uid, gid := 12345, 54321
	if os.Getuid() != 0 {
		uid, gid = os.Getuid(), os.Getgid() // only root can change owners
	}
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "one")
	if err := os.Chown(path, uid, gid); err != nil {
		t.Fatal(err)
	}
	put(t, path, "two")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); int(s.Uid) != uid || int(s.Gid) != gid {
		t.Errorf("got owner %d:%d, want %d:%d", s.Uid, s.Gid, uid, gid)
	}
}

func TestWrite_KeepsFormerContentOnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	put(t, path, "one")
	failed := errors.New("no data")
	if err := Write(path, func(w io.Writer) error { _, _ = io.WriteString(w, "two"); return failed }); !errors.Is(err, failed) {
		t.Errorf("got error %v, want %v", err, failed)
	}
	check(t, path, "one")

	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(f, "two")
	f.Abort()
	check(t, path, "one")

	if f, err = Create(filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	checkOnly(t, dir, "file")
}

func TestWrite_SymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o777); err != nil {
		t.Fatal(err)
	}
	target, first, second := filepath.Join(sub, "target"), filepath.Join(dir, "first"), filepath.Join(dir, "second")
	for link, text := range map[string]string{first: "second", second: "sub/target"} {
		if err := os.Symlink(text, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"created through the links", "replaced"} {
		put(t, first, text)
		check(t, target, text)
	}
	for _, link := range []string{first, second} {
		if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
			t.Errorf("%s: got %v, %v, want a symbolic link", link, info.Mode(), err)
		}
	}
	checkOnly(t, dir, "first", "second", "sub")
	checkOnly(t, sub, "target")

	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(loop); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("loop: got error %v, want %v", err, syscall.ELOOP)
	}
}

// TestWrite_HardLink checks that all a file's names show the new content.
func TestWrite_HardLink(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	put(t, a, "a long text")
	if err := os.Link(a, b); err != nil {
		t.Fatal(err)
	}
	put(t, a, "new")
	check(t, a, "new")
	check(t, b, "new")
	checkOnly(t, dir, "a", "b")
}

func TestWrite_FIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	text := make(chan string)
	go func() {
		b, _ := os.ReadFile(path)
		text <- string(b)
	}()
	put(t, path, "through")
	if got := <-text; got != "through" {
		t.Errorf("got %q, want %q", got, "through")
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Errorf("got %v, %v, want a FIFO", info.Mode(), err)
	}
}

func TestWrite_Devices(t *testing.T) {
	err := Write("/dev/full", func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err })
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != "write /dev/full: no space left on device" {
		t.Errorf("/dev/full: got error %v, want %v", err, syscall.ENOSPC)
	}
	put(t, "/dev/null", "text")
	for _, device := range []string{"/dev/full", "/dev/null"} {
		if info, err := os.Lstat(device); err != nil || info.Mode()&fs.ModeCharDevice == 0 {
			t.Errorf("%s: got %v, %v, want a device", device, info.Mode(), err)
		}
	}
}

// TestWrite_Descriptor writes to an open file by its descriptor's name, as to
// /dev/stdout.
func TestWrite_Descriptor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	put(t, path, "former")
	open, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(fmt.Sprintf("/proc/self/fd/%d", open.Fd()), link); err != nil {
		t.Fatal(err)
	}
	put(t, link, "new")
	if got, err := io.ReadAll(open); err != nil || string(got) != "new" {
		t.Errorf("got %q, %v through the descriptor, want %q", got, err, "new")
	}
	checkOnly(t, dir, "file", "link")
}

func TestCreate_Errors(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]error{
		filepath.Join(dir, "no", "file"): fs.ErrNotExist,
		dir:                              syscall.EISDIR,
	} {
		if _, err := Create(path); !errors.Is(err, want) || !strings.HasPrefix(err.Error(), "write "+path+": ") {
			t.Errorf("%s: got error %v, want %v", path, err, want)
		}
	}
}

// asNobody runs a function with an ordinary user's file permissions.
func asNobody(t *testing.T, f func()) {
	if os.Getuid() != 0 {
		f()
		return
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread and its permissions end with the goroutine
		if err := syscall.Setfsuid(65534); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}

// TestCreate_Permissions writes as a user who may write the file or the
// directory, but not both.
func TestCreate_Permissions(t *testing.T) {
	// A t.TempDir directory is below a directory that only the owner can enter.
	dir, err := os.MkdirTemp("", "fileout")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "file")
	for _, test := range []struct {
		name      string
		dir, file fs.FileMode
		want      string // content afterwards
		err       error
	}{
		{"read-only file", 0o777, 0o444, "former", fs.ErrPermission},
		{"read-only directory", 0o555, 0o666, "new", nil},
		{"file of another owner", 0o777, 0o666, "new", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := errors.Join(os.Chmod(dir, 0o755), os.RemoveAll(path), os.WriteFile(path, []byte("former"), 0o666), os.Chmod(path, test.file), os.Chmod(dir, test.dir)); err != nil {
				t.Fatal(err)
			}
			before := inode(t, path)
			asNobody(t, func() {
				err := Write(path, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err })
				if !errors.Is(err, test.err) {
					t.Errorf("got error %v, want %v", err, test.err)
				}
			})
			check(t, path, test.want)
			if os.Getuid() == 0 && inode(t, path) != before {
				t.Error("got another file with another owner, want the same")
			}
			checkOnly(t, dir, "file")
		})
	}
}

// Check reports the same errors as Create without a change.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	path, fifo := filepath.Join(dir, "file"), filepath.Join(dir, "fifo")
	if err := errors.Join(os.WriteFile(path, []byte("former"), 0o600), syscall.Mkfifo(fifo, 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		path: nil, fifo: nil, filepath.Join(dir, "new"): nil, "/dev/full": nil,
		dir: syscall.EISDIR, filepath.Join(dir, "no", "file"): fs.ErrNotExist,
	} {
		if err := Check(path); !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", path, err, want)
		}
	}
	check(t, path, "former")
	checkOnly(t, dir, "fifo", "file")
}

// TestWriteNew checks that a file with other content stays.
func TestWriteNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.csv")
	for _, c := range []struct {
		content, want string
		fails         bool
	}{
		{"edited", "edited", false},
		{"edited", "edited", false},
		{"new", "edited", true},
	} {
		err := WriteNew(path, []byte(c.content))
		if _, exists := errors.AsType[*ExistsError](err); exists != c.fails {
			t.Errorf("%s: got error %v, want failure %t", c.content, err, c.fails)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
			t.Errorf("%s: got content %q, %v, want %q", c.content, got, err, c.want)
		}
	}
	if err := WriteNew(os.DevNull, []byte("x")); err != nil {
		t.Errorf("device: %v", err)
	}
}
