// Package memory has the sources of test memory: the host, dma-bufs and GPUs.
package memory

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// A Source allocates test memory. The zero value is memory of the host.
type Source struct {
	kind string // "", dmaBuf or cuda
	at   string // path, or GPU
}

// Kinds of sources other than the host.
const (
	dmaBuf = "dmabuf"
	cuda   = "cuda"
)

var errSource = errors.New("want host, cuda:N, or dmabuf:PATH")

var pciAddress = regexp.MustCompile(`^([0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$`)

// Parse parses "host", "cuda:N" with the number or the PCI address of a GPU, and
// "dmabuf:PATH" with the path of a driver that exports dma-bufs (/dev/udmabuf, or below
// /dev/dri), or of a Unix socket where a program passes them.
func Parse(text string) (Source, error) {
	kind, at, _ := strings.Cut(text, ":")
	switch {
	case text == "host":
		return Source{}, nil
	case kind == dmaBuf && strings.HasPrefix(at, "/"):
		return Source{kind, at}, nil
	case kind == cuda && (pciAddress.MatchString(at) || isNumber(at)):
		return Source{kind, at}, nil
	}
	return Source{}, errSource
}

func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// IsHost reports whether the source is memory of the host.
func (s Source) IsHost() bool { return s == Source{} }

// String returns the text that Parse accepts.
func (s Source) String() string {
	if s.IsHost() {
		return "host"
	}
	return s.kind + ":" + s.at
}
