package cmdutil

import "github.com/ibkit/ibkit/fabric"

// PartialVerdict returns the verdict on a partial result. It is not a good one if the scan is
// blind: see [fabric.Fabric.Blind].
func PartialVerdict(blind error, problems int, verdict string) string {
	if blind != nil && problems == 0 {
		return "partial result, " + fabric.ErrBlind.Error()
	}
	return "partial result, " + verdict
}
