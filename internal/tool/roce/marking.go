package roce

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Sources of a traffic class.
const (
	ByVerbs   = "verbs"   // the traffic class of all packets of the port
	ByCM      = "rdma_cm" // the type of service of connections by rdma_cm
	ByProgram = "default" // programs that do not set it
)

// A Marking is the way of a traffic class through the settings of a network device. Pointers
// are nil for settings that are not known.
type Marking struct {
	Source       string  `json:"source"`
	TrafficClass uint8   `json:"traffic_class"`
	DSCP         uint8   `json:"dscp"`
	Priority     *uint8  `json:"priority"`
	Tagged       bool    `json:"tagged"` // the VLAN tag has the priority
	PFC          *bool   `json:"pfc"`
	Notify       *bool   `json:"ecn_np"`
	React        *bool   `json:"ecn_rp"`
	Buffer       *uint8  `json:"buffer"`
	BufferSize   *uint32 `json:"buffer_size"` // in bytes
	Class        *uint8  `json:"queue"`       // traffic class of the schedule
	Algorithm    *string `json:"algorithm"`
	Share        *uint8  `json:"share"` // percentage, if the algorithm is "ets"
}

// mark adds the markings to all links.
func (s *PortSettings) mark() {
	type source struct {
		name  string
		class uint8
	}
	var sources []source
	if s.TrafficClass != nil {
		sources = append(sources, source{ByVerbs, *s.TrafficClass})
	}
	if s.ToS != nil && *s.ToS != 0 {
		sources = append(sources, source{ByCM, *s.ToS})
	}
	if sources == nil {
		sources = []source{{ByProgram, 0}}
	}
	for _, l := range s.Links {
		for _, c := range sources {
			l.Markings = append(l.Markings, l.marking(c.name, c.class, s.VLAN))
		}
	}
}

// marking follows a traffic class.
func (s *NetdevSettings) marking(source string, class uint8, vlan bool) Marking {
	m := Marking{Source: source, TrafficClass: class, DSCP: class >> 2}
	if s.bridging == nil {
		return m
	}
	byTag := s.Trust != nil && *s.Trust == "pcp"
	switch priority, mapped := s.DSCP[strconv.Itoa(int(m.DSCP))]; {
	case mapped && !byTag:
		m.Priority = &priority
	case vlan && (byTag || !mapped):
		m.Tagged = true
		return m
	case s.Default != nil:
		m.Priority = s.Default
	default:
		m.Priority = new(uint8(0))
	}
	p := int(*m.Priority)
	m.PFC = new(slices.Contains(s.PFC, p))
	if s.Notify != nil {
		m.Notify = new(slices.Contains(s.Notify, p))
	}
	if s.React != nil {
		m.React = new(slices.Contains(s.React, p))
	}
	if b := s.bridging.Buffers; b != nil {
		n := b.Buffer[p]
		m.Buffer = &n
		if int(n) < len(b.Size) {
			m.BufferSize = &b.Size[n]
		}
	}
	if e := s.bridging.ETS; e != nil && int(e.Class[p]) < len(e.Share) {
		n := e.Class[p]
		m.Class, m.Algorithm, m.Share = &n, new(e.Algorithm[n].String()), &e.Share[n]
	}
	return m
}

// String returns the marking in one line.
func (m Marking) String() string {
	parts := []string{fmt.Sprintf("traffic class %d (%s)", m.TrafficClass, m.Source), fmt.Sprintf("DSCP %d", m.DSCP)}
	switch {
	case m.Tagged:
		parts = append(parts, "priority of the VLAN tag")
	case m.Priority == nil:
		parts = append(parts, "priority unknown")
	}
	if m.Priority == nil {
		return strings.Join(parts, " → ")
	}
	parts = append(parts, fmt.Sprintf("priority %d", *m.Priority), "PFC "+onOff(*m.PFC))
	if m.Notify != nil || m.React != nil {
		parts = append(parts, "ECN "+m.ecn())
	}
	if m.Buffer != nil {
		text := fmt.Sprintf("buffer %d", *m.Buffer)
		if m.BufferSize != nil {
			text += fmt.Sprintf(" (%d KiB)", *m.BufferSize>>10)
		}
		parts = append(parts, text)
	}
	if m.Class != nil {
		text := fmt.Sprintf("queue %d (%s", *m.Class, *m.Algorithm)
		if *m.Algorithm == "ets" {
			text += fmt.Sprintf(" %d %%", *m.Share)
		}
		parts = append(parts, text+")")
	}
	return strings.Join(parts, " → ")
}

// ecn returns the roles with congestion notifications.
func (m Marking) ecn() string {
	var roles []string
	if m.Notify != nil && *m.Notify {
		roles = append(roles, "np")
	}
	if m.React != nil && *m.React {
		roles = append(roles, "rp")
	}
	if roles == nil {
		return "off"
	}
	return strings.Join(roles, "+")
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
