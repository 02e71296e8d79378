package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/internal/tool/sm"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// FabricOptions are the options for [Fabric].
type FabricOptions struct {
	// Source is the fabric to check. It is not opened with Stored.
	Source fabric.Source

	// Stored, if not nil, is the fabric to check, and perhaps its counters. Stages that
	// send requests are skipped.
	Stored *ibdiagnet.Database

	// Tables, if not nil, are forwarding tables from files, in place of the switches' own.
	Tables *route.Routing

	SMLID ib.LID  // of subnet administration; 0: that of the local port's manager
	SMKey mad.Key // for multicast group members; 0: as an untrusted client

	VendorKey mad.Key // for registers
	Registers bool    // read the registers of more than MaxRegisterEnds link ends, too

	Plan   *topology.Plan     // intended cabling; nil: unknown
	Since  *counters.Baseline // earlier counters; may be nil
	Window time.Duration      // between two counter readings; 0: a single reading

	Limits Limits
	Only   []string // stage names to run; nil: all
	Skip   []string // stage names to leave out
	Names  *fabric.NameMap
}

// A FabricStage is a stage in [Fabric].
type FabricStage struct {
	Name  string
	About string // the stage's subject, as a noun phrase
	Kinds []report.Kind

	// needs returns the data that the source lacks for the stage, "" if it has all.
	needs func(*fabricRun) string
	run   func(context.Context, *fabricRun) error
}

// FabricStages returns the stages in [Fabric] in their order: a later finding is often a
// consequence of an earlier finding.
func FabricStages() []FabricStage { return slices.Clone(fabricStages) }

// fabricStages has most names from UFM's validation tests (Mellanox/ufm_sdk_3.0,
// scripts/ufm_validation_test).
var fabricStages = []FabricStage{
	{"discovery", "replies from all nodes and ports", []report.Kind{report.NoReply, report.Blind, report.Conflict, report.Unchecked}, always, checkDiscovery},
	{"lids", "LIDs: assigned, unique, fitting their LMC", lidKinds, always, checkLIDs},
	{"guids", "GUIDs: not zero, unique", guidKinds, always, checkGUIDs},
	{"names", "node descriptions: not empty, unique", nameKinds, always, checkNames},
	{"links", "link states, compared at both ends", linkKinds, always, checkLinks},
	{"speed", "link speed and width against both ends and the thresholds", append(speedKinds, report.BelowMinimum), always, checkSpeed},
	{"sm", "subnet managers: one active master", sm.Kinds, needsRequests, checkManagers},
	{"sa", "nodes that subnet administration lists, compared with the scan", []report.Kind{report.UnscannedNode, report.Unchecked}, needsScan, checkRecords},
	{"pkeys", "port partitions, compared with their switch", []report.Kind{report.NoDefaultPKey, report.NotOnSwitch, report.LimitedMembers, report.Unchecked}, needsRequests, checkPartitions},
	{"cables", "cables and modules: light, faults, firmware", cableKinds, needsRegisters, checkCables},
	{"temperature", "temperatures of modules and switches, fans", temperatureKinds, needsRegisters, checkTemperature},
	{"power", "power supplies of switches", powerKinds, needsPower, checkPower},
	{"counters", "port error counters", counterKinds, needsCounters, checkCounters},
	{"ber", "bit error rates: measured, and by the window rule", []report.Kind{report.BitErrors, report.Unchecked}, needsErrors, checkBER},
	{"firmware", "firmware versions within a device type", []report.Kind{report.FirmwareDiffers, report.Unchecked}, needsRequests, checkFirmware},
	{"routing", "paths between all ports, loops, balance, multicast", append(slices.Clone(route.Kinds), report.Unchecked), needsTables, checkRouting},
	{"tree", "switch structure, fat tree uplinks", []report.Kind{report.WrongStructure, report.LevelLink, report.FewUplinks, report.UnevenUplinks}, always, checkTree},
	{"rails", "rails: host adapters on the leaf switches", []report.Kind{report.WrongRail}, always, checkRails},
	{"plan", "cabling, compared with the plan", planKinds, always, checkPlan},
}

