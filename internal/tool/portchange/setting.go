package portchange

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Setting is a port field that a [Change] can set. All setting values are numbers: width
// and speed sets have the bits in package ib.
type Setting struct {
	Name   string
	Values string // the possible values, for help texts

	Secret bool // the value is not to be printed

	// managed marks a field on ports with LIDs: port 0 on a switch, and all ports on other
	// nodes.
	managed bool

	parse func(text string) (uint64, error)
	show  func(v uint64) string
	get   func(*Status) uint64
	put   func(*Status, uint64)

	// available returns the bits in a set that a port supports; nil: the value is not a
	// set.
	available func(*Status) uint64

	// limit returns the largest value that a port supports; nil: there is no limit.
	limit func(*Status) uint64
}

// everything is the value for a set with all that the port supports.
const everything = 1 << 63

// Values for the enabled speeds in a Set that disable a speed group (InfiniBand
// Architecture, Volume 1, 14.2.5.6). rdma-core and opensm have the first value only; the
// second value is its counterpart in LinkSpeedExtEnabled2's narrower field. The port is
// read after each Set, so that an agent that ignores the value is noticed.
const (
	disabledExt  mad.LinkSpeedExt  = 30
	disabledExt2 mad.LinkSpeedExt2 = 6
)

const (
	oldSpeeds      = ib.SDR | ib.DDR | ib.QDR
	extendedSpeeds = ib.FDR | ib.EDR | ib.HDR | ib.NDR | ib.XDR
	widths         = ib.Width1X | ib.Width2X | ib.Width4X | ib.Width8X | ib.Width12X
)

