// Package ibdiagconf reads ibdiag.conf, the infiniband-diags configuration file.
package ibdiagconf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/textfile"
)

// DefaultPath is the path that most infiniband-diags builds read.
const DefaultPath = "/etc/infiniband-diags/ibdiag.conf"

// A Config holds the settings from a file. Read does not change settings that the file
// does not contain.
type Config struct {
	Device  string
	Port    uint8         // 0 for any port
	Timeout time.Duration // 0 for the default
	MKey    uint64
	SAKey   uint64 // SM_Key in requests to subnet administration

	NoExtendedPortInfo bool // MLX_EPI is not true
}

// ReadFile reads a file into c. If optional is set, a missing file is not an error.
// ReadFile returns errors from opening the file and from Read.
func (c *Config) ReadFile(path string, optional bool) error {
	f, err := interrupt.Open(path)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read config: %w", err)
	}
	defer f.Close()
	return c.Read(f, path)
}

// Read reads KEY=VALUE lines. It ignores blank lines and lines that start with #. Errors
// contain the file name. An invalid line is an error, but Read applies all other lines, so
// that a caller can continue with a warning. The error describes the first invalid line,
// with the invalid line count.
func (c *Config) Read(r io.Reader, name string) error {
	lines := textfile.NewReader(r, name)
	for lines.Next() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		err := errors.New("want KEY=VALUE")
		if ok {
			err = c.set(strings.TrimSpace(key), strings.TrimSpace(value))
		}
		if err != nil {
			lines.Reject(err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read config: %w", err)
	}
	return nil
}

func (c *Config) set(key, value string) error {
	switch key {
	case "CA":
		c.Device = value
	case "Port":
		return setUint(8, key, value, func(n uint64) { c.Port = uint8(n) })
	case "timeout":
		return setUint(31, key, value, func(ms uint64) { c.Timeout = time.Duration(ms) * time.Millisecond })
	case "MLX_EPI":
		// infiniband-diags treats all other values as false.
		c.NoExtendedPortInfo = !strings.HasPrefix(value, "true") && !strings.HasPrefix(value, "TRUE")
	case "m_key":
		return setUint(64, key, value, func(n uint64) { c.MKey = n })
	case "sa_key":
		return setUint(64, key, value, func(n uint64) { c.SAKey = n })
	case "nd_format": // for rdma-ndd
	default:
		return fmt.Errorf("unknown key %s", textfile.Quote(key))
	}
	return nil
}

func setUint(bits int, key, value string, set func(uint64)) error {
	n, err := strconv.ParseUint(value, 0, bits)
	if err != nil {
		return fmt.Errorf("%s: %s is not an unsigned %d-bit number", key, textfile.Quote(value), bits)
	}
	set(n)
	return nil
}
