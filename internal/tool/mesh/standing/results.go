package standing

import "github.com/ibkit/ibkit/internal/tool/mesh"

// Results returns the flows of the windows of several hosts.
func Results(all []*Document) *mesh.Results {
	r := mesh.NewResults(nil)
	for _, d := range all {
		if d.Leaf != "" {
			r.SetLeaf(d.Source, d.Leaf)
		}
		for i := range d.Flows {
			f := &d.Flows[i]
			ends := mesh.Flow{From: r.Number(f.Source), To: r.Number(f.Destination)}
			var micros *float64
			if f.Micros != nil {
				micros = new(float64(*f.Micros))
			}
			r.Measure(mesh.Plain, ends, nil, micros)
			r.SetCount(ends.From, ends.To, mesh.Count{Sent: *f.Sent, Lost: *f.Lost})
		}
	}
	return r
}
