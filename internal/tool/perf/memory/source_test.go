package memory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOpen(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	path := filepath.Join(t.TempDir(), "socket")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Close(fd))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		source string
		want   error
	}{
		{"host", nil},
		{"cuda:0", ErrHelper},
		{"dmabuf:" + path, unix.ECONNREFUSED}, // nobody listens
		{"dmabuf:/dev/none", nil},             // only an allocation shows it
	} {
		t.Run(test.source, func(t *testing.T) {
			s, err := Parse(test.source)
			if err != nil {
				t.Fatal(err)
			}
			p, err := s.Open(nil)
			if !errors.Is(err, test.want) {
				t.Fatalf("got error %v, want %v", err, test.want)
			}
			if err == nil && (!p.Addressable() || p.Close() != nil) {
				t.Errorf("got addressable %v, want true", p.Addressable())
			}
		})
	}
	missing := &Pool{source: Source{dmaBuf, "/dev/none"}}
	if _, err := missing.Register(nil, os.Getpagesize(), 0, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing driver: got error %v, want %v", err, fs.ErrNotExist)
	}
}

func TestParse(t *testing.T) {
	for _, text := range []string{"host", "cuda:0", "cuda:15", "cuda:0000:3b:00.0", "cuda:3B:00.1", "dmabuf:/dev/udmabuf", "dmabuf:/run/a:b"} {
		t.Run(text, func(t *testing.T) {
			if s, err := Parse(text); err != nil || s.String() != text || s.IsHost() != (text == "host") {
				t.Errorf("got %v, host %v, error %v", s, s.IsHost(), err)
			}
		})
	}
	for _, text := range []string{"", "Host", "host:1", "cuda", "cuda:", "cuda:-1", "cuda:70000", "cuda:3b:00", "dmabuf:", "dmabuf:socket", "rocm:0"} {
		t.Run("invalid "+text, func(t *testing.T) {
			if _, err := Parse(text); !errors.Is(err, errSource) {
				t.Errorf("got error %v, want %v", err, errSource)
			}
		})
	}
}
