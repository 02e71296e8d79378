// Package sa queries subnet administration for records by name, with filters on their
// fields.
package sa

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/internal/similar"
	"github.com/ibkit/ibkit/mad"
)

// A Kind is a record kind.
type Kind struct {
	ID      mad.AttrID
	Name    string   // name in the specification
	Aliases []string // names in saquery (rdma-core, infiniband-diags)
}

// String returns the name.
func (k Kind) String() string { return k.Name }

// New returns an empty record.
func (k Kind) New() mad.Attribute { return mad.ClassSA.NewAttribute(k.ID) }

var aliases = map[mad.AttrID][]string{
	mad.AttrClassPortInfo:                  {"CPI"},
	mad.AttrNodeRecord:                     {"NR"},
	mad.AttrPortInfoRecord:                 {"PIR"},
	mad.AttrSLtoVLMappingTableRecord:       {"SL2VLTableRecord", "SL2VL"},
	mad.AttrPKeyTableRecord:                {"PKTR"},
	mad.AttrVLArbitrationTableRecord:       {"VLAR"},
	mad.AttrInformInfoRecord:               {"IIR"},
	mad.AttrLinkRecord:                     {"LR"},
	mad.AttrServiceRecord:                  {"SR"},
	mad.AttrPathRecord:                     {"PR"},
	mad.AttrMCMemberRecord:                 {"MCMR"},
	mad.AttrLinearForwardingTableRecord:    {"LFTRecord", "LFTR"},
	mad.AttrMulticastForwardingTableRecord: {"MFTRecord", "MFTR"},
	mad.AttrGUIDInfoRecord:                 {"GIR"},
	mad.AttrSwitchInfoRecord:               {"SWIR"},
	mad.AttrSMInfoRecord:                   {"SMIR"},
}

// Kinds returns all record kinds.
func Kinds() []Kind {
	var kinds []Kind
	for _, id := range mad.ClassSA.Attributes() {
		if names, ok := aliases[id]; ok {
			kinds = append(kinds, Kind{id, mad.ClassSA.AttrName(id), names})
		}
	}
	return kinds
}

// ParseKind parses a kind's name or alias, in either case. The word Record at the end may
// be left out.
func ParseKind(s string) (Kind, error) {
	for _, k := range Kinds() {
		if plain(k.Name) == plain(s) || plain(k.Name) == plain(s)+"record" || slices.ContainsFunc(k.Aliases, func(a string) bool { return strings.EqualFold(a, s) }) {
			return k, nil
		}
	}
	return Kind{}, &unknownError{s}
}

// An unknownError reports a name that no record kind has.
type unknownError struct{ name string }

func (e *unknownError) Error() string { return fmt.Sprintf("parse record %q: no such name", e.name) }

// Hint suggests a remedy: "paths" resembles PathRecord.
func (e *unknownError) Hint() string {
	var all []string
	for _, k := range Kinds() {
		all = append(all, k.Name, strings.TrimSuffix(k.Name, "Record"))
	}
	names := similar.To(e.name, all)
	for i, name := range names {
		kind, _ := ParseKind(name) // exists
		names[i] = kind.Name
	}
	return similar.Hint(slices.Compact(names))
}

// plain returns a name without case and underscores.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// ErrNoField is wrapped by the error for a condition on a field that records of the kind do
// not have.
var ErrNoField = errors.New("has no such field")

// fieldAliases are more names of fields, by kind.
var fieldAliases = map[mad.AttrID]map[string]string{
	mad.AttrNodeRecord:     {"name": "NodeDesc", "type": "NodeType", "nodeguid": "Guid", "port": "LocalPort"},
	mad.AttrPortInfoRecord: {"lid": "EndportLID", "port": "PortNum", "state": "LinkState", "baselid": "Lid"},
	mad.AttrPathRecord:     {"from": "Slid", "to": "Dlid"},
}

// field returns a record's component with a name.
func (k Kind) field(name string) (mad.Component, error) {
	wanted := plain(name)
	if alias, ok := fieldAliases[k.ID][wanted]; ok {
		wanted = plain(alias)
	}
	fields := mad.RecordComponents(k.New())
	i := slices.IndexFunc(fields, func(c mad.Component) bool { return plain(c.Name) == wanted })
	if i < 0 {
		return mad.Component{}, fmt.Errorf("parse field %q: %v %w", name, k, ErrNoField)
	}
	return fields[i], nil
}

// Fields returns the names of the fields that a filter can have.
func (k Kind) Fields() []string {
	var names []string
	for _, f := range mad.RecordComponents(k.New()) {
		if !isTable(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// tables are the table fields, which a filter cannot have.
var tables = []string{"VL", "Weight", "Pkeys", "LinearForwTbl", "MulticastForwTbl"}

func isTable(c mad.Component) bool { return slices.Contains(tables, c.Name) }
