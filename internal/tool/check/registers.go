package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/report"
)

// Limits of the stages that read registers.
const (
	// MaxRegisterEnds is the largest number of link ends with registers to read by
	// default: about a second.
	MaxRegisterEnds = 4096

	registerLimit = time.Minute
)

// Finding kinds in the stages that read registers.
var (
	cableKinds = []report.Kind{
		report.DirtyFibre, report.WeakLight, report.WeakTransmitter, report.ModuleFault, report.CableFirmware, report.Flapped, report.Invalid, report.Unchecked,
	}
	temperatureKinds = []report.Kind{report.HotModule, report.HotDevice, report.FanFailed, report.Invalid, report.Unchecked}
	powerKinds       = []report.Kind{report.PowerLost, report.Unchecked}
)

// needsRegisters requires registers in the file, or a fabric that is small enough, or the
// caller's consent.
func needsRegisters(r *fabricRun) string {
	if s := r.opts.Stored; s != nil {
		if !phy.HasRegisters(s) {
			return "the file has no registers"
		}
		return ""
	}
	if n := r.linkEnds(); n > MaxRegisterEnds && !r.opts.Registers && !slices.Contains(r.only, r.stage.Name) {
		return fmt.Sprintf("registers of %d link ends are read on request only", n)
	}
	return ""
}

// needsPower requires registers that no file has.
func needsPower(r *fabricRun) string { return cmp.Or(needsRequests(r), needsRegisters(r)) }

// needsErrors requires counters or registers.
func needsErrors(r *fabricRun) string {
	if r.opts.Stored != nil && needsRegisters(r) == "" {
		return ""
	}
	return needsCounters(r)
}

// linkEnds returns the number of ports with a peer.
func (r *fabricRun) linkEnds() (n int) {
	for _, node := range r.fabric.Nodes {
		for _, p := range node.Ports {
			if p != nil && p.Peer != nil {
				n++
			}
		}
	}
	return n
}

// readRegisters reads the registers, if another stage has not read them. It reports whether
// a device has registers.
func (r *fabricRun) readRegisters(ctx context.Context) (found bool, err error) {
	if s := r.opts.Stored; s != nil && r.registers == nil {
		r.registers = phy.FromDatabase(s, phy.Options{Names: r.names})
	}
	if r.registers == nil {
		r.registers, err = phy.Run(ctx, phy.Options{
			Source: r.source(), Key: r.opts.VendorKey, Names: r.names, Silent: r.firmware.isSilent, Switches: true, Limit: registerLimit,
		})
		if err != nil {
			return false, err
		}
	}
	return r.registers.Readable() > 0, nil
}

// registerStages are the stages that judge registers, by their names. All other registers
// belong to the stage cables.
var registerStages = map[string]string{
	register.IDPPCNT.String(): "ber", register.IDMSPS.String(): "power",
	register.IDMTCAP.String(): "temperature", register.IDMTMP.String(): "temperature",
	register.IDMFCR.String(): "temperature", register.IDMFSM.String(): "temperature", register.IDMFSL.String(): "temperature",
	register.IDMTBR.String(): "temperature", register.IDMGPIR.String(): "temperature",
}

// addRegisters reads the registers, and adds the findings and gaps that belong to the
// current stage. The stage is skipped if no device has registers.
func (r *fabricRun) addRegisters(ctx context.Context) error {
	found, err := r.readRegisters(ctx)
	if err != nil {
		return err
	}
	gaps := map[*phy.Device][]phy.Gap{}
	for _, e := range r.registers.Ends {
		r.addRegisterFindings(e.Findings, true, r.peerText(e.Port))
		gaps[e.Device] = append(gaps[e.Device], r.ownGaps(e.Gaps)...)
	}
	for _, d := range r.registers.Devices {
		r.addRegisterFindings(d.Findings, false, "")
		switch list := append(gaps[d], r.ownGaps(d.Gaps)...); {
		case len(list) == 0, !found:
		case d.Port.Unreachable() != nil:
			r.add(r.portFinding(report.Unchecked, d.Port, "%s: %v", list[0].Register, list[0].Err).WithHint(report.NotActive.Info().Hint))
		default:
			r.add(r.nodeFinding(report.Unchecked, d.Port.Node, "%s without a valid reply, first %s: %v",
				count(len(list), "register"), list[0].Register, list[0].Err).WithHint("ibkit phy --node {node}"))
		}
	}
	if r.registers.Unfinished {
		r.add(finding(report.Unchecked, "", "the requests for registers ended after %v", registerLimit).WithHint("ibkit phy"))
	}
	if !found {
		r.lacks(r.noRegisters())
	}
	return nil
}

