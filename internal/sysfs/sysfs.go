// Package sysfs reads RDMA device attributes from /sys/class/infiniband and related
// classes. The sysfs mount point is a value, so that tests and copies from other hosts can
// use another directory.
package sysfs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// An FS is the sysfs mount point.
type FS string

// Default is the usual mount point.
const Default FS = "/sys"

func (fs FS) path(elements ...string) string {
	return filepath.Join(append([]string{string(fs)}, elements...)...)
}

// read returns the file contents without leading and trailing white space.
func (fs FS) read(elements ...string) (string, error) {
	b, err := os.ReadFile(fs.path(elements...))
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(b)), nil
}

// readUint returns the number at a file's start. The number's prefix determines the base.
func (fs FS) readUint(bits int, elements ...string) (uint64, error) {
	text, err := fs.read(elements...)
	if err != nil {
		return 0, err
	}
	n, err := parseUint(text, bits)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", fs.path(elements...), err)
	}
	return n, nil
}

// parseUint parses the number at the start of a text like "4: ACTIVE" or "0x1f".
func parseUint(text string, bits int) (uint64, error) {
	word, _, _ := strings.Cut(text, ":")
	n, err := strconv.ParseUint(strings.TrimSpace(word), 0, bits)
	if err != nil {
		return 0, fmt.Errorf("%q is not an unsigned %d-bit number", text, bits)
	}
	return n, nil
}

// parseInt parses a decimal number.
func parseInt(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return n, nil
}

// list returns the names in a directory that comprise a prefix and a number,
// sorted by number.
func (fs FS) list(prefix string, elements ...string) ([]string, error) {
	entries, err := os.ReadDir(fs.path(elements...))
	if err != nil {
		return nil, err
	}
	number := func(name string) int {
		n, err := strconv.Atoi(strings.TrimPrefix(name, prefix))
		if err != nil {
			return -1
		}
		return n
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && number(e.Name()) >= 0 {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return number(a) - number(b) })
	return names, nil
}
