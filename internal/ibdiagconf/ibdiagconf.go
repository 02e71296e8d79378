// Package ibdiagconf reads ibdiag.conf, the file of defaults that the tools of
// infiniband-diags share.
package ibdiagconf

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// DefaultPath is where Debian's and most other builds of infiniband-diags look.
const DefaultPath = "/etc/infiniband-diags/ibdiag.conf"

// A Config has the settings of a file. Settings that it does not make keep the
// value that they had before.
type Config struct {
	Device  string
	Port    uint8         // 0: any
	Timeout time.Duration // 0: the default
	MKey    uint64

	NoExtendedPortInfo bool // MLX_EPI=false
}

// ReadFile reads a file into c. A file that is not there changes nothing where
// optional is set.
func (c *Config) ReadFile(path string, optional bool) error {
	f, err := os.Open(path)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read config: %w", err)
	}
	defer f.Close()
	return c.Read(f, path)
}

// Read reads lines KEY=VALUE; name is the file's, for errors. Blank lines and
// those that begin with # say nothing.
func (c *Config) Read(r io.Reader, name string) error {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		err := errors.New("expected KEY=VALUE")
		if ok {
			err = c.set(strings.TrimSpace(key), strings.TrimSpace(value))
		}
		if err != nil {
			return fmt.Errorf("read config: %s:%d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read config: %s: %w", name, err)
	}
	return nil
}

func (c *Config) set(key, value string) (err error) {
	switch key {
	case "CA":
		c.Device = value
	case "Port":
		var n uint64
		n, err = strconv.ParseUint(value, 0, 8)
		c.Port = uint8(n)
	case "timeout":
		var ms uint64
		ms, err = strconv.ParseUint(value, 0, 31)
		c.Timeout = time.Duration(ms) * time.Millisecond
	case "MLX_EPI":
		var on bool
		on, err = strconv.ParseBool(value)
		c.NoExtendedPortInfo = !on
	case "m_key":
		c.MKey, err = strconv.ParseUint(value, 0, 64)
	case "sa_key", "nd_format":
		// For saquery and the node description daemon: no concern of ours.
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	if err != nil {
		return fmt.Errorf("%s: %q is not a valid value", key, value)
	}
	return nil
}