// addRegisterFindings adds findings for the current stage's kinds. Invalid values at link
// ends belong to the cables, and in devices to the temperatures.
func (r *fabricRun) addRegisterFindings(findings []report.Finding, ofEnd bool, suffix string) {
	for _, f := range findings {
		if slices.Contains(r.kinds, f.Kind) && (f.Kind != report.Invalid || ofEnd == (r.stage.Name == "cables")) {
			f.Detail += suffix
			r.add(f)
		}
	}
}

// ownGaps returns the gaps of the current stage's registers that are no rejections. A single
// finding has the requests that the time limit ended.
func (r *fabricRun) ownGaps(gaps []phy.Gap) (own []phy.Gap) {
	for _, g := range gaps {
		name, _, _ := strings.Cut(g.Register, " ")
		if !g.IsRejected() && !errors.Is(g.Err, phy.ErrLimit) && cmp.Or(registerStages[name], "cables") == r.stage.Name {
			own = append(own, g)
		}
	}
	return own
}

// noRegisters returns the reason why no device was read, once for all stages.
func (r *fabricRun) noRegisters() string {
	if r.stage.Name != "cables" && r.selects("cables") {
		return "no registers, see cables"
	}
	return cmp.Or(r.unread(), "no device to read")
}

// unread counts the devices that were not read by their reasons, "" if all were.
func (r *fabricRun) unread() string {
	reasons := map[string]int{}
	for _, d := range r.registers.Devices {
		if d.Missing != nil {
			reasons[d.Missing.Error()]++
		}
	}
	order := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(reasons[b], reasons[a]), cmp.Compare(a, b))
	})
	for i, reason := range order {
		order[i] = fmt.Sprintf("%s not read: %s", count(reasons[reason], "device"), reason)
	}
	return strings.Join(order, "; ")
}

// summarize sets the comment of a stage that has read registers.
func (r *fabricRun) summarize(format string, args ...any) {
	if r.stage.Status == Skipped {
		return
	}
	r.comment(format, args...)
	if unread := r.unread(); unread != "" {
		r.stage.Comment += "; " + unread
	}
}

// checkCables reports the light, the modules and the causes of links that went down.
func checkCables(ctx context.Context, r *fabricRun) error {
	if err := r.addRegisters(ctx); err != nil {
		return err
	}
	known := 0
	for _, e := range r.registers.Ends {
		if e.Module != nil {
			known++
		}
	}
	r.summarize("%d of %s", known, count(len(r.registers.Ends), "link end"))
	return nil
}

// checkTemperature reports temperatures above limits, and fans.
func checkTemperature(ctx context.Context, r *fabricRun) error {
	if err := r.addRegisters(ctx); err != nil {
		return err
	}
	modules, sensors, fans := 0, 0, 0
	for _, e := range r.registers.Ends {
		if e.Module != nil && e.Module.IsOptical() {
			modules++
		}
	}
	for _, d := range r.registers.Devices {
		sensors, fans = sensors+len(d.Sensors), fans+len(d.Fans)
	}
	r.summarize("%s with a module's temperature, %s, %s", count(modules, "link end"), count(sensors, "device sensor"), count(fans, "fan"))
	return nil
}

// checkPower reports power supplies without power.
func checkPower(ctx context.Context, r *fabricRun) error {
	if err := r.addRegisters(ctx); err != nil {
		return err
	}
	present := 0
	for _, d := range r.registers.Devices {
		if d.Supplies == nil {
			continue
		}
		for i := range d.Supplies.Units {
			if d.Supplies.Units[i].IsPresent() {
				present++
			}
		}
	}
	r.summarize("%s", plural.Count(present, "power supply", "power supplies"))
	return nil
}

// checkTrueBER reports the bit error rates above limits that devices measure. It returns a
// summary, "" without registers.
func checkTrueBER(ctx context.Context, r *fabricRun) (string, error) {
	if needsRegisters(r) != "" {
		return "", nil
	}
	if err := r.addRegisters(ctx); err != nil {
		return "", err
	}
	if r.stage.Status == Skipped {
		r.stage.Status, r.stage.Comment, r.stage.NotJudged = Passed, "", false // the window rule may judge
		return "", nil
	}
	known := 0
	for _, e := range r.registers.Ends {
		if e.Bits != nil {
			known++
		}
	}
	return "effective and symbol BER of " + count(known, "link end") + " since counters were cleared", nil
}
