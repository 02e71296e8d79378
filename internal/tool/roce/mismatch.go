package roce

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/report"
)

// A Mismatch is a pair of settings that do not fit, with the commands that repair it.
type Mismatch struct {
	Kind     report.Kind
	Severity report.Severity
	Port     *PortSettings
	Link     *NetdevSettings // nil: the port
	Found    string
	Why      string   // effect
	Fix      []string // commands for a root shell
	Hint     string   // advice that no command covers
}

// Finding returns the mismatch with its commands as the next step.
func (m Mismatch) Finding() report.Finding {
	f := report.New(m.Kind, m.Port.Name(), m.Found)
	f.Severity, f.Port = m.Severity, &m.Port.Number
	f.Hint = strings.Join(slices.Concat(m.Fix, nonEmpty(m.Hint)), "; ")
	return f
}

// nonEmpty returns a list with a text, unless it is "".
func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// word returns the name of a network device in a command.
func word(l *NetdevSettings) string { return textfile.ShellWord(l.Netdev) }

// A judge collects the mismatches of a port.
type judge struct {
	port *PortSettings
	all  []Mismatch
}

func (j *judge) add(l *NetdevSettings, m Mismatch) {
	m.Port, m.Link = j.port, l
	if m.Severity == "" {
		m.Severity = m.Kind.Info().Severity
	}
	if l != nil {
		m.Found = l.Netdev + ": " + m.Found
	}
	j.all = append(j.all, m)
}

// Mismatches compares the settings of an active port.
func (s *PortSettings) Mismatches() []Mismatch {
	if !s.Active {
		return nil
	}
	j := judge{port: s}
	for _, l := range s.Links {
		if l.bridging == nil {
			continue
		}
		before := len(j.all)
		switch bits.OnesCount8(l.bridging.Enabled) {
		case 0:
			j.noPFC(l)
		case 1, 2:
			j.mapping(l)
			j.buffers(l)
			j.queues(l)
			j.notifications(l)
		default:
			j.allPFC(l)
		}
		j.peer(l)
		j.agent(l, before)
	}
	j.sources()
	j.version()
	j.bond()
	return j.all
}

const whyLossless = "switches drop packets if a buffer is full; RoCE then retransmits all later packets too, and throughput collapses"

func (j *judge) noPFC(l *NetdevSettings) {
	found := "PFC is off"
	if p := l.Pause; p != nil && (p.Receive || p.Transmit) {
		found += ", pauses of all priorities are on"
	}
	j.add(l, Mismatch{
		Kind: report.Lossless, Severity: report.Info, Found: found, Why: whyLossless,
		Fix:  append(l.queuesFirst(), fmt.Sprintf("dcb pfc set dev %s prio-pfc 3:on", word(l))),
		Hint: "use the priority of your network (3 is common) on switches and peers too, and map the DSCP of RoCE to it; networks designed for ECN only or for lossy RoCE do not need PFC",
	})
}

func (j *judge) allPFC(l *NetdevSettings) {
	j.add(l, Mismatch{
		Kind: report.Lossless, Severity: report.Info, Found: l.flowControl(),
		Why:  "each paused priority needs buffers in switches, and pauses delay other traffic together with RoCE",
		Hint: "enable PFC only on the priority of RoCE",
	})
}

