package dmabuf

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A device is memory that only its own functions reach. Its dma-bufs are ordinary files.
type device struct {
	fault  error // of allocations
	lock   sync.Mutex
	memory []byte
	closed int
}

// with accesses the memory.
func (d *device) with(f func(memory []byte)) {
	d.lock.Lock()
	defer d.lock.Unlock()
	f(d.memory)
}

func (*device) Name() string { return "GPU 0 (test)" }

func (d *device) Allocate(size int) (Memory, error) {
	d.with(func([]byte) { d.memory = make([]byte, size) })
	return d, d.fault
}

func (d *device) Export() (*os.File, error) { return sharedMemory(len(d.memory)) }

func (d *device) Read(to []byte, at int) error {
	d.with(func(memory []byte) { copy(to, memory[at:]) })
	return nil
}

func (d *device) Write(at int, from []byte) error {
	d.with(func(memory []byte) { copy(memory[at:], from) })
	return nil
}

func (d *device) Close() error {
	d.closed++
	return nil
}

// TestMain serves a client of Start if DMABUF_TEST is set.
func TestMain(m *testing.M) {
	switch os.Getenv("DMABUF_TEST") {
	case "serve":
		conn, err := net.FileConn(os.Stdin)
		if err == nil {
			err = Serve(conn.(*net.UnixConn), &device{}, nil)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "fail":
		fmt.Fprintln(os.Stderr, "no driver")
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// pair returns the ends of a connection.
func pair(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*net.UnixConn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "socket")
		conn, err := net.FileConn(f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		ends[i] = conn.(*net.UnixConn)
		t.Cleanup(func() { conn.Close() })
	}
	return ends[0], ends[1]
}

// connect returns the client of a device, and the error of Serve once the client has ended.
func connect(t *testing.T, d Device) (*Client, <-chan error) {
	t.Helper()
	ours, theirs := pair(t)
	ended := make(chan error, 1)
	go func() { ended <- Serve(theirs, d, nil) }()
	c, err := (&Client{conn: ours}).greet()
	if err != nil {
		t.Fatal(err)
	}
	return c, ended
}

func TestClient(t *testing.T) {
	d := &device{}
	c, ended := connect(t, d)
	b, err := c.New(5000)
	if err != nil {
		t.Fatal(err)
	}
	d.with(func(memory []byte) {
		if want := wholePages(5000); len(b.Bytes) != want || len(memory) != want || c.Device != "GPU 0 (test)" {
			t.Errorf("got %d bytes for %d of %s, want %d of GPU 0 (test)", len(b.Bytes), len(memory), c.Device, want)
		}
	})
	copy(b.Bytes, "not copied, copied, not copied")
	if err := b.End(12, 6); err != nil {
		t.Fatal(err)
	}
	d.with(func(memory []byte) {
		if want := append(make([]byte, 12), "copied"...); !bytes.HasPrefix(memory, want) || memory[18] != 0 {
			t.Errorf("got device memory %q, want %q", memory[:20], want)
		}
		copy(memory[4096:], "written")
	})
	if err := b.Begin(4096, 5); err != nil {
		t.Fatal(err)
	}
	if got := string(b.Bytes[4096:4104]); got != "writt\x00\x00\x00" {
		t.Errorf("got copy %q, want writt", got)
	}
	want := fmt.Sprintf("2 bytes at %d: the buffer has %d bytes", len(b.Bytes)-1, len(b.Bytes))
	if err := b.Begin(len(b.Bytes)-1, 2); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("copy past the end: got error %v", err)
	}
	if err := errors.Join(b.Close(), c.Close(), <-ended); err != nil || d.closed != 1 {
		t.Errorf("got error %v, memory released %d times, want 1", err, d.closed)
	}
}

func TestClient_Errors(t *testing.T) {
	d := &device{fault: errors.New("out of memory")}
	c, ended := connect(t, d)
	if _, err := c.New(4096); err == nil || err.Error() != fmt.Sprintf("allocate %d bytes on GPU 0 (test): out of memory", wholePages(1)) {
		t.Errorf("got error %v, want out of memory", err)
	}
	if err := c.copy(opRead, 1, 0, 1); err == nil || !strings.Contains(err.Error(), "no buffer 1") {
		t.Errorf("buffer that does not exist: got error %v", err)
	}
	if _, err := c.New(0); err == nil || !strings.Contains(err.Error(), "want at least 1") {
		t.Errorf("no memory: got error %v", err)
	}
	if err := errors.Join(c.Close(), <-ended); err != nil {
		t.Error(err)
	}
	if _, err := c.New(4096); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: got error %v, want %v", err, net.ErrClosed)
	}
}

