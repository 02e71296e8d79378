package fabric

import "fmt"

// FailureError returns a failure with the name of its node and the port, such as
// "leaf1[3]: Get PortInfo (modifier 0x3) of route 0,1, sent 3 times: no reply in time".
func (f *Fabric) FailureError(failure Failure, names *NameMap) error {
	place := "start of the scan"
	if n := f.NodeByGUID(failure.NodeGUID); n != nil {
		place = PortName(names.Label(n), int(failure.Port))
	}
	return fmt.Errorf("%s: %w", place, failure.Err)
}

// FailureErrors returns the failures of a scan by [Fabric.FailureError], and the reason why it
// ended early.
func (f *Fabric) FailureErrors(names *NameMap) []error {
	var all []error
	for _, failure := range f.Failures {
		all = append(all, f.FailureError(failure, names))
	}
	if f.Unanswered > 0 {
		all = append(all, fmt.Errorf("%d requests of the stored scan failed", f.Unanswered))
	}
	if f.Aborted != nil {
		all = append(all, f.Aborted)
	}
	return all
}