// Finding kinds by stage.
var (
	lidKinds  = []report.Kind{report.ZeroLID, report.DuplicateLID, report.LIDRange}
	guidKinds = []report.Kind{report.ZeroGUID, report.DuplicateGUID}
	nameKinds = []report.Kind{report.EmptyName, report.DuplicateName}
	linkKinds = []report.Kind{
		report.NoReply, report.NoPeer, report.OneSided, report.NotActive, report.Unstable, report.Disabled, report.Invalid,
	}
	speedKinds   = []report.Kind{report.Narrow, report.Slow, report.Limited, report.Uneven, report.SlowParallel}
	counterKinds = []report.Kind{
		report.Exceeded, report.Increased, report.Congested, report.Flapped, report.Saturated, report.Cleared, report.Disappeared, report.Unchecked,
	}
	planKinds = []report.Kind{
		report.MissingNode, report.MissingCable, report.WrongPeer, report.Swapped, report.UnexpectedCable, report.Slower, report.Ambiguous,
		report.DuplicateName, report.Unchecked,
	}
)

func always(*fabricRun) string { return "" }

// noStates is the reason to skip stages about the states at both link ends. The active
// widths and speeds are known.
const noStates = "the file has no states of links"

func needsRequests(r *fabricRun) string {
	if r.opts.Stored != nil {
		return "not stored in files"
	}
	return ""
}

func needsCounters(r *fabricRun) string {
	if r.opts.Stored != nil && len(r.opts.Stored.Counters) == 0 {
		return "the file has no counters"
	}
	return ""
}

func needsTables(r *fabricRun) string {
	if r.opts.Stored != nil && r.opts.Tables == nil {
		return "requires files with tables"
	}
	return ""
}

// fabricRun is a single run through the stages.
type fabricRun struct {
	*runner
	opts   FabricOptions
	fabric *fabric.Fabric
	names  *fabric.NameMap

	topology  []report.Finding // of three stages
	ends      []linkinfo.End   // of two stages; nil: not read
	counters  *counters.Result // of two stages; nil: not read
	registers *phy.Result      // of four stages; nil: not read
	firmware  *firmwareProbe   // nil: not read
	master    string           // name of the first master subnet manager; "": unknown

	pathEnds map[ib.GUID]*fabric.Port // of nodes that the scan did not find
}

// Fabric checks a fabric. It returns an error if no fabric could be read, if a request
// could not be sent, or if ctx ends.
func Fabric(ctx context.Context, o FabricOptions) (*Report, error) {
	r := &fabricRun{
		runner: newRunner("fabric", &o.Limits, o.Only, o.Skip), opts: o, names: o.Names, pathEnds: map[ib.GUID]*fabric.Port{},
	}
	for _, s := range fabricStages {
		if !r.selects(s.Name) && s.Name != fabricStages[0].Name {
			continue
		}
		start := r.begin(s.Name, s.About, s.Kinds)
		if r.fabric != nil && r.fabric.Blind() != nil {
			r.skipped("%v", fabric.ErrBlind) // nothing to check
		} else if lack := s.needs(r); lack != "" {
			r.lacks(lack)
		} else if err := s.run(ctx, r); err != nil {
			return nil, err
		}
		r.end(start)
	}
	if !r.selects(fabricStages[0].Name) && r.fabric.Blind() == nil {
		r.leaveOut(fabricStages[0].Name)
	}
	r.values()
	r.hintMaster()
	r.repairCauses()
	names := r.names.UniqueNames(r.fabric)
	r.result.Groups = r.groups(names)
	r.result.NameHints(names)
	return r.finish(), nil
}

// hintMaster sets the next step for inactive links if there is a master subnet manager. Without
// the stage for subnet managers, it is the manager that the ports name.
func (r *fabricRun) hintMaster() {
	isMissing := func(f report.Finding) bool { return f.Kind == report.NoMaster }
	if r.master == "" && !slices.ContainsFunc(r.result.Findings, isMissing) {
		r.master = topology.MasterName(r.fabric, r.names)
	}
	for i := range r.result.Findings {
		f := &r.result.Findings[i]
		if r.master == "" || f.NodeGUID == nil || f.Hint != report.NotActive.Info().Hint {
			continue
		}
		if p := r.portOf(*f, r.fabric.NodeByGUID(*f.NodeGUID)); p != nil {
			f.Hint = topology.ActivationHint(p, r.master)
		}
	}
}

// leaveOut removes a stage that ran only for the others.
func (r *runner) leaveOut(name string) {
	s := r.result.Stages[0]
	r.result.Errors -= s.Errors
	r.result.Warnings -= s.Warnings
	r.result.Stages = r.result.Stages[1:]
	r.result.Findings = slices.DeleteFunc(r.result.Findings, func(f report.Finding) bool { return StageOf(f) == name })
}

