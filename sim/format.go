package sim

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/netfile"
)

// ErrCache is wrapped by the error that [ReadFile] returns for a binary scan cache, as
// ibnetdiscover --cache writes it.
var ErrCache = errors.New("a cache of a scan")

// A fileFormat is a fabric file format.
type fileFormat struct {
	parse func(r io.Reader, name string) (*Fabric, error)

	// configure runs the fabric's own subnet manager.
	configure func(*Fabric) error
}

// fileFormats are the file formats by prefix in descriptions.
var fileFormats = map[string]fileFormat{
	"net":  {parseNetFile, (*Fabric).Configure},
	"topo": {ParseTopology, (*Fabric).reconfigure},
	"json": {ParseJSON, (*Fabric).resume},
}

// ReadFile reads an ibsim net file ([ParseNet]), or output from ibnetdiscover
// ([ParseTopology]) or ibkit linkinfo --json --attributes ([ParseJSON]). It recognises the
// format by the content. A net file may include others; as in ibsim, their paths are
// relative to the working directory.
func ReadFile(path string) (*Fabric, error) {
	f, _, err := readAny(path)
	return f, err
}

func readAny(path string) (*Fabric, fileFormat, error) {
	file, err := interrupt.Open(path)
	if err != nil {
		return nil, fileFormat{}, fmt.Errorf("read fabric: %w", err)
	}
	defer file.Close()
	format, content, err := detect(file, path)
	if err != nil {
		return nil, format, fmt.Errorf("read fabric: %w", err)
	}
	f, err := format.parse(content, path)
	return f, format, err
}

func readAs(path string, format fileFormat) (*Fabric, error) {
	if path == "" {
		return nil, errors.New("read fabric: no file name after the format")
	}
	file, err := interrupt.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read fabric: %w", err)
	}
	defer file.Close()
	return format.parse(file, path)
}

// detectSize is the number of bytes at the file start that must show the format. Comments
// at the start may not be longer.
const detectSize = 1 << 16

// detect returns a file's format, and the whole content to be parsed.
func detect(r io.Reader, name string) (fileFormat, io.Reader, error) {
	in := bufio.NewReaderSize(r, detectSize)
	start, err := in.Peek(detectSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return fileFormat{}, nil, err
	}
	text := bytes.TrimLeft(start, " \t\r\n")
	switch {
	case len(text) == 0:
		return fileFormat{}, nil, fmt.Errorf("%s: the file is empty", name)
	case isCache(start):
		return fileFormat{}, nil, fmt.Errorf("%s: %w, not a fabric file", name, ErrCache)
	case text[0] == '{':
		return fileFormats["json"], in, nil
	}
	if err := netfile.CheckText(start, name); err != nil {
		return fileFormat{}, nil, err
	}
	whole, err := io.ReadAll(in)
	if err != nil {
		return fileFormat{}, nil, err
	}
	if netfile.IsTopology(whole) {
		return fileFormats["topo"], bytes.NewReader(whole), nil
	}
	return fileFormats["net"], bytes.NewReader(whole), nil
}

// isCache reports whether a file starts with the magic number in libibnetdisc caches, in
// either byte order.
func isCache(start []byte) bool {
	return bytes.HasPrefix(start, []byte{0x8f, 0xe7, 0x83, 0x2b}) || bytes.HasPrefix(start, []byte{0x2b, 0x83, 0xe7, 0x8f})
}
