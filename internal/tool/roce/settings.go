// Package roce reads the settings of RoCE ports, from the traffic class of a packet to the
// buffer that it uses, and compares them. It judges the counters of a port over a window, too.
package roce

import (
	"slices"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/dcbnl"
	"github.com/ibkit/ibkit/internal/ethtool"
	"github.com/ibkit/ibkit/internal/lldp"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/report"
)

// Schema identifies the version of the JSON encoding of an [Overview]. The file
// schema/devinfo-roce.json describes it.
const Schema = "ibkit/devinfo-roce/1"

// An Overview has the settings of a host's RoCE ports. Its JSON encoding is the output of
// ibkit devinfo --roce --json.
type Overview struct {
	report.Head
	Ports    []*PortSettings   `json:"ports"`
	Problems []devinfo.Problem `json:"-"` // the failures, with advice
}

// PortSettings are the settings of a RoCE port. Pointers are nil for settings that are not
// known, or not set.
type PortSettings struct {
	Device       string  `json:"device"`
	Number       int     `json:"port"`
	Active       bool    `json:"active"`
	Netdev       *string `json:"netdev"`
	VLAN         bool    `json:"vlan"`          // packets have a VLAN tag
	TrafficClass *uint8  `json:"traffic_class"` // of all packets, in place of the program's
	ToS          *uint8  `json:"cm_tos"`        // of connections by rdma_cm, unless the program sets it
	Version      *string `json:"cm_version"`    // of connections by rdma_cm: "RoCE v2" or "IB/RoCE v1"

	// Parameters are congestion control settings (DCQCN), by the driver's file names.
	// Restricted is true if they are readable for root only.
	Parameters map[string]string `json:"parameters"`
	Restricted bool              `json:"restricted"`

	// Optional are the counters that count only if they are enabled, and whether they are;
	// nil: unknown.
	Optional map[string]bool `json:"optional_counters"`

	Links []*NetdevSettings `json:"links"` // several for a bond

	index *uint32 // of the device in NETLINK_RDMA; nil: unknown
}

// Name returns the port's name, for example "mlx5_0/1".
func (p *PortSettings) Name() string { return devinfo.PortName(p.Device, p.Number) }

// NetdevSettings are the settings of a network device without others below it.
type NetdevSettings struct {
	Netdev string `json:"netdev"`

	// Error is the reason why the kernel's priority settings are not known; nil if they are.
	// Unsupported is true if the driver has none.
	Error       *string `json:"error"`
	Unsupported bool    `json:"unsupported"`

	PFC      []int            `json:"pfc"`      // priorities with flow control; nil: unknown
	PeerPFC  []int            `json:"peer_pfc"` // the LLDP peer's
	LLDP     *lldp.Neighbour  `json:"lldp"`     // the peer; nil: unknown
	DSCP     map[string]uint8 `json:"dscp"`     // priority by code point
	Default  *uint8           `json:"default_priority"`
	Trust    *string          `json:"trust"` // "dscp" or "pcp": the field that selects the priority
	DCBX     *string          `json:"dcbx"`
	Notify   []int            `json:"ecn_np"` // priorities with congestion notifications; nil: unknown
	React    []int            `json:"ecn_rp"` // priorities that slow down on a notification; nil: unknown
	Buffers  []Buffer         `json:"buffers"`
	Classes  []TrafficClass   `json:"traffic_classes"`
	Pause    *GlobalPause     `json:"global_pause"`
	Markings []Marking        `json:"markings"`

	bridging  *dcbnl.Bridging // nil: unknown
	Problem   error           `json:"-"` // see Error
	trustFile string          // "": the driver has no such file
	driver    string          // "": unknown
}

// A Buffer is a receive buffer.
type Buffer struct {
	Number     int    `json:"buffer"`
	Size       uint32 `json:"size"` // in bytes
	Priorities []int  `json:"priorities"`
}

// A TrafficClass is a queue that the adapter schedules.
type TrafficClass struct {
	Number     int    `json:"traffic_class"`
	Algorithm  string `json:"algorithm"`
	Share      uint8  `json:"share"` // percentage, if the algorithm is "ets"
	Priorities []int  `json:"priorities"`
}

// GlobalPause has the settings for pauses of all priorities at once.
type GlobalPause struct {
	Receive  bool `json:"receive"`
	Transmit bool `json:"transmit"`
}

