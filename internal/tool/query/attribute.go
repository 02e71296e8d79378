// Package query requests management agents' attributes by name, from a single port or from
// many at the same time: attributes for subnet management, performance management and
// congestion control, and texts from hosts with a package sysstat server.
package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/similar"
	"github.com/ibkit/ibkit/mad"
)

// An Attribute identifies an attribute in a management class.
type Attribute struct {
	Class mad.Class
	ID    mad.AttrID

	// Name is the name in the specification, or the number in hexadecimal digits for
	// attributes without a structure in package mad.
	Name    string
	Aliases []string // in the classic tools

	scope scope
}

// String returns the name.
func (a Attribute) String() string { return a.Name }

// Known reports whether replies can be decoded.
func (a Attribute) Known() bool { return a.Class.NewAttribute(a.ID) != nil }

// HasPorts reports whether a request can select a node's port.
func (a Attribute) HasPorts() bool {
	return a.scope != ofNode && a.scope != ofAgent && a.scope != ofCapabilities && a.scope != ofAddresses
}

// OfSwitch reports whether only switches have the attribute.
func (a Attribute) OfSwitch() bool {
	return a.Class == mad.ClassSMPLIDRouted && (a.ID == mad.AttrSwitchInfo || a.scope == ofLFT || a.scope == ofMFT || a.scope == ofStates)
}

// HasAddresses reports whether a request selects words by their addresses.
func (a Attribute) HasAddresses() bool { return a.scope == ofAddresses }

// classes are the classes with their prefixes in attribute names.
var classes = []struct {
	class  mad.Class
	prefix string
}{
	{mad.ClassSMPLIDRouted, "smp"},
	{mad.ClassPM, "pm"},
	{mad.ClassCC, "cc"},
	{mad.ClassMlnx, "vs"},
	{mad.ClassSysstat, "sysstat"},
}

// IsText reports whether replies are texts, see [Reply.Text].
func (a Attribute) IsText() bool { return a.Class == mad.ClassSysstat }

// Prefix returns the class prefix in attribute names: smp, pm, cc, vs or sysstat.
func (a Attribute) Prefix() string {
	for _, c := range classes {
		if c.class == a.Class {
			return c.prefix
		}
	}
	return ""
}

// texts are the attributes with a text.
var texts = []mad.AttrID{mad.AttrSysstatPing, mad.AttrSysstatHost, mad.AttrSysstatCPU}

// Attributes returns all attributes with a structure in package mad, and all attributes
// with a text, ordered by class and number.
func Attributes() []Attribute {
	var all []Attribute
	for _, c := range classes {
		for _, id := range c.class.Attributes() {
			all = append(all, attribute(c.class, id))
		}
	}
	for _, id := range texts {
		all = append(all, attribute(mad.ClassSysstat, id))
	}
	return all
}

func attribute(class mad.Class, id mad.AttrID) Attribute {
	a := Attribute{Class: class, ID: id, Name: fmt.Sprintf("0x%04x", uint16(id)), scope: ofAgent}
	if a.Known() || a.IsText() && slices.Contains(texts, id) {
		a.Name = class.AttrName(id)
	}
	key := key{class, id}
	a.Aliases = aliases[key]
	if s, ok := scopes[key]; ok {
		a.scope = s
	} else if class == mad.ClassPM && a.Known() {
		a.scope = ofCounters
	}
	return a
}

// A key identifies an attribute.
type key struct {
	class mad.Class
	id    mad.AttrID
}

func smp(id mad.AttrID) key { return key{mad.ClassSMPLIDRouted, id} }

