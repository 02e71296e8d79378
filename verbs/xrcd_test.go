package verbs

import (
	"errors"
	"fmt"
	"testing"
)

// The XRC types require their own attributes when they connect.
func TestTransitions_XRC(t *testing.T) {
	for _, test := range []struct {
		kind     QPType
		from, to QPState
		mask     qpAttrMask
		missing  int
	}{
		{QPTypeXRCInit, QPStateInit, QPStateRTR, maskPath | maskPathMTU | maskDestQPN | maskRQPSN, 0},
		{QPTypeXRCTarget, QPStateInit, QPStateRTR, maskPath | maskPathMTU | maskDestQPN | maskRQPSN, 2},
		{QPTypeXRCInit, QPStateRTR, QPStateRTS, maskTimeout | maskSQPSN, 3},
		{QPTypeXRCTarget, QPStateRTR, QPStateRTS, maskTimeout | maskSQPSN, 0},
	} {
		t.Run(fmt.Sprint(test.kind, " from ", test.from, " to ", test.to), func(t *testing.T) {
			err := checkTransition(test.kind, false, test.from, test.to, test.mask)
			var transition *TransitionError
			switch {
			case test.missing == 0 && err != nil:
				t.Errorf("%v from %v to %v: got error %v, want none", test.kind, test.from, test.to, err)
			case test.missing > 0 && (!errors.As(err, &transition) || len(transition.Missing) != test.missing):
				t.Errorf("%v from %v to %v: got error %v, want %d missing attributes", test.kind, test.from, test.to, err, test.missing)
			}
		})
	}
}