// A Host has the files and queries of the host.
type Host struct {
	Sysfs string // mount point of sysfs; "": the default

	// These query a network device. nil: [dcbnl.Get], [ethtool.GlobalPause] and
	// [ethtool.Statistics] for the default mount point, otherwise no query.
	Bridging   func(netdev string) (dcbnl.Bridging, error)
	Pause      func(netdev string) (*ethtool.Pause, error)
	Statistics func(netdev string) (map[string]uint64, error)

	// These query the optional counters of a port, which sysfs does not have, and all counters
	// with their values. nil: as above.
	Optional     func(device, port uint32) (map[string]bool, error)
	PortCounters func(device, port uint32) (map[string]uint64, error)

	// Neighbours are the LLDP peers of network devices, from [Host.Listen].
	Neighbours map[string]*lldp.Neighbour

	// EnableOptional enables optional counters, and disables all others. nil: as above.
	EnableOptional func(device, port uint32, names []string) error
}

func (h Host) withDefaults() Host {
	if h.Sysfs == "" || h.Sysfs == string(sysfs.Default) {
		h.Sysfs = string(sysfs.Default)
		if h.Bridging == nil {
			h.Bridging = dcbnl.Get
		}
		if h.Pause == nil {
			h.Pause = ethtool.GlobalPause
		}
		if h.Statistics == nil {
			h.Statistics = ethtool.Statistics
		}
		if h.Optional == nil {
			h.Optional = optionalCounters
		}
		if h.PortCounters == nil {
			h.PortCounters = portCounters
		}
		if h.EnableOptional == nil {
			h.EnableOptional = enableOptional
		}
	}
	return h
}

// IsRoCE reports whether a port is a RoCE port: iWARP adapters have Ethernet ports, too.
func IsRoCE(d *devinfo.Device, p *devinfo.Port) bool {
	return p.Ethernet() && !d.IsIWARP()
}

// Judged reports whether [Verdicts] judges the counters of a port: a RoCE port, or that of an
// Elastic Fabric Adapter.
func Judged(d *devinfo.Device, p *devinfo.Port) bool { return IsRoCE(d, p) || d.IsEFA() }

// Read reads the settings of the RoCE ports, and compares them.
func (h Host) Read(devices []*devinfo.Device) *Overview {
	o := &Overview{Head: report.NewHead(Schema, time.Now()), Ports: []*PortSettings{}}
	for _, d := range devices {
		for _, p := range d.Ports {
			if !IsRoCE(d, p) {
				continue
			}
			s, problems := h.Port(d, p)
			o.Ports = append(o.Ports, s)
			o.addProblems(s, problems)
			for _, m := range s.Mismatches() {
				o.Add(m.Finding())
			}
		}
	}
	return o
}

func (o *Overview) addProblems(s *PortSettings, errs []error) {
	for _, l := range s.Links {
		if l.Problem != nil {
			errs = append(errs, l.Problem)
		}
	}
	for _, err := range errs {
		o.Problems = append(o.Problems, devinfo.Problem{Device: s.Device, Err: err})
		o.Fail(report.Failure{Subject: s.Name(), Port: &s.Number, Error: err.Error()})
	}
}

// prioritiesOf returns the priorities with a value, never nil.
func prioritiesOf(values [dcbnl.Priorities]uint8, value int) []int {
	all := []int{}
	for p, v := range values {
		if int(v) == value {
			all = append(all, p)
		}
	}
	return all
}

// setBridging adds the kernel's settings.
func (s *NetdevSettings) setBridging(b *dcbnl.Bridging) {
	s.bridging, s.PFC, s.Default = b, dcbnl.PrioritiesIn(b.Enabled), b.Default
	s.DSCP = map[string]uint8{}
	for code, priority := range b.DSCP {
		s.DSCP[strconv.Itoa(int(code))] = priority
	}
	if b.Peer != nil {
		s.PeerPFC = dcbnl.PrioritiesIn(*b.Peer)
	}
	if b.DCBX != nil {
		s.DCBX = new(b.DCBX.String())
	}
	if s.Trust == nil && len(b.Trust) > 0 {
		s.Trust = &b.Trust[0]
	}
	for i := range dcbnl.Priorities {
		if b.Buffers != nil && (b.Buffers.Size[i] > 0 || slices.Contains(b.Buffers.Buffer[:], uint8(i))) {
			s.Buffers = append(s.Buffers, Buffer{i, b.Buffers.Size[i], prioritiesOf(b.Buffers.Buffer, i)})
		}
		if b.ETS != nil && slices.Contains(b.ETS.Class[:], uint8(i)) {
			s.Classes = append(s.Classes, TrafficClass{i, b.ETS.Algorithm[i].String(), b.ETS.Share[i], prioritiesOf(b.ETS.Class, i)})
		}
	}
}
