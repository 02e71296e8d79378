package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Build makes a fabric from a description: a preset's name, or one with
// parameters such as "fat-tree:levels=3,radix=40,pods=26"; or net:FILE, topo:FILE
// or json:FILE for a file that [ReadNetFile], [ReadTopologyFile] or
// [ReadJSONFile] reads, the last without the word where it ends in .json.
//
// The fabric is configured: its links are active and routes are set. More
// parameters say how, behind a file's name too: sm=updown takes ways that go up
// and then down, each root=ID naming a switch that up leads to; sm=off leaves
// the fabric as it was before a subnet manager ran. options are such parameters
// that count more than those in the description.
//
// A fabric of a JSON file in which all ports have LIDs stays as it is in the
// file, but for its routes, which the file does not have.
func Build(description string, options ...string) (*Fabric, error) {
	name, rest, _ := strings.Cut(description, ":")
	if format, ok := formats[name]; ok {
		return format.build(rest, options)
	}
	if path, after := cutOptions(description); strings.HasSuffix(path, ".json") {
		return formats["json"].build(path, append(after, options...))
	}
	i := slices.IndexFunc(Presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		var known []string
		for _, p := range Presets {
			known = append(known, p.Name)
		}
		known = append(known, slices.Sorted(maps.Keys(formats))...)
		return nil, fmt.Errorf("no simulated fabric is called %q (known: %s)", name, strings.Join(known, ", "))
	}
	f, err := Presets[i].Build(strings.Join(append([]string{rest}, options...), ","))
	if err != nil {
		return nil, fmt.Errorf("build fabric %s: %w", name, err)
	}
	return f, nil
}

// A format is a form of file that a fabric is read from, and what a subnet
// manager does to one that has just been read.
type format struct {
	read      func(path string) (*Fabric, error)
	configure func(*Fabric) error
}

// formats are the forms of files by the word that stands before their names.
var formats = map[string]format{
	"net":  {ReadNetFile, (*Fabric).Configure},
	"topo": {ReadTopologyFile, (*Fabric).Configure},
	"json": {ReadJSONFile, (*Fabric).resume},
}

// build makes a fabric from "FILE" or "FILE,sm=off".
func (t format) build(description string, more []string) (*Fabric, error) {
	path, options := cutOptions(description)
	var s setup
	for _, o := range append(options, more...) {
		name, value, _ := strings.Cut(o, "=")
		switch taken, err := s.take(name, value); {
		case err != nil:
			return nil, err
		case !taken:
			return nil, fmt.Errorf("no option %q for a file (known: sm, root)", o)
		}
	}
	f, err := t.read(path)
	if err != nil {
		return nil, err
	}
	if err := s.apply(f, t.configure); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// cutOptions takes the options off a path, which may have commas in it.
func cutOptions(description string) (path string, options []string) {
	for path = description; ; {
		i := strings.LastIndexByte(path, ',')
		if i < 0 || !strings.HasPrefix(path[i+1:], "sm=") && !strings.HasPrefix(path[i+1:], "root=") {
			slices.Reverse(options)
			return path, options
		}
		path, options = path[:i], append(options, path[i+1:])
	}
}