// Answers that violate the protocol are errors, and leave no file open.
func TestClient_Replies(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, test := range []struct {
		name  string
		reply any
		files []*os.File
		want  string
	}{
		{"no file", reply{}, nil, "no dma-buf"},
		{"one file", reply{}, []*os.File{file}, "got 1 files, want 2"},
		{"many files", reply{}, []*os.File{file, file, file, file}, "too long"},
		{"no memory to map", reply{}, []*os.File{file, file}, "map dma-buf"},
		{"not a reply", "text", nil, "cannot unmarshal string"},
		{"long", reply{Error: strings.Repeat("x", maxMessage)}, nil, "too long"},
		{"error with control characters", reply{Error: "a\x1b[2Jb"}, nil, `a`},
	} {
		t.Run(test.name, func(t *testing.T) {
			ours, theirs := pair(t)
			c := &Client{conn: ours, Device: "test", limit: replyTime}
			if err := send(theirs, test.reply, test.files...); err != nil {
				t.Fatal(err)
			}
			_, err := c.New(4096)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("got error %v, want %s", err, test.want)
			}
		})
	}
	t.Run("end", func(t *testing.T) {
		ours, theirs := pair(t)
		c := &Client{conn: ours, limit: replyTime}
		err := send(ours, request{}) // not received
		theirs.Close()
		if _, _, reset := c.next(0); err != nil || !errors.Is(reset, errEnded) {
			t.Errorf("reply: got errors %v, %v, want %v", err, reset, errEnded)
		}
		if err := c.copy(opRead, 0, 0, 1); !errors.Is(err, errEnded) {
			t.Errorf("request: got error %v, want %v", err, errEnded)
		}
		if _, err := c.greet(); !errors.Is(err, errEnded) {
			t.Errorf("got error %v, want %v", err, errEnded)
		}
	})
}

// Requests that violate the protocol end the connection, or are refused.
func TestServe(t *testing.T) {
	t.Run("device that is not usable", func(t *testing.T) {
		ours, theirs := pair(t)
		if err := Serve(theirs, nil, errors.New("no driver")); err != nil {
			t.Error(err)
		}
		if _, err := (&Client{conn: ours}).greet(); err == nil || err.Error() != "no driver" {
			t.Errorf("got error %v, want no driver", err)
		}
	})
	t.Run("unknown operation", func(t *testing.T) {
		c, _ := connect(t, &device{})
		if _, err := c.New(1); err != nil {
			t.Fatal(err)
		}
		if err := c.copy("format", 0, 0, 1); err == nil || !strings.Contains(err.Error(), `unknown operation "format"`) {
			t.Errorf("got error %v", err)
		}
	})
	t.Run("not a request", func(t *testing.T) {
		c, ended := connect(t, &device{})
		if err := send(c.conn, "text"); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err == nil {
			t.Error("got no error")
		}
	})
}

func TestStart(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("program", func(t *testing.T) {
		t.Setenv("DMABUF_TEST", "serve")
		c, err := Start(program)
		if err != nil {
			t.Fatal(err)
		}
		pid := c.program.Process.Pid
		if group, err := unix.Getpgid(pid); err != nil || group != pid {
			t.Errorf("got process group %d, %v, want its own, %d", group, err, pid)
		}
		b, err := c.New(1)
		if err == nil {
			err = errors.Join(b.End(0, 1), b.Close())
		}
		if err := errors.Join(err, c.Close()); err != nil {
			t.Error(err)
		}
	})
	for _, request := range []bool{true, false} {
		t.Run(fmt.Sprintf("stopped program, request %v", request), func(t *testing.T) {
			t.Setenv("DMABUF_TEST", "serve")
			c, err := Start(program)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.program.Process.Signal(unix.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			c.limit = 0 // it never replies
			if request {
				if _, err := c.New(1); err == nil || !strings.HasSuffix(err.Error(), "on GPU 0 (test): no reply within 0s") {
					t.Errorf("got error %v, want no reply", err)
				}
			}
			if err := c.Close(); err == nil || !strings.HasPrefix(err.Error(), program+": signal: killed") {
				t.Errorf("got error %v, want the program killed", err)
			}
		})
	}
	t.Run("program that fails", func(t *testing.T) {
		t.Setenv("DMABUF_TEST", "fail")
		if _, err := Start(program); err == nil || !strings.Contains(err.Error(), "exit status 3: no driver") {
			t.Errorf("got error %v, want exit status 3", err)
		}
	})
	t.Run("no program", func(t *testing.T) {
		if _, err := Start(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got error %v, want %v", err, fs.ErrNotExist)
		}
	})
}

func TestDial(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gpu")
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ended := make(chan error, 1)
	go func() {
		conn, err := l.AcceptUnix()
		if err == nil {
			err = Serve(conn, &device{}, nil)
		}
		ended <- err
	}()
	c, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), <-ended); err != nil {
		t.Error(err)
	}
}

// The drivers are missing here; test/guest has them.
func TestNew(t *testing.T) {
	for _, driver := range []string{"/dev/none", "/dev/dri/none"} {
		if _, err := New(driver, 1); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "create dma-buf of ") {
			t.Errorf("%s: got error %v, want %v", driver, err, fs.ErrNotExist)
		}
	}
	if _, err := New(os.DevNull, 1); !errors.Is(err, unix.ENOTTY) {
		t.Errorf("another driver: got error %v, want %v", err, unix.ENOTTY)
	}
}
