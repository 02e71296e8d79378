package sim

import (
	"fmt"
	"strings"
)

// fileReaders read the files that a description names, by the word before it.
var fileReaders = map[string]func(path string) (*Fabric, error){
	"net":  ReadNetFile,
	"topo": ReadTopologyFile,
}

// buildFile makes a fabric from "FILE", "FILE,sm=on" or "FILE,sm=off". A path may
// have commas in it.
func buildFile(read func(path string) (*Fabric, error), description string) (*Fabric, error) {
	path, unconfigured := strings.CutSuffix(description, ",sm=off")
	path = strings.TrimSuffix(path, ",sm=on")
	f, err := read(path)
	if err != nil || unconfigured {
		return f, err
	}
	if err := f.Configure(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}
