package ibccquery

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// paragraphs returns the parts of an attribute dump, which end with an empty line.
func paragraphs(a mad.Attribute) []string {
	var b bytes.Buffer
	if err := mad.Dump(&b, a); err != nil {
		return nil // the buffer accepts all writes
	}
	parts := strings.SplitAfter(b.String(), "\n\n")
	return parts[:len(parts)-1]
}

// numbered returns a paragraph with a number in its first line.
func numbered(name, paragraph string, number int) string {
	const column = 32
	_, rest, _ := strings.Cut(paragraph, "\n")
	return fmt.Sprintf("%s:%s%d\n%s", name, strings.Repeat(".", column-len(name)), number, rest)
}

// portsPerBlock is the port count in a block as the C tool counts it. In the
// specification, a block has 32 ports.
const portsPerBlock = 48

func (q *query) ports(operands []string) error {
	var node mad.NodeInfo
	if _, err := q.Call(q.ctx, q.client, getopt.MadRPC, q.to, &umad.Request{Value: &node}); err != nil {
		return errors.New("node info query failed")
	}
	if !node.IsSwitch() {
		return errors.New("destination not a switch")
	}
	fmt.Fprintf(q.out, "# SwitchPortCongestionSetting: %s\n", q.to.Text)
	number := 0
	if len(operands) > 0 {
		number = int(int32(getopt.Strtol(operands[0])))
	}
	if number > int(node.NumPorts) || number < 0 {
		return errors.New("invalid port number specified")
	}
	if number > 0 {
		settings, ok := q.portBlock(uint32(number / portsPerBlock))
		if !ok {
			return errPorts
		}
		_, fields, _ := strings.Cut(settings[number%portsPerBlock], "\n")
		q.out.WriteString(strings.TrimSuffix(fields, "\n"))
		return nil
	}
	for first := 0; first <= int(node.NumPorts); first += portsPerBlock {
		settings, ok := q.portBlock(uint32(first / portsPerBlock))
		if !ok {
			return errPorts
		}
		for i := 0; i < portsPerBlock && first+i <= int(node.NumPorts); i++ {
			q.out.WriteString(numbered("Port", settings[i], first+i))
		}
	}
	return nil
}

var errPorts = errors.New("switch port congestion setting query failed")

// portBlock returns a paragraph for each port in a block.
func (q *query) portBlock(block uint32) ([]string, bool) {
	var first, second mad.SwitchPortCongestionSetting
	data, ok := q.get(&first, block)
	if !ok {
		return nil, false
	}
	const size = 4 // port entry size
	rest := make([]byte, len(data))
	copy(rest, data[size*len(first.Ports):])
	if mad.Decode(&second, rest) != nil {
		return nil, false
	}
	return append(paragraphs(&first), paragraphs(&second)...), true
}

var errTable = errors.New("congestion control table query failed")

func (q *query) table([]string) error {
	var table mad.CongestionControlTable
	if _, ok := q.get(&table, 0); !ok {
		return errTable
	}
	fmt.Fprintf(q.out, "# CongestionControlTable: %s\n", q.to.Text)
	if err := mad.Dump(q.out, &table); err != nil {
		return err
	}
	perBlock := len(table.Entries)
	limit := int(table.Limit)
	for first := perBlock; first <= limit; first += perBlock {
		if _, ok := q.get(&table, uint32(first/perBlock)); !ok {
			return errTable
		}
		table.Limit = uint16(min(limit-first, perBlock-1)) // index of the block's last entry
		entries := paragraphs(&table)
		for i := 0; i < perBlock && first+i <= limit && i+1 < len(entries); i++ {
			q.out.WriteString(numbered("Entry", entries[i+1], first+i))
		}
	}
	return nil
}
