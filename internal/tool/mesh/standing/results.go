package standing

import "github.com/ibkit/ibkit/internal/tool/mesh"

// Results returns the flows of the windows of several hosts.
func Results(all []*Document) *mesh.Results {
	index := map[string]int32{}
	var names []string
	number := func(name string) int32 {
		i, known := index[name]
		if !known {
			i = int32(len(names))
			index[name], names = i, append(names, name)
		}
		return i
	}
	for _, d := range all {
		for i := range d.Flows {
			number(d.Flows[i].Source)
			number(d.Flows[i].Destination)
		}
	}
	r := mesh.NewResults(names)
	for _, d := range all {
		if d.Leaf != "" {
			r.SetLeaf(d.Source, d.Leaf)
		}
		for i := range d.Flows {
			f := &d.Flows[i]
			ends := mesh.Flow{From: number(f.Source), To: number(f.Destination)}
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
