package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Build makes a fabric from a description: a preset's name, or one with
// parameters such as "fat-tree:levels=3,radix=40,pods=26"; or net:FILE or
// topo:FILE for a file that [ReadNetFile] or [ReadTopologyFile] reads.
//
// The fabric is configured: its links are active and routes are set. More
// parameters say how, behind a file's name too: sm=updown takes ways that go up
// and then down, each root=ID naming a switch that up leads to; sm=off leaves
// the fabric as it was before a subnet manager ran. options are such parameters
// that count more than those in the description.
func Build(description string, options ...string) (*Fabric, error) {
	name, rest, _ := strings.Cut(description, ":")
	if read := fileReaders[name]; read != nil {
		return buildFile(read, rest, options)
	}
	i := slices.IndexFunc(Presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		var known []string
		for _, p := range Presets {
			known = append(known, p.Name)
		}
		known = append(known, slices.Sorted(maps.Keys(fileReaders))...)
		return nil, fmt.Errorf("no simulated fabric is called %q (known: %s)", name, strings.Join(known, ", "))
	}
	f, err := Presets[i].Build(strings.Join(append([]string{rest}, options...), ","))
	if err != nil {
		return nil, fmt.Errorf("build fabric %s: %w", name, err)
	}
	return f, nil
}

// fileReaders read the files that a description names, by the word before it.
var fileReaders = map[string]func(path string) (*Fabric, error){
	"net":  ReadNetFile,
	"topo": ReadTopologyFile,
}

// buildFile makes a fabric from "FILE" or "FILE,sm=off". A path may have commas
// in it, so that options are looked for at its end only.
func buildFile(read func(path string) (*Fabric, error), path string, options []string) (*Fabric, error) {
	for {
		i := strings.LastIndexByte(path, ',')
		if i < 0 || !strings.HasPrefix(path[i+1:], "sm=") && !strings.HasPrefix(path[i+1:], "root=") {
			break
		}
		options = slices.Insert(slices.Clone(options), 0, path[i+1:])
		path = path[:i]
	}
	var s setup
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		switch taken, err := s.take(name, value); {
		case err != nil:
			return nil, err
		case !taken:
			return nil, fmt.Errorf("no option %q for a file (known: sm, root)", o)
		}
	}
	f, err := read(path)
	if err != nil {
		return nil, err
	}
	if err := s.apply(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}
