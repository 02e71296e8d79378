package query

import (
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A Reply is the reply to a request, or the reason for its failure.
type Reply struct {
	Target lookup.Address
	Port   *lookup.Port // the destination; nil: it was not found

	Number   int // number of the port that the attribute belongs to; -1: none
	Modifier uint32
	Block    int // first entry's index in a table; -1: not a table

	Attr   mad.Attribute // decoded; nil: unknown attribute, a text, or an error
	Text   *string       // for an attribute with a text, see [Attribute.IsText]; nil: none
	Packet *mad.Packet   // that was received, as far as it is kept; nil: none
	RTT    time.Duration
	Err    error
}

// A Result is the result from [Run].
type Result struct {
	Began     time.Time
	Attribute Attribute
	Local     umad.PortAttr
	Replies   []Reply
	Failed    int     // replies with an error
	Missed    []error // failed requests in a scan, which may have missed targets
	Stats     umad.Stats
}

// Partial reports whether replies have an error or targets may be missing.
func (r *Result) Partial() bool { return r.Failed > 0 || len(r.Missed) > 0 }

// mergeFailures replaces the replies to all blocks in a port's table by the first reply if
// they have the same error.
func mergeFailures(replies []Reply) (merged []Reply) {
	if len(replies) == 1 {
		return replies
	}
	for len(replies) > 0 {
		first, same, n := &replies[0], true, 1
		for ; n < len(replies) && replies[n].Number == first.Number && replies[n].Block >= 0; n++ {
			same = same && first.Err != nil && replies[n].Err != nil && cause(first.Err) == cause(replies[n].Err)
		}
		if same && n > 1 {
			first.Block = -1
			merged = append(merged, *first)
		} else {
			merged = append(merged, replies[:n]...)
		}
		replies = replies[n:]
	}
	return merged
}

// cause returns an error's text without the request, because its modifier is a block's.
func cause(err error) string {
	if failed, ok := errors.AsType[*umad.Error](err); ok {
		err = failed.Err
	}
	return err.Error()
}

func clone(p *mad.Packet) *mad.Packet {
	if p == nil {
		return nil
	}
	return new(*p)
}

// Name returns the name of the node that replied, or "" if it is unknown.
func (r *Reply) Name(names *fabric.NameMap) string {
	if r.Port == nil || r.Port.Node == nil || r.Port.Description == nil {
		return ""
	}
	return names.NameOf(r.Port.Node.NodeGUID, *r.Port.Description)
}

// Heading returns the attribute, the destination and the table part in a reply. name is the
// node's name, or "".
func (r *Result) Heading(reply *Reply, name string) string {
	s := r.Attribute.Name + " of " + reply.place()
	if name != "" {
		s += fmt.Sprintf(" %q", name)
	}
	if reply.Block >= 0 {
		s += fmt.Sprintf(", %s %d", r.Attribute.scope.label(), reply.Block)
	}
	return s
}

// place returns the destination and the port.
func (r *Reply) place() string {
	if r.Port == nil {
		return r.Target.String()
	}
	s := r.Port.To.Place()
	if r.Number >= 0 {
		s += fmt.Sprintf(" port %d", r.Number)
	}
	return s
}
