package topology

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/textfile"
)

// laneSpeeds are lane rates as .topo files have them.
var laneSpeeds = map[string]ib.Speed{
	"2.5": ib.SDR, "5": ib.DDR, "10": ib.QDR, "14": ib.FDR, "25": ib.EDR, "50": ib.HDR, "100": ib.NDR, "200": ib.XDR,
}

// parseList reads a link list, with a line or two for each cable.
func parseList(text string) *Plan {
	p := &Plan{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		l, err := ibdiagnet.ParseListLine([]byte(line))
		if err != nil {
			if !p.lost(number, err) {
				break
			}
			continue
		}
		end := func(e *ibdiagnet.ListEnd) PlanEnd {
			return PlanEnd{Name: strings.TrimSpace(e.Desc), GUID: e.Info.NodeGUID, Port: strconv.Itoa(int(e.Port))}
		}
		p.Cables = append(p.Cables, PlanCable{A: end(&l.Ends[0]), B: end(&l.Ends[1]), Width: l.Width, Speed: l.Speed, Line: number})
	}
	p.joinEnds()
	return p
}

// parseDatabase reads an ibdiagnet2.db_csv file.
func parseDatabase(text string) (*Plan, error) {
	return planOfFile(ibdiagnet.ReadDatabase(strings.NewReader(text), ""))
}

// The lines in a .topo file (ibutils, ibdm): a system, and an indented line for each of
// its cables.
var (
	topoSystem = lazyregexp.New(`^(\S+)\s+(\S+)(?:\s+CFG:.*)?$`)
	topoCable  = lazyregexp.New(`^(\S+)\s+(?:-(?:(\d+)x)?-?(?:(\d+(?:\.\d+)?)G)?)?->\s+(\S+)\s+(\S+)\s+(\S+)$`)
	topoSplit  = lazyregexp.New(`\s*(?:#.*)?$`)
)

// parseTopo reads an ibdiagnet .topo file. The cables after an invalid system line are lost.
func parseTopo(text string) *Plan {
	p := &Plan{}
	system := ""
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = topoSplit.ReplaceAllString(strings.TrimRight(line, "\r\n"), "")
		indented := strings.TrimLeft(line, " \t") != line
		line = strings.TrimSpace(line)
		var err error
		switch {
		case line == "":
		case !indented:
			system = ""
			if m := topoSystem.FindStringSubmatch(line); m != nil {
				system = m[2]
			} else {
				err = fmt.Errorf("got %s, want a type and the name of a system", textfile.Quote(line))
			}
		case system == "":
			err = errors.New("got a cable before a system")
		default:
			err = p.addTopoCable(system, line, number)
		}
		if err != nil && !p.lost(number, err) {
			break
		}
	}
	p.joinEnds()
	return p
}

// addTopoCable adds a cable of a system.
func (p *Plan) addTopoCable(system, line string, number int) error {
	m := topoCable.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("got %s, want PORT -4x-50G-> TYPE SYSTEM PORT", textfile.Quote(line))
	}
	c := PlanCable{A: PlanEnd{Name: system, Port: m[1]}, B: PlanEnd{Name: m[5], Port: m[6]}, Line: number}
	if m[2] != "" {
		_ = c.Width.UnmarshalText([]byte(m[2] + "X")) // unknown widths remain 0
	}
	c.Speed = laneSpeeds[m[3]]
	p.Cables = append(p.Cables, c)
	return nil
}

// rateForm matches widths and speeds: 4X HDR, HDR, HDR100, 400G, 200 Gb/s, 4x-50G.
var rateForm = lazyregexp.New(`(?i)^(?:(\d+)x[ -]*)?(?:(sdr|ddr|qdr|fdr10|fdr|edr|hdr|ndr|xdr)(\d*)|(\d+(?:\.\d+)?)\s*(?:g|gb|gbps|gb/s|gbit/s|gbe)?)?$`)

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
		if m[1] != "" { // a lane's rate
			c.Speed, c.Gbps = laneSpeeds[m[4]], 0
		}
	}
	return nil
}
