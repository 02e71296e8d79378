package peers

import "time"

// A Step is a step of a connection. Peers send its number to each other.
type Step int

// The steps (enum step of cmtime.c).
const (
	StepFull Step = iota
	StepCreate
	StepBind
	StepAddress
	StepRoute
	StepCreateQP
	StepInitAttr
	StepInit
	StepRTRAttr
	StepRTR
	StepRTSAttr
	StepRTS
	StepConnect
	StepEstablish
	StepDisconnect
	StepDestroy
	StepDestroyQP
	stepCount
)

var stepNames = [stepCount]string{
	"full connect", "create id", "bind addr", "resolve addr", "resolve route", "create qp", "init qp attr", "init qp", "rtr qp attr", "rtr qp",
	"rts qp attr", "rts qp", "cm connect", "establish", "disconnect", "destroy id", "destroy qp",
}

// String returns the name that cmtime prints.
func (s Step) String() string { return stepNames[s] }

// Times are a step's times in microseconds.
type Times struct {
	Step          Step
	Total         int64 // from the first begin to the last end
	Sum, Min, Max int64 // of the connections; 0 without any
}

// A span is the begin and the end of a step, zero if it has none.
type span struct{ begin, end time.Time }

func (s span) micro() int64 {
	if s.begin.IsZero() || s.end.IsZero() {
		return 0
	}
	return s.end.Sub(s.begin).Microseconds()
}

// summarize returns the times of all steps.
func summarize(whole [stepCount]span, conns []*conn) []Times {
	all := make([]Times, stepCount)
	for s := range all {
		t := &all[s]
		t.Step, t.Total = Step(s), whole[s].micro()
		first := true
		for _, c := range conns {
			if c.spans[s].begin.IsZero() || c.spans[s].end.IsZero() {
				continue
			}
			us := c.spans[s].micro()
			t.Sum, t.Max = t.Sum+us, max(t.Max, us)
			if first || us < t.Min {
				t.Min, first = us, false
			}
		}
	}
	all[StepFull].Sum = 0 // the connections wait for each other
	return all
}