// mapping compares the packets' priorities with the ones that have flow control.
func (j *judge) mapping(l *NetdevSettings) {
	lossless := l.PFC[0]
	codes := l.losslessCodes()
	switch byTag := l.Trust != nil && *l.Trust == "pcp" && !j.port.VLAN; {
	case byTag && (l.trustFile != "" || l.bridging.Trust != nil):
		fix := fmt.Sprintf("dcb apptrust set dev %s order dscp", word(l))
		if l.trustFile != "" {
			fix = "echo dscp >" + l.trustFile
		}
		j.add(l, Mismatch{
			Kind: report.RoCETrust, Found: "the adapter takes the priority from the VLAN tag, which RoCE packets do not have here",
			Why: "RoCE packets use a priority without flow control", Fix: []string{fix},
		})
		return
	case codes == nil:
		j.add(l, Mismatch{
			Kind: report.Lossless, Severity: report.Info, Found: l.flowControl() + "; no DSCP is mapped to it",
			Why:  "packets without a VLAN tag get their priority from the DSCP: RoCE packets use a priority without flow control",
			Fix:  []string{fmt.Sprintf("dcb app add dev %s dscp-prio 26:%d", word(l), lossless)},
			Hint: "use the DSCP of your network (26 is common); not needed if RoCE runs over a VLAN with this priority",
		})
		return
	}
	for _, m := range l.Markings {
		switch {
		case m.Priority == nil || *m.PFC:
		case m.Source == ByProgram:
			tos := codes[0]<<2 | 2
			j.add(l, Mismatch{
				Kind: report.RoCEPriority, Severity: report.Info,
				Found: fmt.Sprintf("%s; programs that set no traffic class use priority %d, without flow control", l.flowControl(), *m.Priority),
				Why:   whyLossless, Fix: j.setToS(tos),
				Hint: fmt.Sprintf("or let programs set it: NCCL_IB_TC=%d, UCX_IB_TRAFFIC_CLASS=%[1]d, ibkit perf --traffic-class %[1]d", tos),
			})
		default:
			j.add(l, Mismatch{
				Kind: report.RoCEPriority, Found: fmt.Sprintf("%v; PFC is on for priority %s", m, list(l.PFC)), Why: whyLossless,
				Fix:  []string{fmt.Sprintf("dcb app replace dev %s dscp-prio %d:%d", word(l), m.DSCP, lossless)},
				Hint: fmt.Sprintf("or use a traffic class with DSCP %s", list(codes)),
			})
		}
	}
}

// losslessCodes returns the code points with flow control.
func (s *NetdevSettings) losslessCodes() []int {
	var codes []int
	for code := range 64 {
		if p, mapped := s.bridging.DSCP[uint8(code)]; mapped && slices.Contains(s.PFC, int(p)) {
			codes = append(codes, code)
		}
	}
	return codes
}

// setToS returns the commands that set rdma_cm's type of service.
func (j *judge) setToS(tos int) []string {
	dir := "/sys/kernel/config/rdma_cm/" + j.port.Device
	return []string{"mkdir -p " + dir, fmt.Sprintf("echo %d >%s/ports/%d/default_roce_tos", tos, dir, j.port.Number)}
}

// sources compares the traffic classes of verbs and rdma_cm.
func (j *judge) sources() {
	verbs, tos := j.port.TrafficClass, j.port.ToS
	if verbs == nil || tos == nil || *verbs>>2 == *tos>>2 {
		return
	}
	j.add(nil, Mismatch{
		Kind: report.RoCEClass, Found: fmt.Sprintf("the port has traffic class %d (DSCP %d), rdma_cm has %d (DSCP %d)", *verbs, *verbs>>2, *tos, *tos>>2),
		Why: "packets of one program may use different priorities", Fix: j.setToS(int(*verbs)),
	})
}

func (j *judge) version() {
	if v := j.port.Version; v != nil && *v != "RoCE v2" {
		dir := "/sys/kernel/config/rdma_cm/" + j.port.Device
		j.add(nil, Mismatch{
			Kind: report.RoCEVersion, Found: fmt.Sprintf("rdma_cm connects with %s", *v), Why: "its packets have no DSCP, and routers do not forward them",
			Fix: []string{fmt.Sprintf("echo 'RoCE v2' >%s/ports/%d/default_roce_mode", dir, j.port.Number)},
		})
	}
}

// list joins numbers.
func list(numbers []int) string { return strings.Trim(fmt.Sprint(numbers), "[]") }