// Settings are all settings, in the order in which they are shown.
var Settings = []*Setting{
	{
		Name: "speed", Values: "SDR, DDR, QDR, all",
		parse: parseSpeeds(oldSpeeds), show: showSpeeds,
		get:       func(s *Status) uint64 { return uint64(s.Info.LinkSpeedEnabled.Speed()) },
		put:       func(s *Status, v uint64) { s.Info.LinkSpeedEnabled = mad.LinkSpeed(v) },
		available: func(s *Status) uint64 { return uint64(s.Info.LinkSpeedSupported.Speed()) },
	},
	{
		Name: "espeed", Values: "FDR, EDR, HDR, NDR, XDR, all, none",
		parse: func(text string) (uint64, error) {
			if strings.EqualFold(text, "none") {
				return 0, nil
			}
			return parseSpeeds(extendedSpeeds)(text)
		},
		show:      showSpeeds,
		get:       func(s *Status) uint64 { return uint64(s.Info.EnabledSpeeds(s.Caps, nil) & extendedSpeeds) },
		put:       (*Status).enableExtended,
		available: func(s *Status) uint64 { return uint64(s.Info.SupportedSpeeds(s.Caps, nil) & extendedSpeeds) },
	},
	{
		Name: "fdr10", Values: "on, off",
		parse: func(text string) (uint64, error) {
			i := slices.Index(onOff, strings.ToLower(text))
			if i < 0 {
				return 0, errors.New("want on or off")
			}
			return uint64(i), nil
		},
		show: func(v uint64) string { return onOff[v&1] },
		get: func(s *Status) uint64 {
			if s.Ext == nil {
				return 0
			}
			return uint64(s.Ext.LinkSpeedEnabled & fdr10)
		},
		put: func(s *Status, v uint64) { s.Ext.LinkSpeedEnabled = mad.MlnxLinkSpeed(v) },
		available: func(s *Status) uint64 {
			if s.Ext == nil {
				return 0
			}
			return uint64(s.Ext.LinkSpeedSupported & fdr10)
		},
	},
	{
		Name: "width", Values: "1X, 2X, 4X, 8X, 12X, all",
		parse:     parseWidths,
		show:      func(v uint64) string { return strings.Join(ib.LinkWidth(v).Names(), ",") },
		get:       func(s *Status) uint64 { return uint64(s.Info.LinkWidthEnabled & widths) },
		put:       func(s *Status, v uint64) { s.Info.LinkWidthEnabled = ib.LinkWidth(v) },
		available: func(s *Status) uint64 { return uint64(s.Info.LinkWidthSupported & widths) },
	},
	{
		Name: "mtu", Values: "256, 512, 1024, 2048, 4096",
		parse: func(text string) (uint64, error) {
			n, err := strconv.Atoi(text)
			if m := ib.MTUOf(n); err == nil && m != 0 {
				return uint64(m), nil
			}
			return 0, errors.New("want 256, 512, 1024, 2048 or 4096")
		},
		show:  func(v uint64) string { return ib.MTU(v).String() },
		get:   func(s *Status) uint64 { return uint64(s.Info.NeighborMTU) },
		put:   func(s *Status, v uint64) { s.Info.NeighborMTU = ib.MTU(v) },
		limit: func(s *Status) uint64 { return uint64(s.Info.MTUCap) },
	},
	{
		Name: "vls", Values: "1, 2, 4, 8, 15",
		parse: func(text string) (uint64, error) {
			for v := ib.VLs1; v <= ib.VLs15; v++ {
				if strconv.Itoa(v.Lanes()) == text {
					return uint64(v), nil
				}
			}
			return 0, errors.New("want 1, 2, 4, 8 or 15 data lanes")
		},
		show:  func(v uint64) string { return strconv.Itoa(ib.VLCap(v).Lanes()) },
		get:   func(s *Status) uint64 { return uint64(s.Info.OperVLs) },
		put:   func(s *Status, v uint64) { s.Info.OperVLs = ib.VLCap(v) },
		limit: func(s *Status) uint64 { return uint64(s.Info.VLCap) },
	},
	{
		Name: "lid", Values: "1 to 49151", managed: true, parse: parseLID, show: decimal,
		get: func(s *Status) uint64 { return uint64(s.Info.LID) },
		put: func(s *Status, v uint64) { s.Info.LID = ib.LID(v) },
	},
	{
		Name: "smlid", Values: "1 to 49151", managed: true, parse: parseLID, show: decimal,
		get: func(s *Status) uint64 { return uint64(s.Info.SMLID) },
		put: func(s *Status, v uint64) { s.Info.SMLID = ib.LID(v) },
	},
	{
		Name: "lmc", Values: "0 to 7", managed: true, parse: parseNumber(7), show: decimal,
		get: func(s *Status) uint64 { return uint64(s.Info.LMC) },
		put: func(s *Status, v uint64) { s.Info.LMC = uint8(v) },
	},
	{
		Name: "mkey", Values: "a number of 64 bits", managed: true, Secret: true,
		parse: func(text string) (uint64, error) {
			key, err := strconv.ParseUint(text, 0, 64)
			if err != nil {
				return 0, errors.New("want a number of 64 bits")
			}
			return key, nil
		},
		show: func(v uint64) string {
			if v == 0 {
				return "none"
			}
			return "set"
		},
		get: func(s *Status) uint64 { return uint64(s.Info.MKey) },
		put: func(s *Status, v uint64) { s.Info.MKey = mad.Key(v) },
	},
	{
		Name: "mkeylease", Values: "0 to 65535 seconds", managed: true, parse: parseNumber(1<<16 - 1), show: decimal,
		get: func(s *Status) uint64 { return uint64(s.Info.MKeyLeasePeriod) },
		put: func(s *Status, v uint64) { s.Info.MKeyLeasePeriod = uint16(v) },
	},
	{
		Name: "mkeyprot", Values: "0 to 3", managed: true, parse: parseNumber(3), show: decimal,
		get: func(s *Status) uint64 { return uint64(s.Info.MKeyProtect) },
		put: func(s *Status, v uint64) { s.Info.MKeyProtect = uint8(v) },
	},
}

var onOff = []string{"off", "on"}

// fdr10 is the FDR10 bit in NVIDIA's ExtendedPortInfo. In StateChangeEnable, it selects the
// speeds as the field to set (ibportstate in rdma-core).
const fdr10 = 1

