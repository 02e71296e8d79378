package portchange

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/ib"
)

// An Action is a port state change.
type Action uint8

// The actions. Their values in PortInfo are the values for a Set (InfiniBand Architecture,
// Volume 1, 14.2.5.6): state 0 is no change.
const (
	NoAction Action = iota
	Enable          // physical state Polling, if the port is disabled
	Disable         // physical state Disabled
	Reset           // physical state Polling: the link trains again
	Down            // state Down: the link trains again, by the port's default
	Arm             // state Armed
	Activate        // state Active
)

var actionNames = []string{Enable: "enable", Disable: "disable", Reset: "reset", Down: "down", Arm: "arm", Activate: "active"}

// ActionNames are the action names.
var ActionNames = actionNames[Enable:]

// String returns the action's name, "" for NoAction.
func (a Action) String() string {
	if int(a) < len(actionNames) {
		return actionNames[a]
	}
	return fmt.Sprintf("Action(%d)", uint8(a))
}

// states returns the states in a Set.
func (a Action) states() (ib.PortState, ib.PhysState) {
	switch a {
	case Enable, Reset:
		return ib.PortNoChange, ib.PhysPolling
	case Disable:
		return ib.PortNoChange, ib.PhysDisabled
	case Down:
		return ib.PortDown, ib.PhysNoChange
	case Arm:
		return ib.PortArmed, ib.PhysNoChange
	case Activate:
		return ib.PortActive, ib.PhysNoChange
	}
	return ib.PortNoChange, ib.PhysNoChange
}

// retrains reports whether the link goes down and comes up again.
func (a Action) retrains() bool { return a == Enable || a == Reset || a == Down }

// A Change is an action and new setting values. The zero value changes nothing.
type Change struct {
	Action Action
	values []value
}

// A value is a setting's new value.
type value struct {
	*Setting
	v uint64
}

// IsZero reports whether the change is empty.
func (c Change) IsZero() bool { return c.Action == NoAction && len(c.values) == 0 }

// ParseChange parses an action, settings in the form "mtu=2048", or both.
func ParseChange(words []string) (c Change, err error) {
	for _, word := range words {
		name, text, isSetting := strings.Cut(word, "=")
		name = strings.ToLower(name)
		if !isSetting {
			i := slices.Index(actionNames, name)
			switch {
			case i <= 0:
				return c, fmt.Errorf("unknown action %q: want one of %s, or SETTING=VALUE", word, strings.Join(ActionNames, ", "))
			case c.Action == Action(i):
				return c, fmt.Errorf("%s is given twice", name)
			case c.Action != NoAction:
				return c, fmt.Errorf("%s and %s are mutually exclusive", c.Action, Action(i))
			}
			c.Action = Action(i)
			continue
		}
		if name == "speed" && isExtended(text) {
			name = "espeed" // users know a single list of speeds
		}
		s := settingOf(name)
		if s == nil {
			var names []string
			for _, s := range Settings {
				names = append(names, s.Name)
			}
			return c, fmt.Errorf("unknown setting %q: want one of %s", name, strings.Join(names, ", "))
		}
		if slices.ContainsFunc(c.values, func(v value) bool { return v.Setting == s }) {
			return c, fmt.Errorf("%s is given twice", name)
		}
		v, err := s.parse(text)
		if err != nil {
			if !s.Secret {
				return c, fmt.Errorf("invalid %s %q: %w", name, text, err)
			}
			return c, fmt.Errorf("invalid %s: %w", name, err)
		}
		c.values = append(c.values, value{s, v})
	}
	return c, nil
}

// String returns the words that [ParseChange] accepts, with stars in place of an M_Key.
func (c Change) String() string {
	var words []string
	if c.Action != NoAction {
		words = append(words, c.Action.String())
	}
	for _, v := range c.values {
		text := "***"
		switch {
		case v.Secret:
		case v.v == everything:
			text = "all"
		default:
			text = v.show(v.v)
		}
		words = append(words, v.Name+"="+text)
	}
	return strings.Join(words, " ")
}
