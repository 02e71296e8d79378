package sm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sm"
)

// A view prints a result.
type view struct {
	env      *cmdutil.Env
	names    *fabric.NameMap
	result   *sm.Result
	complete bool // all managers of the fabric, with a summary
}

// print writes the table or JSON.
func (v *view) print(asJSON bool) error {
	out := render.NewOutput(v.env.Out)
	if asJSON {
		v.json(out)
	} else {
		v.table(out)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// findings returns the number of findings.
func (v *view) findings() int {
	n := len(v.result.Findings)
	for _, m := range v.result.Managers {
		n += len(m.Findings)
	}
	return n
}

func (v *view) table(out *render.Output) {
	colour := render.NewPalette(v.env.Out, v.env.Getenv)
	if len(v.result.Managers) > 0 {
		render.Columns(out, []render.Column[*sm.Manager]{
			render.TextColumn("NODE", func(m *sm.Manager) string { return render.OrAbsent(v.name(m)) }),
			render.TextColumn("LID", lid),
			render.TextColumn("GUID", func(m *sm.Manager) string { return render.OrAbsent(render.Text(m.GUID())) }),
			render.TextColumn("STATE", func(m *sm.Manager) string { return ofInfo(m, func(i *mad.SMInfo) string { return i.State.String() }) }),
			render.TextColumn("PRIORITY", func(m *sm.Manager) string {
				return ofInfo(m, func(i *mad.SMInfo) string { return strconv.Itoa(int(i.Priority)) })
			}),
			render.TextColumn("ACTIVITY", func(m *sm.Manager) string {
				return ofInfo(m, func(i *mad.SMInfo) string { return strconv.FormatUint(uint64(i.ActCount), 10) })
			}),
			render.TextColumn("ADVANCES", advances),
			render.TextColumn("FINDING", func(m *sm.Manager) string { return kinds(m.Findings, colour) }),
		}, v.result.Managers)
	}
	for _, m := range v.result.Managers {
		for _, f := range m.Findings {
			fmt.Fprintf(out, "%s LID %s: %s\n", colour.Bad(string(f.Kind)+":"), lid(m), f.Detail)
		}
	}
	for _, f := range v.result.Findings {
		fmt.Fprintf(out, "%s %s\n", colour.Bad(string(f.Kind)+":"), f.Detail)
	}
	if !v.complete {
		return
	}
	verdict, mark := "no problems found", colour.Good
	if n := v.findings(); n > 0 {
		verdict, mark = render.Count(n, "problem", "problems"), colour.Bad
	}
	fmt.Fprintf(out, "%s: %s\n", render.Count(len(v.result.Managers), "subnet manager", "subnet managers"), mark(verdict))
}

func kinds(findings []sm.Finding, colour *render.Palette) string {
	var all []string
	for _, f := range findings {
		all = append(all, colour.Bad(string(f.Kind)))
	}
	return strings.Join(all, " ")
}

func (v *view) name(m *sm.Manager) string {
	if m.Node == nil || m.Description == nil {
		return ""
	}
	return v.names.NameOf(m.Node.NodeGUID, *m.Description)
}

func lid(m *sm.Manager) string {
	if m.To.Route != "" || m.To.LID == 0 {
		return m.To.Route.String()
	}
	return strconv.Itoa(int(m.To.LID))
}

// ofInfo returns a value of the last SMInfo.
func ofInfo(m *sm.Manager, text func(*mad.SMInfo) string) string {
	switch {
	case m.Later != nil:
		return text(m.Later)
	case m.Info != nil:
		return text(m.Info)
	}
	return render.Absent
}

func advances(m *sm.Manager) string {
	switch a := m.Advanced(); {
	case a == nil:
		return render.Absent
	case *a:
		return "yes"
	}
	return "no"
}

// schema is the version of the JSON document; schema/sm.json describes it.
const schema = "ibkit/sm/1"

type jsonHead struct {
	Schema   string       `json:"schema"`
	Partial  bool         `json:"partial"`
	SMLID    *ib.LID      `json:"sm_lid"`
	Findings []sm.Finding `json:"findings"`
}

type jsonManager struct {
	Name      *string      `json:"name"`
	NodeGUID  *ib.GUID     `json:"node_guid"`
	GUID      *ib.GUID     `json:"guid"`
	LID       *ib.LID      `json:"lid"`
	Route     *string      `json:"route"`
	IsSM      *bool        `json:"is_sm"`
	State     *jsonState   `json:"state"`
	Priority  *uint8       `json:"priority"`
	Activity  *uint32      `json:"activity"`
	Advances  *bool        `json:"advances"`
	WaitMS    *float64     `json:"wait_ms"`
	InRecords bool         `json:"in_sa"`
	Error     *string      `json:"error"`
	Findings  []sm.Finding `json:"findings"`
}

type jsonState struct {
	Value uint8  `json:"value"`
	Name  string `json:"name"`
}

func (v *view) json(out *render.Output) {
	r := v.result
	render.WriteMembers(out, '{', jsonHead{schema, len(r.Warnings) > 0, render.NonZero(r.Local.SMLID), orEmpty(r.Findings)})
	render.WriteArray(out, "managers", r.Managers, v.jsonManager)
	out.WriteString("}\n")
}

// orEmpty returns a list that JSON shows as a list if there are no findings.
func orEmpty(findings []sm.Finding) []sm.Finding {
	if findings == nil {
		return []sm.Finding{}
	}
	return findings
}

func (v *view) jsonManager(m *sm.Manager) any {
	j := jsonManager{
		Name: render.NonZero(v.name(m)), GUID: render.NonZero(m.GUID()), LID: render.NonZero(m.To.LID),
		IsSM: m.IsSM, Advances: m.Advanced(), InRecords: m.Record != nil, Findings: orEmpty(m.Findings),
	}
	if m.Node != nil {
		j.NodeGUID = &m.Node.NodeGUID
	}
	if m.To.Route != "" || m.To.LID == 0 {
		j.Route = render.Ptr(m.To.Route.String())
	}
	info := m.Info
	if m.Later != nil {
		info = m.Later
		j.WaitMS = render.Ptr(float64(m.Elapsed.Microseconds()) / 1000)
	}
	if info != nil {
		j.State = &jsonState{uint8(info.State), info.State.String()}
		j.Priority, j.Activity = &info.Priority, &info.ActCount
	}
	if m.Err != nil {
		j.Error = render.Ptr(m.Err.Error())
	}
	return j
}
