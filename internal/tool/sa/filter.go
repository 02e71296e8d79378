package sa

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Filter is a record with the values that the requested records must have.
type Filter struct {
	Kind  Kind
	Match mad.Attribute
	Mask  mad.ComponentMask

	// Nodes are the names of the nodes with LIDs to store in fields.
	Nodes []NodeField
}

// A NodeField is a field for a node's LID if the node is known by another address.
type NodeField struct {
	Field string
	Node  lookup.Address
}

// NewFilter returns a filter that all records of a kind pass.
func NewFilter(k Kind) *Filter { return &Filter{Kind: k, Match: k.New()} }

// Modifier returns the request's attribute modifier: a capability mask in a filter for
// ports selects ports with at least these capabilities.
func (f *Filter) Modifier() uint32 {
	if r, ok := f.Match.(*mad.PortInfoRecord); ok && f.Mask.Has(mad.Components(r, &r.PortInfo.CapMask)) {
		return mad.MatchCapMask
	}
	return 0
}

// ErrNoCondition is wrapped by the error for a condition without a field or an operator.
var ErrNoCondition = errors.New("not of the form FIELD=VALUE")

// Add adds a condition in the form FIELD=VALUE. MTU, rate and packet lifetime also can be
// compared: FIELD<VALUE, FIELD>VALUE.
func (f *Filter) Add(condition string) error {
	i := strings.IndexAny(condition, "=<>")
	if i <= 0 {
		return fmt.Errorf("parse filter %q: %w", condition, ErrNoCondition)
	}
	name, operator, value := condition[:i], condition[i], condition[i+1:]
	field, err := f.Kind.field(name)
	if err != nil {
		return err
	}
	if f.Mask&field.Mask != 0 {
		return fmt.Errorf("parse filter %q: %s is given twice", condition, field.Name)
	}
	if err := f.set(field, value); err != nil {
		return fmt.Errorf("parse filter %q: position %d: %w", condition, i+2, err)
	}
	f.Mask |= field.Mask
	return f.selector(field, operator, condition)
}

// selectors are the operator values in fields for comparisons.
var selectors = map[byte]mad.Selector{'=': mad.SelectExactly, '<': mad.SelectLess, '>': mad.SelectGreater}

// selector sets the field with the comparison kind that belongs to a field.
func (f *Filter) selector(field mad.Component, operator byte, condition string) error {
	comparison, err := f.Kind.field(field.Name + "Selector")
	switch {
	case err == nil:
		f.store(comparison, uint64(selectors[operator]))
		f.Mask |= comparison.Mask
	case operator != '=':
		return fmt.Errorf("parse filter %q: %s cannot be compared", condition, field.Name)
	}
	return nil
}

// store stores a number in a field.
func (f *Filter) store(field mad.Component, v uint64) {
	mad.Visit(f.Match, func(name string, _ int, old uint64) uint64 {
		if name == field.Name {
			return v
		}
		return old
	})
}

// storeBytes stores a byte array's elements.
func (f *Filter) storeBytes(field mad.Component, b []byte) {
	mad.Visit(f.Match, func(name string, _ int, old uint64) uint64 {
		index, ok := strings.CutPrefix(name, field.Name)
		i, err := strconv.Atoi(index)
		if !ok || err != nil || i >= len(b) {
			return old
		}
		return uint64(b[i])
	})
}

// Byte array sizes in bits.
const (
	gidBits  = 8 * len(ib.GID{})
	textBits = 8 * mad.DataSize
)

// set parses a field's value.
func (f *Filter) set(field mad.Component, value string) error {
	switch {
	case isTable(field):
		return errors.New("a table cannot be compared")
	case field.Width == gidBits && strings.Contains(strings.ToLower(field.Name), "gid"):
		ip, err := netip.ParseAddr(value)
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return fmt.Errorf("%q is not a GID, which has the form of an IPv6 address", value)
		}
		b := ip.As16()
		f.storeBytes(field, b[:])
		return nil
	case field.Width == gidBits:
		b, err := hex.DecodeString(strings.TrimPrefix(value, "0x"))
		if err != nil || len(b) != gidBits/8 {
			return fmt.Errorf("%q is not a key of %d hexadecimal digits", value, gidBits/4)
		}
		f.storeBytes(field, b)
		return nil
	case field.Width == textBits:
		if len(value) > textBits/8 {
			return fmt.Errorf("the text has %d bytes, want at most %d", len(value), textBits/8)
		}
		f.storeBytes(field, append([]byte(value), make([]byte, textBits/8-len(value))...))
		return nil
	}
	return f.setNumber(field, value)
}

// setNumber parses a number, a value's name, or a node's name in place of a LID.
func (f *Filter) setNumber(field mad.Component, value string) error {
	v, err := strconv.ParseUint(value, 0, 64)
	named, isName := mad.ParseValueName(f.Match, field.Name, value)
	isLID := strings.HasSuffix(strings.ToLower(field.Name), "lid")
	switch {
	case err == nil && (field.Width == 64 || v>>field.Width == 0):
		f.store(field, v)
		return nil
	case isName:
		f.store(field, named) // a number can be a name, too: 4096 for an MTU
		return nil
	case err == nil || errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s does not fit in %d bits", value, field.Width)
	case value == "":
		return errors.New("empty value")
	case field.Width == 64:
		guid, err := ib.ParseGUID(value)
		f.store(field, uint64(guid))
		return err
	case isLID:
		a, err := lookup.Parse(value)
		if err == nil {
			f.Nodes = append(f.Nodes, NodeField{field.Name, a})
		}
		return err
	}
	return fmt.Errorf("%q is not a value of %s", value, field.Name)
}

// StoreLID stores a node's LID in its field.
func (f *Filter) StoreLID(n NodeField, lid ib.LID) {
	f.store(mad.Component{Name: n.Field}, uint64(lid))
}
