package cc

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/ranges"
	"github.com/ibkit/ibkit/internal/textfile"
)

// Settings are new setting values for a fabric's nodes.
type Settings struct{ sections []*section }

// A section is values for the nodes that match its patterns.
type section struct {
	*kind
	line   int      // line number for its head in the file
	nodes  []string // name or GUID patterns; nil: all
	ranges [][2]uint8

	given map[string]string // values by key name
	set   []setter
}

// maxValue is the maximum length in bytes for a line together with its continuation lines.
const maxValue = 1 << 20

// ReadSettingsFile reads a settings file. Its errors come from opening the file and from
// [ReadSettings].
func ReadSettingsFile(path string) (*Settings, error) {
	f, err := interrupt.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	defer f.Close()
	return ReadSettings(f, path)
}

// ReadSettings reads a settings file. Sections begin with [switch], [port], [adapter] or
// [sl] and have lines KEY = VALUE. The key node selects nodes by name or GUID patterns
// (default: all), ports and sls select ports and service levels (default: all). The other
// keys are settings; settings without a key keep their values. Later sections override
// earlier sections. A line that ends with a comma continues in the next line. Empty lines
// and text after # are ignored. name is used in errors, which have type [*textfile.Error].
func ReadSettings(r io.Reader, name string) (*Settings, error) {
	s, err := readSettings(textfile.NewReader(r, name), name)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return s, nil
}

func readSettings(lines *textfile.Reader, name string) (*Settings, error) {
	p := &settingsParser{}
	var begun strings.Builder // lines that continue
	start := 0                // number of the first line
	at := func(line int, err error) error { return &textfile.Error{File: name, Line: line, Err: err} }
	for lines.Next() {
		line := lines.Content()
		if begun.Len() == 0 {
			start = lines.Line()
		}
		begun.WriteString(line)
		switch {
		case begun.Len() > maxValue:
			return nil, at(start, fmt.Errorf("list longer than %d bytes", maxValue))
		case line == "", strings.HasSuffix(line, ","):
			continue
		}
		if err := p.line(begun.String(), start); err != nil {
			return nil, at(start, err)
		}
		begun.Reset()
	}
	switch {
	case lines.Err() != nil:
		return nil, lines.Err()
	case begun.Len() > 0:
		return nil, at(start, errors.New("the list ends with a comma"))
	case len(p.sections) == 0:
		return nil, at(0, errors.New("no settings"))
	}
	if err := p.end(); err != nil {
		return nil, at(p.current().line, err)
	}
	return &Settings{p.sections}, nil
}

// A settingsParser holds the sections that were read so far.
type settingsParser struct{ sections []*section }

func (p *settingsParser) current() *section {
	if len(p.sections) == 0 {
		return nil
	}
	return p.sections[len(p.sections)-1]
}

// line adds a line.
func (p *settingsParser) line(line string, number int) error {
	if head, isHead := strings.CutPrefix(line, "["); isHead {
		if err := p.end(); err != nil {
			return fmt.Errorf("section of line %d: %w", p.current().line, err)
		}
		head, closed := strings.CutSuffix(head, "]")
		i := slices.IndexFunc(kinds, func(k *kind) bool { return k.name == strings.TrimSpace(head) })
		if !closed || i < 0 {
			return fmt.Errorf("unknown section %q: want one of [%s]", line, strings.Join(Sections, "], ["))
		}
		p.sections = append(p.sections, &section{kind: kinds[i], line: number, given: map[string]string{}})
		return nil
	}
	s := p.current()
	name, value, found := strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case !found:
		return fmt.Errorf("%q: want KEY = VALUE", line)
	case s == nil:
		return fmt.Errorf("%s is not in a section", name)
	case value == "":
		return fmt.Errorf("%s has no value", name)
	}
	if _, twice := s.given[name]; twice {
		return fmt.Errorf("%s is given twice", name)
	}
	if err := s.assign(name, value); err != nil {
		return err
	}
	s.given[name] = value
	return nil
}

// assign sets a key.
func (s *section) assign(name, value string) (err error) {
	switch {
	case name == "node":
		for pattern := range strings.SplitSeq(value, ",") {
			pattern = strings.TrimSpace(pattern)
			if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
				return fmt.Errorf("invalid node %q: want a pattern of names or GUIDs", pattern)
			}
			s.nodes = append(s.nodes, pattern)
		}
		return nil
	case name == s.selector && s.count != nil:
		if s.ranges, err = ranges.Parse(value, s.noun, s.limit); err != nil {
			return fmt.Errorf("invalid %s %q: %w", name, value, err)
		}
		return nil
	}
	i := slices.IndexFunc(s.fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return fmt.Errorf("unknown key %q in [%s]: want one of %s", name, s.name, strings.Join(s.keys(), ", "))
	}
	set, err := s.fields[i].parse(value)
	if err != nil {
		return fmt.Errorf("invalid %s %.40q: %w", name, value, err)
	}
	s.set = append(s.set, set)
	return nil
}

// keys returns all key names.
func (k *kind) keys() []string {
	names := []string{"node"}
	if k.count != nil {
		names = append(names, k.selector)
	}
	for _, f := range k.fields {
		names = append(names, f.name)
	}
	return names
}

// end checks a section that is complete.
func (p *settingsParser) end() error {
	s := p.current()
	switch {
	case s == nil:
		return nil
	case len(s.set) == 0:
		return fmt.Errorf("[%s] has no settings", s.name)
	case s.name != portKind:
		return nil
	}
	control, given := s.given["control"]
	if !given {
		return errors.New("[port] requires the key control")
	}
	controlType := uint8(slices.Index(portControls, control))
	for _, f := range s.fields {
		if _, given := s.given[f.name]; given && f.controlTypes != nil && !slices.Contains(f.controlTypes, controlType) {
			return fmt.Errorf("%s and control = %s are mutually exclusive", f.name, control)
		}
	}
	return nil
}

// matches reports whether a section applies to a node.
func (s *section) matches(n *fabric.Node, names *fabric.NameMap) bool {
	return s.nodes == nil || slices.ContainsFunc(s.nodes, func(p string) bool { return names.Match(p, n) })
}

// apply changes an agent's state.
func (s *section) apply(state *State) error {
	if s.count == nil {
		for _, set := range s.set {
			set(state, 0)
		}
		return nil
	}
	count, selected := s.count(state), s.ranges
	if selected == nil {
		first := 0
		if s.isSwitch {
			first = 1 // port 0 has no link
		}
		for i := first; i < count; i++ {
			s.applyTo(state, i)
		}
		return nil
	}
	for _, r := range selected {
		if int(r[1]) >= count {
			return fmt.Errorf("%s = %d: the switch has the ports 0 to %d", s.selector, r[1], count-1)
		}
		for i := int(r[0]); i <= int(r[1]); i++ {
			s.applyTo(state, i)
		}
	}
	return nil
}

func (s *section) applyTo(state *State, i int) {
	for _, set := range s.set {
		set(state, i)
	}
}
