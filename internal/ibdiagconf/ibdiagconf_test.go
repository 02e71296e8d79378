package ibdiagconf

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	const text = `# a comment
CA=mlx5_1

Port=2
  timeout = 0x1d4c0
MLX_EPI=false
m_key=0xdeadbeef
sa_key=0x1
nd_format=%h %d
`
	var c Config
	if err := c.Read(strings.NewReader(text), "test"); err != nil {
		t.Fatal(err)
	}
	want := Config{Device: "mlx5_1", Port: 2, Timeout: 2 * time.Minute, MKey: 0xdeadbeef, SAKey: 1, NoExtendedPortInfo: true}
	if c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
}

func TestRead_Invalid(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"CA", "f:1: want KEY=VALUE"},
		{"\n#\nPort=300", `f:3: Port: "300" is not an unsigned 8-bit number`},
		{"timeout=-1", `f:1: timeout: "-1" is not an unsigned 31-bit number`},
		{"m_key=secret", "f:1: m_key"},
		{"CAs=mlx5_0", `f:1: unknown key "CAs"`},
		{"CA=" + strings.Repeat("x", 1<<17), "f:1: line longer than 65536 bytes"},
	} {
		t.Run(test.want, func(t *testing.T) {
			var c Config
			err := c.Read(strings.NewReader(test.text), "f")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%.20q: got error %v, want one with %q", test.text, err, test.want)
			}
		})
	}
	// Valid lines apply, and invalid lines are counted.
	var c Config
	err := c.Read(strings.NewReader("Port=x\nCA=mlx5_1\nnosuch=1\ntimeout=60000"), "f")
	if want := (Config{Device: "mlx5_1", Timeout: time.Minute}); c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
	if want := `read config: f:1: Port: "x" is not an unsigned 8-bit number; 2 lines are invalid`; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestRead_ExtendedPortInfo(t *testing.T) {
	for value, off := range map[string]bool{"true": false, "TRUE": false, "false": true, "no": true, "1": true} {
		t.Run(value, func(t *testing.T) {
			c := Config{NoExtendedPortInfo: !off}
			if err := c.Read(strings.NewReader("MLX_EPI="+value), "f"); err != nil || c.NoExtendedPortInfo != off {
				t.Errorf("got %+v, error %v, want NoExtendedPortInfo %v", c, err, off)
			}
		})
	}
}

func TestReadFile(t *testing.T) {
	var c Config
	missing := filepath.Join(t.TempDir(), "missing")
	if err := c.ReadFile(missing, true); err != nil {
		t.Errorf("optional file: got error %v, want nil", err)
	}
	if err := c.ReadFile(missing, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v, want %v", err, fs.ErrNotExist)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("CA=mlx5_0\nPort=1\n# x\n\ntimeout=50\n")
	f.Add("=\n==\nPort")
	f.Add("m_key=0x\x00")
	f.Fuzz(func(_ *testing.T, text string) {
		var c Config
		_ = c.Read(strings.NewReader(text), "fuzz")
	})
}