// enableExtended writes an extended speed set. The fields for a group without any such
// speed disable the group, as 0 is no change.
func (s *Status) enableExtended(v uint64) {
	set := ib.Speed(v)
	s.Info.LinkSpeedExtEnabled, s.Info.LinkSpeedExt2Enabled = disabledExt, 0
	if first := set & (ib.FDR | ib.EDR | ib.HDR | ib.NDR); first != 0 {
		s.Info.LinkSpeedExtEnabled = mad.LinkSpeedExt(first / ib.FDR)
	}
	switch {
	case set.Has(ib.XDR):
		s.Info.LinkSpeedExt2Enabled = 1
	case s.Info.SupportedSpeeds(s.Caps, nil).Has(ib.XDR):
		s.Info.LinkSpeedExt2Enabled = disabledExt2
	}
}

// settingOf returns the setting with a name, or nil.
func settingOf(name string) *Setting {
	i := slices.IndexFunc(Settings, func(s *Setting) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return Settings[i]
}

// Show returns a port's value.
func (s *Setting) Show(p *Status) string { return s.show(s.get(p)) }

// wanted returns the value for a port, or the reason why the port cannot have it.
func (s *Setting) wanted(p *Status, v uint64) (uint64, error) {
	switch {
	case s.managed && p.external:
		return 0, fmt.Errorf("set %s: of the ports of a switch, only port 0 has it", s.Name)
	case s.Name == "fdr10" && s.available(p) == 0:
		return 0, errors.New("set fdr10: the port does not support FDR10")
	case s.limit != nil && v > s.limit(p):
		return 0, fmt.Errorf("set %s: got %s, but the port supports at most %s", s.Name, s.show(v), s.show(s.limit(p)))
	case s.available == nil:
		return v, nil
	}
	has := s.available(p)
	switch {
	case v == everything:
		v = has
	case v&^has != 0:
		return 0, fmt.Errorf("set %s: the port does not support %s", s.Name, s.show(v&^has))
	}
	if v == 0 && has == 0 {
		return 0, fmt.Errorf("set %s: the port does not support any of these", s.Name)
	}
	return v, nil
}

func decimal(v uint64) string { return strconv.FormatUint(v, 10) }

// parseNumber parses numbers up to a maximum.
func parseNumber(limit uint64) func(string) (uint64, error) {
	return func(text string) (uint64, error) {
		n, err := strconv.ParseUint(text, 0, 64)
		if err != nil || n > limit {
			return 0, fmt.Errorf("want a number from 0 to %d", limit)
		}
		return n, nil
	}
}

func parseLID(text string) (uint64, error) {
	lid, err := strconv.ParseUint(text, 0, 16)
	if err != nil || !ib.LID(lid).IsUnicast() {
		return 0, fmt.Errorf("want a LID from 1 to %d", ib.MaxUnicastLID)
	}
	return lid, nil
}

func showSpeeds(v uint64) string { return ib.Speed(v).String() }

// parseSpeeds parses a list with some speeds.
func parseSpeeds(allowed ib.Speed) func(string) (uint64, error) {
	return func(text string) (uint64, error) {
		if strings.EqualFold(text, "all") {
			return everything, nil
		}
		var set ib.Speed
		err := set.UnmarshalText([]byte(text))
		if err == nil && set&oldSpeeds != 0 && set&extendedSpeeds != 0 {
			return 0, fmt.Errorf("want two settings: speed=%v espeed=%v", set&oldSpeeds, set&extendedSpeeds)
		}
		if err != nil || set == 0 || set&^allowed != 0 {
			return 0, fmt.Errorf("want a list of %s, or all", strings.ReplaceAll(allowed.String(), ",", ", "))
		}
		return uint64(set), nil
	}
}

// isExtended reports whether a text is a list of extended speeds.
func isExtended(text string) bool {
	var set ib.Speed
	return set.UnmarshalText([]byte(text)) == nil && set != 0 && set&^extendedSpeeds == 0
}

func parseWidths(text string) (uint64, error) {
	if strings.EqualFold(text, "all") {
		return everything, nil
	}
	var set ib.LinkWidth
	for word := range strings.SplitSeq(text, ",") {
		if strings.Trim(word, "0123456789") == "" {
			word += "X"
		}
		var w ib.LinkWidth
		if err := w.UnmarshalText([]byte(word)); err != nil || !w.Single() {
			return 0, errors.New("want a list of 1X, 2X, 4X, 8X, 12X, or all")
		}
		set |= w
	}
	return uint64(set), nil
}
