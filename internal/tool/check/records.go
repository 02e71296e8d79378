package check

import (
	"context"
	"errors"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// needsScan requires a fabric from a scan, to be compared with subnet administration.
func needsScan(r *fabricRun) string {
	if r.opts.Source.Discover != nil {
		return "the fabric is from subnet administration"
	}
	return needsRequests(r)
}

// checkRecords compares the scan with the nodes that subnet administration lists: nodes that
// do not respond, and nodes behind them, are only there. It skips the comparison if subnet
// administration does not respond.
func checkRecords(ctx context.Context, r *fabricRun) (err error) {
	if r.fabric.Unfinished() {
		r.lacks("the scan ended early")
		return nil
	}
	s, err := r.opts.Source.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	records, err := fabric.ReadRecords(ctx, s.Client, fabric.RecordOptions{To: umad.Target{LID: r.opts.SMLID}, SMKey: r.opts.SMKey, Lean: true})
	switch {
	case ctx.Err() != nil, errors.Is(err, umad.ErrDeviceRemoved):
		return err
	case err != nil:
		r.lacks(err.Error())
		return nil
	}
	for _, lack := range r.fabric.Lacks(records) {
		r.add(r.lackFinding(lack))
	}
	if len(records.Failures) > 0 {
		r.add(finding(report.Unchecked, "", "%v", records.Failures[0].Err).WithHint("ibkit sa NodeRecord"))
	}
	r.comment("%s in subnet administration", count(len(records.Nodes), "node"))
	return nil
}

// lackFinding returns the finding for a node that the scan did not find.
func (r *fabricRun) lackFinding(lack fabric.Lack) report.Finding {
	detail := "the scan did not find this node of subnet administration"
	if lack.End != nil {
		detail += "; the path to it ends at " + r.names.PortName(lack.End)
		r.pathEnds[lack.Node.GUID] = lack.End
	}
	return r.nodeFinding(report.UnscannedNode, lack.Node, "%s", detail)
}