// aliases are the names in smpquery, ibccquery and ibsysstat (rdma-core, infiniband-diags),
// options of perfquery, and short names of the counters that it reads.
var aliases = map[key][]string{
	smp(mad.AttrNodeInfo):              {"NI"},
	smp(mad.AttrNodeDescription):       {"NodeDesc", "ND"},
	smp(mad.AttrPortInfo):              {"PI"},
	smp(mad.AttrPortInfoExtended):      {"PIE"},
	smp(mad.AttrSwitchInfo):            {"SI"},
	smp(mad.AttrPKeyTable):             {"PKeys"},
	smp(mad.AttrSLtoVLMapping):         {"SL2VLTable", "SL2VL"},
	smp(mad.AttrVLArbitration):         {"VLArbitration", "VLArb"},
	smp(mad.AttrGUIDInfo):              {"GI"},
	smp(mad.AttrMlnxExtPortInfo):       {"MlnxExtPortInfo", "MEPI"},
	smp(mad.AttrLinearForwardingTable): {"LFT"}, smp(mad.AttrMulticastForwardingTable): {"MFT"},

	{mad.ClassPM, mad.AttrPortCounters}:               {"PC"},
	{mad.ClassPM, mad.AttrPortCountersExtended}:       {"PCX"},
	{mad.ClassPM, mad.AttrPortRcvErrorDetails}:        {"PRE", "rcverr"},
	{mad.ClassPM, mad.AttrPortXmitDiscardDetails}:     {"PXD", "xmtdisc"},
	{mad.ClassPM, mad.AttrPortExtendedSpeedsCounters}: {"PES"},
	{mad.ClassPM, mad.AttrPortXmitDataSL}:             {"xmtsl"},
	{mad.ClassPM, mad.AttrPortRcvDataSL}:              {"rcvsl"},

	{mad.ClassCC, mad.AttrClassPortInfo}:               {"CP"},
	{mad.ClassCC, mad.AttrCongestionInfo}:              {"CI"},
	{mad.ClassCC, mad.AttrCongestionKeyInfo}:           {"CK"},
	{mad.ClassCC, mad.AttrCongestionLog}:               {"CL"},
	{mad.ClassCC, mad.AttrSwitchCongestionSetting}:     {"SS"},
	{mad.ClassCC, mad.AttrSwitchPortCongestionSetting}: {"SP"},
	{mad.ClassCC, mad.AttrCACongestionSetting}:         {"CS"},
	{mad.ClassCC, mad.AttrCongestionControlTable}:      {"CT"},
	{mad.ClassCC, mad.AttrTimeStamp}:                   {"TI"},

	{mad.ClassSysstat, mad.AttrSysstatHost}: {"Host"},
	{mad.ClassSysstat, mad.AttrSysstatCPU}:  {"CPU"},
}

// ParseAttribute parses an attribute's name or alias in either case, or a number. A class
// prefix is necessary for names that several classes have: "pm:ClassPortInfo". Numbers
// without a prefix belong to subnet management.
func ParseAttribute(s string) (Attribute, error) {
	prefix, name, hasPrefix := strings.Cut(s, ":")
	class := mad.ClassSMPLIDRouted
	if !hasPrefix {
		name = s
	} else {
		found := false
		for _, c := range classes {
			if strings.EqualFold(prefix, c.prefix) {
				class, found = c.class, true
			}
		}
		if !found {
			return Attribute{}, fmt.Errorf("parse attribute %q: class %q is not smp, pm, cc, vs or sysstat", s, prefix)
		}
	}
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		id, err := strconv.ParseUint(name, 0, 16)
		if err != nil {
			return Attribute{}, fmt.Errorf("parse attribute %q: not a number of 16 bits", s)
		}
		return attribute(class, mad.AttrID(id)), nil
	}
	var found []Attribute
	for _, a := range Attributes() {
		if (!hasPrefix || a.Class == class) && a.hasName(name) {
			found = append(found, a)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Attribute{}, &unknownError{s, similarNames(name)}
	}
	var names []string
	for _, a := range found {
		names = append(names, a.Prefix()+":"+a.Name)
	}
	return Attribute{}, fmt.Errorf("parse attribute %q: ambiguous: %s", s, strings.Join(names, ", "))
}

func (a Attribute) hasName(name string) bool {
	return plain(a.Name) == plain(name) || slices.ContainsFunc(a.Aliases, func(s string) bool { return strings.EqualFold(s, name) })
}

// plain returns a name without case and underscores: P_KeyTable has an underscore in the
// specification.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// similarNames returns names of attributes that resemble a name.
func similarNames(name string) []string {
	var all []string
	for _, a := range Attributes() {
		all = append(all, a.Name)
	}
	return similar.To(name, all)
}

// An unknownError reports a name that no attribute has.
type unknownError struct {
	name    string
	similar []string
}

func (e *unknownError) Error() string { return fmt.Sprintf("parse attribute %q: no such name", e.name) }

// Hint suggests a remedy.
func (e *unknownError) Hint() string { return similar.Hint(e.similar) }
