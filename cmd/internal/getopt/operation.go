package getopt

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/mad"
)

// An Operation is an operation that a tool's first operand selects. Run is the
// operation's function, in the form that the tool needs.
type Operation[Run any] struct {
	Name, Alias string
	Port        bool // accepts a port number as the last operand
	Run         Run
}

// FindOperation returns the operation with a name or an alias, in either case, like
// match_op in infiniband-diags (ibdiag_common.c). It returns nil if there
// is no such operation.
func FindOperation[Run any](operations []Operation[Run], name string) *Operation[Run] {
	for i := range operations {
		if o := &operations[i]; strings.EqualFold(o.Name, name) || strings.EqualFold(o.Alias, name) {
			return o
		}
	}
	return nil
}

// OperationUsage returns the operands in a usage text: the syntax, and a line for each
// operation with the address syntax.
func OperationUsage[Run any](syntax, address string, operations []Operation[Run]) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nSupported ops (and aliases, case insensitive):\n", syntax)
	for _, o := range operations {
		fmt.Fprintf(&b, "  %s (%s) %s", o.Name, o.Alias, address)
		if o.Port {
			b.WriteString(" [<portnum>]")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// CCKey returns the option for the congestion control key.
func CCKey(key *mad.Key) Option {
	return Option{Long: "cckey", Short: 'c', Arg: "<key>", Help: "CC key", Set: func(value string) error {
		*key = mad.Key(Strtoull(value))
		return nil
	}}
}
