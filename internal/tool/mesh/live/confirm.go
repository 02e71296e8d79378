package live

import (
	"context"

	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
)

// confirmSteps limits the analyses with retests: the retest of a suspect can blame another.
const confirmSteps = 3

// Conclude analyses the outcome, measures the flows of suspects one by one without others, and
// analyses again with these figures. In a known fabric, the counters of suspects are
// compared with those before. An end of ctx leaves the rest unconfirmed.
func Conclude(ctx context.Context, c *crew.Crew, w *mesh.Wiring, o Options, out *Outcome, a mesh.Options) *mesh.Result {
	first := Judge(c, w, o, out, a)
	return watched(ctx, o, first, func() *mesh.Result { return confirm(ctx, c, w, o, out, a, first) })
}

// confirm repeats the analysis with the figures of suspects alone.
func confirm(ctx context.Context, c *crew.Crew, w *mesh.Wiring, o Options, out *Outcome, a mesh.Options, first *mesh.Result) *mesh.Result {
	last, again := first, *out
	again.Results = out.Results.Clone()
	var all []mesh.Retest
	done := map[[2]int32]bool{}
	for range confirmSteps {
		more := o.retest(ctx, c, last.Suspects(), done, again.Results)
		if len(more) == 0 {
			break
		}
		all = append(all, more...)
		last = Judge(c, w, o, &again, a)
	}
	if last != first {
		last.AddRefuted(first, all)
	}
	last.AddRetests(all)
	return last
}

// retest measures flows that are not done yet, each alone, and replaces their figures.
func (o Options) retest(ctx context.Context, c *crew.Crew, flows []mesh.Flow, done map[[2]int32]bool, results *mesh.Results) (all []mesh.Retest) {
	for _, f := range flows {
		if done[[2]int32{f.From, f.To}] {
			continue
		}
		at, outcomes, err := o.round(ctx, c, noRound, []mesh.Flow{f})
		if err != nil {
			return all
		}
		done[[2]int32{f.From, f.To}] = true
		if len(outcomes) == 0 || outcomes[0].State != crew.Measured {
			continue
		}
		got := outcomes[0].Figures
		figures := mesh.NewFlow(at[0], got.Gbps, got.Latency)
		results.Replace(figures)
		all = append(all, mesh.NewRetest(figures, got.Error, o.signTexts(got.Signs)))
	}
	return all
}

// signTexts names the end of each sign.
func (o Options) signTexts(signs []crew.Sign) []string {
	texts := []string{}
	for _, s := range signs {
		end := "sender"
		if s.Receiver != o.Reads {
			end = "receiver"
		}
		texts = append(texts, end+": "+s.Text)
	}
	return texts
}
