package changelog

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/internal/testenv"
)

// The system log gets a datagram for each record, with facility daemon and priority notice.
func TestOpen_System(t *testing.T) {
	address := filepath.Join(t.TempDir(), "log")
	server, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	l, err := open(&cmdutil.Env{ErrOut: io.Discard}, "", systemLog{"unixgram", address})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Begin(slog.String("name", "leaf 1")); err != nil {
		t.Fatal(err)
	}
	if err := l.End(outcome.NoReply, errors.New("no reply"), slog.Int("port", 3)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`^<29>\w+ +\d+ [\d:]+ ibkit\[\d+\]: time=\S+ msg=begin user=\S+ login=\S+ name="leaf 1"\n$`,
		`^<29>\w+ +\d+ [\d:]+ ibkit\[\d+\]: time=\S+ msg=end user=\S+ login=\S+ port=3 result=\S.* error="no reply"\n$`,
	} {
		if err := server.SetReadDeadline(time.Now().Add(testenv.WaitLimit)); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 4096)
		n, err := server.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(want).Match(b[:n]) {
			t.Errorf("got %q, want %s", b[:n], want)
		}
	}
}

func TestOpen_NoSystem(t *testing.T) {
	_, err := open(&cmdutil.Env{}, "", systemLog{"unixgram", "/nonexistent/log"})
	if err == nil || !strings.HasPrefix(err.Error(), "open system log: ") || !strings.Contains(cmdutil.Hint(err), "--log FILE") {
		t.Errorf("got error %v with hint %q", err, cmdutil.Hint(err))
	}
}

// A simulated fabric has a log only if a file is given.
func TestOpen_Simulated(t *testing.T) {
	l, err := Open(&cmdutil.Env{}, "", true)
	if l != nil || err != nil || l.Begin() != nil || l.Close() != nil {
		t.Errorf("got %v, %v, want no log", l, err)
	}
	path := filepath.Join(t.TempDir(), "log")
	for range 2 { // the file is continued
		if l, err = Open(&cmdutil.Env{}, path, true); err != nil {
			t.Fatal(err)
		}
		if err := l.Begin(slog.String("name", "leaf1")); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || strings.Count(string(text), "name=leaf1\n") != 2 {
		t.Errorf("got %q, %v, want two lines", text, err)
	}
}

// The error of a write is returned.
func TestLog_WriteError(t *testing.T) {
	l, err := Open(&cmdutil.Env{}, "/dev/full", true)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Begin(); err == nil {
		t.Error("got no error for a full device")
	}
}
