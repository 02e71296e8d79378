package cc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/ranges"
	"github.com/ibkit/ibkit/mad"
)

// A kind is a settings kind: a section in a settings file.
type kind struct {
	name     string
	isSwitch bool // switch settings, otherwise adapter settings
	fields   []field

	has func(*State) bool // the agent has such settings

	// For kinds with settings for each port or service level:
	selector string           // key that selects them
	noun     string           // a single port or service level, for errors
	limit    uint8            // highest number
	count    func(*State) int // of an agent
}

// A field is a setting: a key in a settings file. i is the port or service level number.
type field struct {
	name   string
	values string // for help texts
	parse  func(text string) (setter, error)
	show   func(s *State, i int) string // "": does not apply

	controlTypes []uint8 // of the ports that the field applies to; nil: all
}

// A setter sets a field.
type setter func(s *State, i int)

// number returns a field that is a number.
func number[N uint8 | uint16](name string, limit uint64, at func(*State, int) *N) field {
	return field{
		name: name, values: fmt.Sprintf("0 to %d", limit),
		parse: func(text string) (setter, error) {
			n, err := strconv.ParseUint(text, 0, 64)
			if err != nil || n > limit {
				return nil, fmt.Errorf("want a number from 0 to %d", limit)
			}
			return func(s *State, i int) { *at(s, i) = N(n) }, nil
		},
		show: func(s *State, i int) string { return strconv.FormatUint(uint64(*at(s, i)), 10) },
	}
}

// choice returns a field with a value from a list of names. get and put have the index.
func choice(name string, names []string, get func(*State, int) int, put func(*State, int, int)) field {
	values := strings.Join(names, ", ")
	return field{
		name: name, values: values,
		parse: func(text string) (setter, error) {
			v := slices.Index(names, text)
			if v < 0 {
				return nil, fmt.Errorf("want one of %s", values)
			}
			return func(s *State, i int) { put(s, i, v) }, nil
		},
		show: func(s *State, i int) string { return names[get(s, i)] },
	}
}

// ports returns a field that is a port set.
func ports(name string, at func(*State) *mad.PortMask) field {
	return field{
		name: name, values: "all, none, or a list of ports such as 1-4,7",
		parse: func(text string) (setter, error) {
			switch text {
			case "all":
				return func(s *State, _ int) {
					*at(s) = mad.PortMask{}
					for n := 1; n < len(s.Ports); n++ {
						at(s).Add(uint8(n))
					}
				}, nil
			case "none":
				return func(s *State, _ int) { *at(s) = mad.PortMask{} }, nil
			}
			list, err := ranges.Parse(text, "a port number", 255)
			var mask mad.PortMask
			for _, r := range list {
				for n := int(r[0]); n <= int(r[1]); n++ {
					mask.Add(uint8(n))
				}
			}
			return func(s *State, _ int) { *at(s) = mask }, err
		},
		show: func(s *State, _ int) string {
			if numbers := at(s).Ports(); len(numbers) > 0 {
				return ranges.Format(numbers)
			}
			return "none"
		},
	}
}

// shifted returns a field that is a 2-bit shift and a 14-bit multiplier.
func shifted(name string, at func(*State, int) *uint16) field {
	return field{
		name: name, values: shiftedValues,
		parse: func(text string) (setter, error) {
			e, err := parseShifted(text)
			return func(s *State, i int) { *at(s, i) = uint16(e.Shift)<<14 | e.Multiplier }, err
		},
		show: func(s *State, i int) string { return formatShifted(uint8(*at(s, i)>>14), *at(s, i)&maxMultiplier) },
	}
}

const (
	shiftedValues = "SHIFT:MULTIPLIER, 0:0 to 3:16383"
	maxShift      = 1<<2 - 1
	maxMultiplier = 1<<14 - 1
)

func parseShifted(text string) (e mad.CongestionControlEntry, err error) {
	first, second, found := strings.Cut(text, ":")
	shift, err1 := strconv.ParseUint(first, 0, 8)
	multiplier, err2 := strconv.ParseUint(strings.TrimSpace(second), 0, 16)
	if !found || err1 != nil || err2 != nil || shift > maxShift || multiplier > maxMultiplier {
		return e, fmt.Errorf("%q: want %s", text, shiftedValues)
	}
	return mad.CongestionControlEntry{Shift: uint8(shift), Multiplier: uint16(multiplier)}, nil
}

// maxTable is the maximum table length in entries: CongestionInfo's ControlTableCap has 8
// bits and counts blocks.
const maxTable = 255 * tableBlock

// tableBlock is the entry count per block.
const tableBlock = len(mad.CongestionControlTable{}.Entries)

var tableField = field{
	name: "cct", values: "a list of SHIFT:MULTIPLIER",
	parse: func(text string) (setter, error) {
		var table []mad.CongestionControlEntry
		for word := range strings.SplitSeq(text, ",") {
			e, err := parseShifted(strings.TrimSpace(word))
			if err != nil {
				return nil, err
			}
			table = append(table, e)
		}
		if len(table) > maxTable {
			return nil, fmt.Errorf("%d entries: want at most %d", len(table), maxTable)
		}
		return func(s *State, _ int) { s.Table = slices.Clone(table) }, nil
	},
	show: func(s *State, _ int) string { return formatTable(s.Table) },
}

