package fabricflag

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// Reload has the current content of files, and of input that cannot be read again.
func TestSettings_Reload(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	env := &cmdutil.Env{Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}, Getenv: func(string) string { return "" }}
	s := Settings{Sim: "demo", ConfigFile: write("conf", "timeout=10\n"), MKey: "@" + write("key", "1"), NameMap: write("names", "0x1 one\n"), Verbose: 1}
	if err := s.Complete(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	before := s.Client(env)
	write("conf", "timeout=20\n")
	write("key", "2")
	next, err := s.Reload(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	after := next.Client(env)
	if before.MKey != 1 || after.MKey != 2 || before.Timeout != 10*time.Millisecond || after.Timeout != 20*time.Millisecond {
		t.Errorf("got M_Keys %d and %d, timeouts %v and %v, want 1 and 2, 10ms and 20ms", before.MKey, after.MKey, before.Timeout, after.Timeout)
	}
	if next.simulated != s.simulated || next.counter != s.counter {
		t.Error("got another simulated fabric or another count of packets")
	}

	for name, want := range map[string]string{"conf": "read config: ", "key": "invalid M_Key: "} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			defer write(name, string(text))
			write(name, "invalid")
			if _, err := next.Reload(t.Context(), env); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want %s", err, want)
			}
		})
	}
}

// A key from a prompt stays.
func TestSettings_ReloadPrompt(t *testing.T) {
	env := &cmdutil.Env{Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}, Getenv: func(string) string { return "" }}
	s := Settings{Sim: Ibsim, MKey: "-", mkey: 7}
	given := s
	s.given = &given
	next, err := s.Reload(t.Context(), env)
	if err != nil || next.mkey != 7 {
		t.Errorf("got M_Key %d and error %v, want 7", next.mkey, err)
	}
}
