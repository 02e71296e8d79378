package sim

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/internal/netfile"
)

// A modelField is a model parameter.
type modelField struct {
	name  string
	parse func(l *eventLine, m *Model) error
}

var modelFields = []modelField{
	{"hop", durationField(func(m *Model) *time.Duration { return &m.Hop })},
	{"service", durationField(func(m *Model) *time.Duration { return &m.Service })},
	{"queue", func(l *eventLine, m *Model) error {
		n, err := l.integer("a number of packets", 1<<20)
		m.Queue = int(n)
		return err
	}},
	{"loss", partField(func(m *Model) *float64 { return &m.Loss })},
	{"duplicate", partField(func(m *Model) *float64 { return &m.Duplicate })},
	{"delay", durationField(func(m *Model) *time.Duration { return &m.Delay })},
	{"jitter", durationField(func(m *Model) *time.Duration { return &m.Jitter })},
	{"reorder", partField(func(m *Model) *float64 { return &m.Reorder })},
	{"late", durationField(func(m *Model) *time.Duration { return &m.Late })},
	{"timeout", durationField(func(m *Model) *time.Duration { return &m.Timeout })},
	{"load", partField(func(m *Model) *float64 { return &m.Load })},
	{"uptime", durationField(func(m *Model) *time.Duration { return &m.Uptime })},
	{"seed", func(l *eventLine, m *Model) (err error) {
		m.Seed, err = l.integer("a seed", 1<<64-1)
		return err
	}},
}

// ModelParameters returns the parameter names that [Model.ParseModel] accepts.
func ModelParameters() []string {
	var names []string
	for _, f := range modelFields {
		names = append(names, f.name)
	}
	return names
}

func modelNames() string { return strings.Join(ModelParameters(), ", ") }

// ParseModel sets model parameters, for example "hop=1us,loss=0.01". Names are the field
// names in lower case; commas or blanks separate the parameters. The model does not change
// if there is an error.
func (m *Model) ParseModel(text string) error {
	next := *m
	l := &eventLine{netfile.Line{File: "clock model", Text: text}}
	if err := l.model(&next); err != nil {
		return err
	}
	*m = next
	return nil
}

// model reads parameters up to the end of the line.
func (l *eventLine) model(m *Model) error {
	given := map[string]bool{}
	for more := true; more; {
		l.Blanks()
		if err := l.modelField(m, given); err != nil {
			return err
		}
		more = l.more()
		if l.Accept(",") {
			more = true
		}
	}
	return nil
}

// modelField reads a parameter. given has the names of preceding parameters.
func (l *eventLine) modelField(m *Model, given map[string]bool) error {
	start := l.At
	name := l.Run(netfile.IsLetter)
	if given[name] {
		l.At = start
		return l.Errorf("parameter %q is given twice", name)
	}
	given[name] = true
	for _, f := range modelFields {
		if f.name == name && l.Accept("=") {
			return f.parse(l, m)
		}
	}
	l.At = start
	return l.Expected("NAME=VALUE with one of the names " + modelNames())
}

// isValue reports whether a value may contain a byte.
func isValue(c byte) bool { return isBare(c) && c != ',' }

func durationField(of func(*Model) *time.Duration) func(*eventLine, *Model) error {
	return func(l *eventLine, m *Model) error { return durationInto(l, of(m)) }
}

// durationInto reads a duration, which a comma may follow.
func durationInto(l *eventLine, to *time.Duration) error {
	start := l.At
	d, err := time.ParseDuration(l.Run(isValue))
	if err != nil || d < 0 {
		l.At = start
		return l.Expected("a duration, for example 1.5s or 20us")
	}
	*to = d
	return nil
}

func partField(of func(*Model) *float64) func(*eventLine, *Model) error {
	return func(l *eventLine, m *Model) error {
		start := l.At
		part, err := strconv.ParseFloat(l.Run(isValue), 64)
		if err != nil || !(part >= 0 && part <= 1) { // NaN is neither
			l.At = start
			return l.Expected("a fraction of the packets, from 0 to 1")
		}
		*of(m) = part
		return nil
	}
}

func parseModelCommand(_ *Fabric, l *eventLine) (func(*Fabric, io.Writer) error, error) {
	start := l.Rest()
	if err := l.model(&Model{}); err != nil {
		return nil, err
	}
	return func(f *Fabric, _ io.Writer) error { return f.Model.ParseModel(start) }, nil
}
