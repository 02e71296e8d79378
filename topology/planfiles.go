package topology

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/ib"
)

// The ends and the attributes of a link in a subnet.lst (ibutils; opensm,
// opensm/osm_dump.c). Descriptions may contain braces.
var (
	lstEnd  = regexp.MustCompile(`^\{\s+(\S+)\s+Ports:[0-9A-Fa-f]+\s.*?NodeGUID:([0-9A-Fa-f]+)\s.*?\{(.*?)\}\s+LID:([0-9A-Fa-f]+)\s+PN:([0-9A-Fa-f]+)\s+\}\s*`)
	lstRate = regexp.MustCompile(`^PHY=(\S+)\s+LOG=(\S+)\s+SPD=(\S+)`)
)

// lstSpeeds are the rates of a lane as subnet.lst has them.
var lstSpeeds = map[string]ib.Speed{
	"2.5": ib.SDR, "5": ib.DDR, "10": ib.QDR, "14": ib.FDR, "25": ib.EDR, "50": ib.HDR, "100": ib.NDR, "200": ib.XDR,
}

// parseLST reads a subnet.lst.
func parseLST(text string) (*Plan, error) {
	p := &Plan{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		rest := strings.TrimSpace(line)
		if rest == "" || rest[0] == '#' {
			continue
		}
		c := PlanCable{Line: number}
		for _, end := range []*PlanEnd{&c.A, &c.B} {
			m := lstEnd.FindStringSubmatch(rest)
			if m == nil {
				return nil, lineErrorf(number, "want two ends in braces, each with NodeGUID, description, LID and PN")
			}
			guid, err := strconv.ParseUint(m[2], 16, 64)
			if err != nil {
				return nil, lineErrorf(number, "parse NodeGUID %q: not a number of 64 bits", m[2])
			}
			port, err := strconv.ParseUint(m[5], 16, 8)
			if err != nil {
				return nil, lineErrorf(number, "parse port number %q: not a number of 8 bits", m[5])
			}
			*end = PlanEnd{Name: strings.TrimSpace(m[3]), GUID: ib.GUID(guid), Port: strconv.FormatUint(port, 10)}
			rest = rest[len(m[0]):]
		}
		m := lstRate.FindStringSubmatch(rest)
		if m == nil {
			return nil, lineErrorf(number, "want PHY, LOG and SPD after the two ends")
		}
		_ = c.Width.UnmarshalText([]byte(strings.ToUpper(m[1]))) // unknown widths remain 0
		c.Speed = lstSpeeds[m[3]]
		p.Cables = append(p.Cables, c)
	}
	return p, p.joinEnds()
}

// The lines of a .topo file (ibutils, ibdm): a system, and an indented line for each of
// its cables.
var (
	topoSystem = regexp.MustCompile(`^(\S+)\s+(\S+)(?:\s+CFG:.*)?$`)
	topoCable  = regexp.MustCompile(`^(\S+)\s+(?:-(?:(\d+)x)?-?(?:(\d+(?:\.\d+)?)G)?)?->\s+(\S+)\s+(\S+)\s+(\S+)$`)
	topoSplit  = regexp.MustCompile(`\s*(?:#.*)?$`)
)

// parseTopo reads a .topo file of ibdiagnet.
func parseTopo(text string) (*Plan, error) {
	p := &Plan{}
	system := ""
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = topoSplit.ReplaceAllString(strings.TrimRight(line, "\r\n"), "")
		indented := strings.TrimLeft(line, " \t") != line
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case !indented:
			m := topoSystem.FindStringSubmatch(line)
			if m == nil {
				return nil, lineErrorf(number, "want a type and the name of a system, got %q", line)
			}
			system = m[2]
		case system == "":
			return nil, lineErrorf(number, "got a cable before a system")
		default:
			m := topoCable.FindStringSubmatch(line)
			if m == nil {
				return nil, lineErrorf(number, "want PORT -4x-50G-> TYPE SYSTEM PORT, got %q", line)
			}
			c := PlanCable{A: PlanEnd{Name: system, Port: m[1]}, B: PlanEnd{Name: m[5], Port: m[6]}, Line: number}
			if m[2] != "" {
				_ = c.Width.UnmarshalText([]byte(m[2] + "X")) // unknown widths remain 0
			}
			c.Speed = lstSpeeds[m[3]]
			p.Cables = append(p.Cables, c)
		}
	}
	return p, p.joinEnds()
}

// rateForm matches widths and speeds: 4X HDR, HDR, HDR100, 400G, 200 Gb/s, 4x-50G.
var rateForm = regexp.MustCompile(`(?i)^(?:(\d+)x[ -]*)?(?:(sdr|ddr|qdr|fdr10|fdr|edr|hdr|ndr|xdr)(\d*)|(\d+(?:\.\d+)?)\s*(?:g|gb|gbps|gb/s|gbit/s|gbe)?)?$`)

// setRateText parses a rate in a plan.
func (c *PlanCable) setRateText(text string) error {
	text = strings.TrimSpace(text)
	m := rateForm.FindStringSubmatch(text)
	if m == nil || text == "" {
		return errors.New("not a rate such as HDR, 4X HDR or 400G")
	}
	if m[1] != "" {
		if err := c.Width.UnmarshalText([]byte(m[1] + "X")); err != nil {
			return err
		}
	}
	switch {
	case m[2] != "" && m[3] != "":
		c.Gbps, _ = strconv.ParseFloat(m[3], 64) // digits
	case m[2] != "":
		return c.Speed.UnmarshalText([]byte(strings.ToUpper(m[2])))
	case m[4] != "":
		c.Gbps, _ = strconv.ParseFloat(m[4], 64)
		const megabits = 10000 // numbers from here on are in 10^6 bits per second
		if c.Gbps >= megabits {
			c.Gbps /= 1000
		}
		if m[1] != "" { // the rate of a lane
			c.Speed, c.Gbps = lstSpeeds[m[4]], 0
		}
	}
	return nil
}
