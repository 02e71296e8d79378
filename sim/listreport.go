package sim

// ListSchema identifies the JSON form for a [ListReport]; schema/sim-list.json describes it.
const ListSchema = "ibkit/sim-list/1"

// A ListReport is the document that "ibkit sim list --json" prints.
type ListReport struct {
	Schema  string         `json:"schema"`
	Presets []PresetReport `json:"presets"`
}

// A PresetReport is a [Preset].
type PresetReport struct {
	Name       string      `json:"name"`
	About      string      `json:"about"`
	Parameters []Parameter `json:"parameters"`
}

// NewListReport returns the report on all presets.
func NewListReport() *ListReport {
	r := &ListReport{Schema: ListSchema, Presets: make([]PresetReport, len(Presets))}
	for i, p := range Presets {
		r.Presets[i] = PresetReport{p.Name, p.About, append([]Parameter{}, p.Parameters...)}
	}
	return r
}
