// Package sysfs reads what the kernel shows of RDMA devices below
// /sys/class/infiniband and its neighbours. The root is a value, so that tests
// read a tree of their own.
package sysfs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// An FS is a mounted sysfs by its root.
type FS string

// Default is where sysfs is mounted.
const Default FS = "/sys"

func (fs FS) path(elements ...string) string {
	return filepath.Join(append([]string{string(fs)}, elements...)...)
}

// read returns a file's text without the line end.
func (fs FS) read(elements ...string) (string, error) {
	b, err := os.ReadFile(fs.path(elements...))
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(b)), nil
}

// readUint returns the number that a file begins with, in the base that its
// prefix says.
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

// parseUint reads the number that a text begins with: "4: ACTIVE", "0x1f".
func parseUint(text string, bits int) (uint64, error) {
	word, _, _ := strings.Cut(text, ":")
	n, err := strconv.ParseUint(strings.TrimSpace(word), 0, bits)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number of %d bits", text, bits)
	}
	return n, nil
}

// list returns the names in a folder that begin with a prefix and end in a
// number, in the order of the numbers.
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