// adapterControl is bit 0 in PortControl.
var adapterControl = choice("control", []string{"qp", "sl"},
	func(s *State, _ int) int { return int(s.Adapter.PortControl & 1) },
	func(s *State, _, v int) { s.Adapter.PortControl = s.Adapter.PortControl&^1 | uint16(v) })

// portControls are the values for a port's control field. The first two are control types;
// a port without valid settings has the switch's settings.
var portControls = []string{"congestion", "starvation", "switch"}

// portInherits is the last value.
const portInherits = 2

var portControl = choice("control", portControls,
	func(s *State, i int) int {
		if s.Ports[i].Valid == 0 {
			return portInherits
		}
		return int(s.Ports[i].ControlType)
	},
	func(s *State, i, v int) {
		if v == portInherits {
			s.Ports[i] = mad.PortCongestionSetting{}
			return
		}
		s.Ports[i].Valid, s.Ports[i].ControlType = 1, uint8(v)
	})

// ofPort limits a field to ports with valid settings of a control type.
func ofPort(f field, controlTypes ...uint8) field {
	show := f.show
	f.controlTypes = controlTypes
	f.show = func(s *State, i int) string {
		if p := &s.Ports[i]; p.Valid == 0 || !slices.Contains(controlTypes, p.ControlType) {
			return ""
		}
		return show(s, i)
	}
	return f
}

// portKind is the kind for switch port settings.
const portKind = "port"

// kinds are all settings kinds. Field names are the attributes' names (InfiniBand
// Architecture, Volume 1, A10.4.3).
var kinds = []*kind{
	{
		name: "switch", isSwitch: true, has: func(s *State) bool { return s.Switch != nil },
		fields: []field{
			number("threshold", 15, func(s *State, _ int) *uint8 { return &s.Switch.Threshold }),
			number("packet_size", 255, func(s *State, _ int) *uint8 { return &s.Switch.PacketSize }),
			number("marking_rate", 65535, func(s *State, _ int) *uint16 { return &s.Switch.MarkingRate }),
			ports("victim_mask", func(s *State) *mad.PortMask { return &s.Switch.VictimMask }),
			ports("credit_mask", func(s *State) *mad.PortMask { return &s.Switch.CreditMask }),
			number("cs_threshold", 15, func(s *State, _ int) *uint8 { return &s.Switch.CSThreshold }),
			shifted("cs_return_delay", func(s *State, _ int) *uint16 { return &s.Switch.CSReturnDelay }),
		},
	},
	{
		name: portKind, isSwitch: true, has: func(s *State) bool { return s.Ports != nil },
		selector: "ports", noun: "a port number", limit: 255, count: func(s *State) int { return len(s.Ports) },
		fields: []field{
			portControl,
			ofPort(number("threshold", 15, func(s *State, i int) *uint8 { return &s.Ports[i].Threshold }), 0, 1),
			ofPort(number("packet_size", 255, func(s *State, i int) *uint8 { return &s.Ports[i].PacketSize }), 0),
			ofPort(number("marking_rate", 65535, func(s *State, i int) *uint16 { return &s.Ports[i].Parameter }), 0),
			ofPort(shifted("cs_return_delay", func(s *State, i int) *uint16 { return &s.Ports[i].Parameter }), 1),
		},
	},
	{
		name: "adapter", has: func(s *State) bool { return s.Adapter != nil && s.Table != nil },
		fields: []field{
			adapterControl,
			tableField,
		},
	},
	{
		name: "sl", has: func(s *State) bool { return s.Adapter != nil },
		selector: "sls", noun: "a service level", limit: 15, count: func(s *State) int { return len(s.Adapter.SLs) },
		fields: []field{
			number("ccti_timer", 65535, func(s *State, i int) *uint16 { return &s.Adapter.SLs[i].Timer }),
			number("ccti_increase", 255, func(s *State, i int) *uint8 { return &s.Adapter.SLs[i].Increase }),
			number("trigger_threshold", 255, func(s *State, i int) *uint8 { return &s.Adapter.SLs[i].TriggerThreshold }),
			number("ccti_min", 255, func(s *State, i int) *uint8 { return &s.Adapter.SLs[i].Min }),
		},
	},
}

// Sections are the section names in a settings file.
var Sections = sectionNames()

func sectionNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// A Key is a key in a section of a settings file.
type Key struct{ Name, Values string }

// Keys returns a section's keys other than node, in their order.
func Keys(section string) (keys []Key) {
	for _, k := range kinds {
		if k.name != section {
			continue
		}
		if k.count != nil {
			keys = append(keys, Key{k.selector, fmt.Sprintf("a list such as 0-4,7, up to %d", k.limit)})
		}
		for _, f := range k.fields {
			keys = append(keys, Key{f.name, f.values})
		}
	}
	return keys
}
