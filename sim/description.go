package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/internal/similar"
)

// Build makes a fabric from a description:
//
//   - the name of a preset, with parameters after a colon or a comma:
//     "demo", "fat-tree:levels=3,radix=40,pods=26", "demo,sm=off";
//   - the path of a file that [ReadFile] reads: "fabric.net", "topology,sm=updown";
//   - net:FILE, topo:FILE or json:FILE, to skip the recognition of the format.
//
// The fabric is configured: its links are active and routes are set. The parameters sm and
// root, which files accept as well, choose the subnet manager: sm=minhop uses shortest
// paths, sm=updown up/down routing, with the switches from root=ID as roots; sm=off leaves
// the fabric in the state before a subnet manager has run. vendor=on gives all nodes agents
// for NVIDIA's attributes ([Node.SetVendorAgent]), ar=on also turns on adaptive routing.
// options are further parameters, which override the description's parameters.
//
// A fabric from a JSON file in which a port has a LID keeps the state from the file; only
// routes, which the file does not contain, are added.
func Build(description string, options ...string) (*Fabric, error) {
	if prefix, path, ok := strings.Cut(description, ":"); ok {
		if format, ok := fileFormats[prefix]; ok {
			return buildFile(path, options, func(path string) (*Fabric, fileFormat, error) {
				f, err := readAs(path, format)
				return f, format, err
			})
		}
	}
	name, parameters := description, []string(nil)
	if i := strings.IndexAny(description, ":,"); i >= 0 {
		name, parameters = description[:i], strings.Split(description[i+1:], ",")
		if description[i] == ':' && parameters[0] == "" {
			parameters = parameters[1:] // "demo:" and "demo:,sm=off": the preset has no parameters
		}
	}
	if i := slices.IndexFunc(Presets, func(p Preset) bool { return p.Name == name }); i >= 0 {
		if err := checkParameters(parameters); err != nil {
			return nil, fmt.Errorf("build fabric %s: %w", name, err)
		}
		f, err := Presets[i].Build(strings.Join(append(parameters, options...), ","))
		if err != nil {
			return nil, fmt.Errorf("build fabric %s: %w", name, err)
		}
		return f, nil
	}
	if path, _ := cutOptions(description); !strings.ContainsRune(path, '/') {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(name); err == nil {
				name = path // a file name that does not end at the first comma
			}
			return nil, &unknownError{name}
		}
	}
	return buildFile(description, options, readAny)
}

// An unknownError reports a description that is neither a preset nor a file.
type unknownError struct{ name string }

func (e *unknownError) Error() string {
	return fmt.Sprintf("unknown fabric %q: not a file, and not one of %s", e.name, strings.Join(known(), ", "))
}

// Hint suggests a remedy.
func (e *unknownError) Hint() string { return similar.Hint(similar.To(e.name, known())) }

// known returns the presets and the file format prefixes.
func known() []string {
	var names []string
	for _, p := range Presets {
		names = append(names, p.Name)
	}
	for _, prefix := range slices.Sorted(maps.Keys(fileFormats)) {
		names = append(names, prefix+":FILE")
	}
	return names
}

// buildFile makes a fabric from "FILE" or "FILE,sm=off".
func buildFile(description string, more []string, read func(path string) (*Fabric, fileFormat, error)) (*Fabric, error) {
	path, options := cutOptions(description)
	if err := checkParameters(options); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var s setup
	for _, o := range append(options, more...) {
		name, value, _ := strings.Cut(o, "=")
		switch used, err := s.set(name, value); {
		case err != nil:
			return nil, err
		case !used:
			return nil, fmt.Errorf("unknown option %q of a file (known: %s)", o, strings.Join(setupNames, ", "))
		}
	}
	f, format, err := read(path)
	if err != nil {
		return nil, err
	}
	if err := s.apply(f, format.configure); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// checkParameters returns an error for empty and repeated parameters. Only roots can
// be repeated.
func checkParameters(parameters []string) error {
	given := map[string]bool{}
	for _, p := range parameters {
		name, _, ok := strings.Cut(p, "=")
		if p == "" {
			return errors.New("empty parameter: a comma separates NAME=VALUE from another")
		}
		if ok && given[name] && name != "root" {
			return fmt.Errorf("parameter %q is given twice", name)
		}
		given[name] = true
	}
	return nil
}

// cutOptions separates the options from a path, which may contain commas.
func cutOptions(description string) (path string, options []string) {
	for path = description; ; {
		i := strings.LastIndexByte(path, ',')
		if i < 0 || !slices.ContainsFunc(setupNames, func(name string) bool { return strings.HasPrefix(path[i+1:], name+"=") }) {
			slices.Reverse(options)
			return path, options
		}
		path, options = path[:i], append(options, path[i+1:])
	}
}
