package fabric

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// FailureError returns a failure with its node's name and the port, such as "leaf1[3]:
// Get PortInfo (modifier 0x3) of route 0,1, sent 3 times: no reply in time".
func (f *Fabric) FailureError(failure Failure, names *NameMap) error {
	place := failure.place(f.NodeByGUID(failure.NodeGUID), names)
	switch {
	case failure.IsDamage():
		return failure.Err // which names the file and the line
	case place == "":
		place = "start of the scan"
	}
	return fmt.Errorf("%s: %w", place, failure.Err)
}

// place returns the failure's port in text, or its node; "" without a node. Damage in a
// file without a port is damage to the node.
func (f *Failure) place(n *Node, names *NameMap) string {
	switch {
	case n == nil:
		return ""
	case f.IsDamage() && f.Port == 0:
		return names.Label(n)
	}
	return PortName(names.Label(n), int(f.Port))
}

// FailureErrors returns a scan's failures by [Fabric.FailureError], and the reason why it
// ended early.
func (f *Fabric) FailureErrors(names *NameMap) []error {
	var all []error
	for _, failure := range f.Failures {
		all = append(all, f.FailureError(failure, names))
	}
	return append(all, f.otherFailures()...)
}

// otherFailures returns the failures without a request from this scan.
func (f *Fabric) otherFailures() (all []error) {
	if f.Unanswered > 0 {
		all = append(all, fmt.Errorf("%d requests of the stored scan failed", f.Unanswered))
	}
	if f.Aborted != nil {
		all = append(all, f.Aborted)
	}
	return all
}

// ReportFailures returns a scan's failures, and the reason why it ended early, as
// documents list them.
func (f *Fabric) ReportFailures(names *NameMap) []report.Failure {
	var all []report.Failure
	for _, failure := range f.Failures {
		r := report.Failure{
			Subject: failure.place(f.NodeByGUID(failure.NodeGUID), names), Error: failure.Err.Error(),
		}
		if !failure.IsDamage() {
			r.LID, r.Route = optional.NonZero(failure.LID), new(failure.Route.String())
			r.Attribute, r.Modifier = failure.Attr.String(), failure.Modifier
		}
		if !failure.IsDamage() || failure.Port != 0 {
			r.Port = new(int(failure.Port))
		}
		if failure.NodeGUID != 0 {
			r.NodeGUID = new(failure.NodeGUID)
		}
		all = append(all, r)
	}
	for _, err := range f.otherFailures() {
		all = append(all, ReportFailure("", err))
	}
	return all
}

// ReportFailure returns a failure as documents list it, with the request that err wraps, if
// any.
func ReportFailure(subject string, err error) report.Failure {
	r := report.Failure{Subject: subject, Error: err.Error()}
	var request *umad.Error
	if errors.As(err, &request) {
		r.Attribute, r.Modifier, r.LID = request.Class.AttrName(request.Attr), request.Modifier, optional.NonZero(request.To.LID)
		if !request.To.Route.IsNone() {
			r.Route = new(request.To.Route.String())
		}
	}
	return r
}
