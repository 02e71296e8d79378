package mesh

import "math"

// A Congestion compares victims without and with congestors, in JSON.
type Congestion struct {
	Victims   int     `json:"victims"`   // flows that were measured both times
	Bandwidth *Impact `json:"bandwidth"` // null: no figure
	Latency   *Impact `json:"latency"`
}

// An Impact is the change of a mean by congestors, as GPCNeT reports it.
type Impact struct {
	Alone  float64    `json:"alone"` // Gbit/s or µs
	Loaded float64    `json:"loaded"`
	Ratio  float64    `json:"ratio"` // of loaded to alone
	Worst  WorstRatio `json:"worst"`
}

// A WorstRatio is the victim that congestors slow most.
type WorstRatio struct {
	Source      string  `json:"src"`
	Destination string  `json:"dst"`
	Ratio       float64 `json:"ratio"`
}

// reportCongestion compares the victims. Congestion is no finding: without congestion control,
// or with a ratio that the network is built for, it is normal.
func (j *judge) reportCongestion() {
	if len(j.results.Loaded) == 0 {
		return
	}
	alone := map[[2]int32]*Flow{}
	for i := range j.results.Flows {
		f := &j.results.Flows[i]
		alone[[2]int32{f.From, f.To}] = f
	}
	c := &Congestion{}
	var before, with []*Flow
	for i := range j.results.Loaded {
		f := &j.results.Loaded[i]
		if old := alone[[2]int32{f.From, f.To}]; old != nil && !old.Failed() && !f.Failed() {
			before, with = append(before, old), append(with, f)
		}
	}
	c.Victims = len(with)
	c.Bandwidth = j.impact(before, with, func(f *Flow) float32 { return f.Gbps }, func(a, b float64) bool { return a < b })
	c.Latency = j.impact(before, with, func(f *Flow) float32 { return f.Micros }, func(a, b float64) bool { return a > b })
	j.result.Congestion = c
}

// impact compares a figure of flows.
func (j *judge) impact(before, with []*Flow, figure func(*Flow) float32, isWorse func(a, b float64) bool) *Impact {
	i, n := &Impact{}, 0.0
	for k, f := range with {
		alone, loaded := float64(figure(before[k])), float64(figure(f))
		if math.IsNaN(alone + loaded) {
			continue
		}
		i.Alone, i.Loaded, n = i.Alone+alone, i.Loaded+loaded, n+1
		if ratio := loaded / alone; n == 1 || isWorse(ratio, i.Worst.Ratio) {
			i.Worst = WorstRatio{j.endpoint(f.From), j.endpoint(f.To), ratio}
		}
	}
	if n == 0 {
		return nil
	}
	return &Impact{round(i.Alone / n), round(i.Loaded / n), round(i.Loaded / i.Alone), WorstRatio{i.Worst.Source, i.Worst.Destination, round(i.Worst.Ratio)}}
}