// values adds the fabric's sizes.
func (r *fabricRun) values() {
	s := topology.Summarize(r.fabric, 0)
	r.value("switches", float64(s.Switches), "")
	r.value("adapters", float64(s.CAs), "")
	r.value("cables", float64(s.Cables), "")
}

// checkDiscovery reads the fabric.
func checkDiscovery(ctx context.Context, r *fabricRun) error {
	if r.opts.Stored != nil {
		r.fabric = r.opts.Stored.Fabric
	} else {
		result, err := linkinfo.Run(ctx, linkinfo.Options{Source: r.opts.Source})
		if err != nil {
			return err
		}
		r.fabric = result.Fabric
	}
	f := r.fabric
	r.result.Fail(f.ReportFailures(r.names)...)
	r.result.Partial = f.Partial()
	r.topology = topology.Check(f, r.names)
	r.addTopology(r.topology, report.Blind)
	for _, failure := range f.Failures {
		if !errors.Is(failure.Err, fabric.ErrBlind) {
			r.add(r.failed(failure))
		}
	}
	if f.Unanswered > 0 {
		r.add(finding(report.NoReply, "", "the stored scan has %s without a reply", count(f.Unanswered, "request")).WithHint("scan the fabric again"))
	}
	for _, c := range f.Conflicts {
		r.add(finding(report.Conflict, c.GUID.String(), "%s", c.Detail).At(c.GUID, int(c.Port)))
	}
	s := topology.Summarize(f, 0)
	r.comment("%s, %s, %s", count(s.Switches, "switch"), count(s.CAs, "adapter"), count(s.Cables, "cable"))
	return nil
}

// finding returns a finding with a formatted detail.
func finding(kind report.Kind, subject, format string, args ...any) report.Finding {
	return report.New(kind, subject, fmt.Sprintf(format, args...))
}

// failed returns the finding for a request without a response, or for damage in the
// fabric's file.
func (r *fabricRun) failed(failure fabric.Failure) report.Finding {
	n := r.fabric.NodeByGUID(failure.NodeGUID)
	subject := ""
	switch {
	case n != nil:
		subject = r.nodePort(n, failure.Port)
	case !failure.IsDamage():
		subject = failure.Route.String()
	}
	if failure.IsDamage() {
		f := finding(report.Unchecked, subject, "%v", failure.Err).WithHint(damageHint)
		if n != nil {
			f = f.At(n.GUID, int(failure.Port))
		}
		return f
	}
	f := finding(report.NoReply, subject, "%v: %v", failure.Attr, failure.Err).At(failure.NodeGUID, int(failure.Port))
	if failure.LID == 0 { // {node} may be the node before the one without a reply
		f = f.WithHint(strings.ReplaceAll(report.NoReply.Info().Hint, "{node}", failure.Route.String()))
	}
	return f
}

// damageHint is the next step for a file that could be read in part only.
const damageHint = "store the fabric again: the file is damaged, or has lines of other programs"

// nodePort returns a node's name with a port number, if the number is a port's.
func (r *fabricRun) nodePort(n *fabric.Node, port uint8) string {
	if port == 0 || port == mad.AllPorts {
		return r.names.Label(n)
	}
	return fabric.PortName(r.names.Label(n), int(port))
}

// nodeFinding returns a finding about a node.
func (r *fabricRun) nodeFinding(kind report.Kind, n *fabric.Node, format string, args ...any) report.Finding {
	return finding(kind, r.names.Label(n), format, args...).At(n.GUID, -1)
}

// portFinding returns a finding about a port.
func (r *fabricRun) portFinding(kind report.Kind, p *fabric.Port, format string, args ...any) report.Finding {
	return finding(kind, r.names.PortName(p), format, args...).At(p.Node.GUID, int(p.Number))
}

// count returns a number with a noun in its form.
func count(n int, noun string) string {
	ending := "s"
	if noun[len(noun)-1] == 'h' {
		ending = "es"
	}
	return plural.Count(n, noun, noun+ending)
}

// source returns the source with the scanned fabric, for the stages after the scan. These do
// not report their progress.
func (r *fabricRun) source() fabric.Source {
	s := r.opts.Source
	s.Stored, s.Progress = r.fabric, nil
	return s
}

// call runs a function with a client on the local port.
func (r *fabricRun) call(ctx context.Context, o umad.ClientOptions, f func(*umad.Client)) (err error) {
	source := r.opts.Source
	source.Client = o
	s, err := source.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	f(s.Client)
	return s.Client.Run(ctx)
}
