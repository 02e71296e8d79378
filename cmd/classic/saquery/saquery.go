// Package saquery implements saquery from infiniband-diags. It prints records in reply
// order with the original's field names, widths and bitmaps, which the field texts in
// package sa do not have.
package saquery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// An action is the query that an option selects.
type action uint8

const (
	queryRecords action = iota // selected record kind
	queryNodes
	queryClassPortInfo
	queryManagers
	queryGroups
	queryMembers
)

// A nodeForm is the form in which nodes are printed.
type nodeForm uint8

const (
	wholeNode nodeForm = iota
	lidOfName
	firstLIDOfName
	guidOfName
	listOfNames
	nameOfLID
	nameOfGUID
)

// command is an saquery call.
type command struct {
	*getopt.Diag
	action action
	form   nodeForm
	record mad.AttrID // selected by an option; 0: by the first operand

	smKey    mad.Key
	smKeySet bool
	path     path
	source   string // --src-to-dst
	dest     string
}

// New returns saquery.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "saquery")}
	c.path.defaults()
	return &getopt.Tool{
		Name: "saquery", Family: getopt.InfinibandDiags, Operands: operandUsage(),
		Options: append(c.ownOptions(), c.Options("DGLsy")...),
		Run:     c.run,
	}
}

func operandUsage() string {
	var b strings.Builder
	b.WriteString("[query-name] [<name> | <lid> | <guid>]\n\nSupported query names (and aliases):\n")
	for _, k := range kinds {
		fmt.Fprintf(&b, "  %s (%s) %s\n", k.name, k.alias, k.operands)
	}
	b.WriteString("\n  Queries node records by default.")
	return b.String()
}

// ownOptions returns the options in usage text order.
func (c *command) ownOptions() []getopt.Option {
	kind := func(record mad.AttrID) func(string) error {
		return func(string) error {
			c.record = record
			return nil
		}
	}
	act := func(a action) func(string) error {
		return func(string) error {
			c.action = a
			return nil
		}
	}
	form := func(f nodeForm) func(string) error {
		return func(string) error {
			c.form, c.action = f, queryNodes
			return nil
		}
	}
	return append([]getopt.Option{
		{Long: "p", Short: 'p', Help: "get PathRecord info", Set: kind(mad.AttrPathRecord)},
		{Long: "N", Short: 'N', Help: "get NodeRecord info", Set: act(queryNodes)},
		{Long: "L", Short: 'L', Help: "return the Lids of the name specified", Set: form(lidOfName)},
		{Long: "l", Short: 'l', Help: "return the unique Lid of the name specified", Set: form(firstLIDOfName)},
		{Long: "G", Short: 'G', Help: "return the Guids of the name specified", Set: form(guidOfName)},
		{Long: "O", Short: 'O', Help: "return name for the Lid specified", Set: form(nameOfLID)},
		{Long: "U", Short: 'U', Help: "return name for the Guid specified", Set: form(nameOfGUID)},
		{Long: "s", Short: 's', Help: "return the PortInfoRecords with isSM or isSMdisabled capability mask bit on", Set: act(queryManagers)},
		{Long: "g", Short: 'g', Help: "get multicast group info", Set: act(queryGroups)},
		{Long: "m", Short: 'm', Help: "get multicast member info (if multicast group specified, list member GIDs only for group specified, for example 'saquery -m 0xC000')", Set: act(queryMembers)},
		{Long: "x", Short: 'x', Help: "get LinkRecord info", Set: kind(mad.AttrLinkRecord)},
		{Long: "c", Short: 'c', Help: "get the SA's class port info", Set: act(queryClassPortInfo)},
		{Long: "S", Short: 'S', Help: "get ServiceRecord info", Set: kind(mad.AttrServiceRecord)},
		{Long: "I", Short: 'I', Help: "get InformInfoRecord (subscription) info", Set: kind(mad.AttrInformInfoRecord)},
		{Long: "list", Short: 'D', Help: "the node desc of the CA's", Set: form(listOfNames)},
		{Long: "src-to-dst", Arg: "<src:dst>", Help: "get a PathRecord for <src:dst> where src and dst are either node names or LIDs", Set: c.setNodes},
		{Long: "sgid-to-dgid", Arg: "<sgid-dgid>", Help: "get a PathRecord for <sgid-dgid> where sgid and dgid are addresses in IPv6 format", Set: c.setGIDs},
		{Long: "node-name-map", Arg: "<file>", Help: "specify a node name map file", Set: getopt.Text(&c.NameMap)},
		{Long: "smkey", Arg: "<val>", Help: "SA SM_Key value for the query. If non-numeric value (like 'x') is specified then saquery will prompt for a value.  Default (when not specified here or in ibdiag.conf) is to  use SM_Key == 0 (or \"untrusted\")", Set: c.setSMKey},
	}, c.path.options(c)...)
}

func (c *command) setNodes(value string) error {
	var found bool
	if c.source, c.dest, found = strings.Cut(value, ":"); !found {
		return getopt.ErrUsage
	}
	c.path.numbPath, c.record = 0x7f, mad.AttrPathRecord
	return nil
}

func (c *command) setGIDs(value string) error {
	source, dest, found := strings.Cut(value, "-")
	if !found {
		return getopt.ErrUsage
	}
	if err := errors.Join(setGID(&c.path.sgid)(source), setGID(&c.path.dgid)(dest)); err != nil {
		return err
	}
	c.path.numbPath, c.record = 0x7f, mad.AttrPathRecord
	return nil
}

func (c *command) setSMKey(value string) error {
	c.smKeySet = true
	key, err := c.secret(value, "SM_Key")
	c.smKey = mad.Key(key)
	return err
}

// secret parses a key, or prompts for it if it does not begin with a digit.
func (c *command) secret(value, name string) (uint64, error) {
	if value != "" && strings.IndexByte("0123456789abcdefABCDEF", value[0]) >= 0 {
		return getopt.Strtoull(value), nil
	}
	key, err := fabricflag.PromptKey(context.Background(), c.Env, name)
	if err != nil {
		fmt.Fprintf(c.Env.ErrOut, "cannot get %s\n", name)
		return 0, getopt.ErrUsage
	}
	return uint64(key), nil
}

// A query is a call's state with an open port.
type query struct {
	*command
	ctx    context.Context
	client *umad.Client
	sa     umad.Target
	names  *fabric.NameMap
	out    *render.Output
	cpi    mad.ClassPortInfo

	name string // operand that selects nodes or a group; "" if there is none
	lid  ib.LID
	guid ib.GUID
}

func (c *command) run(ctx context.Context, operands []string) error {
	if c.record == 0 && c.action == queryRecords {
		c.record = mad.AttrNodeRecord
		if len(operands) > 0 {
			if k := kindByName(operands[0]); k != nil {
				c.record, operands = k.id, operands[1:]
			}
		}
	}
	q := &query{command: c, ctx: ctx, out: render.NewOutput(c.Env.Out)}
	if err := q.selectNodes(operands); err != nil {
		return err
	}
	if err := c.Complete(ctx, c.Env); err != nil {
		return err
	}
	if !c.smKeySet {
		c.smKey = c.SAKey()
	}
	port, err := c.Open(ctx)
	if err != nil {
		return fmt.Errorf("bind to subnet administration: %w", err)
	}
	defer port.Close()
	attr := port.Attr()
	if q.sa = (umad.Target{LID: attr.SMLID, SL: attr.SMSL}); q.sa.LID == 0 {
		device, number := c.LocalPort()
		if c.DeviceGiven {
			device = "" // as the C tool prints it
		}
		c.Ibwarn("sa_get_handle", "No SM/SA found on port %s:%d", device, number)
		fmt.Fprintf(c.Env.ErrOut, "ibpanic: [%d] main: Failed to bind to the SA: Success\n", os.Getpid())
		return &cmdutil.ExitError{Code: getopt.ExitFailure}
	}
	q.client = c.NewClient(port)
	if q.names, err = c.Names(c.Env); err != nil {
		return err
	}
	err = q.run(operands)
	if flushed := q.out.Flush(); flushed != nil {
		return flushed
	}
	return err
}

// selectNodes parses the operand for node queries.
func (q *query) selectNodes(operands []string) error {
	given := len(operands) > 0
	complain := func(text string) error {
		fmt.Fprintf(q.Env.ErrOut, "ERROR: %s\n", text)
		return getopt.ErrUsage
	}
	if given {
		switch q.form {
		case nameOfLID:
			q.lid = ib.LID(getopt.Strtol(operands[0]))
		case nameOfGUID:
			q.guid = ib.GUID(getopt.Strtoull(operands[0]))
		default:
			q.name = operands[0]
		}
	}
	switch {
	case (q.form == lidOfName || q.form == firstLIDOfName || q.form == guidOfName) && !given:
		return complain("name not specified")
	case q.form == nameOfLID && !given:
		return complain("lid not specified")
	case q.form == nameOfGUID && !given:
		return complain("guid not specified")
	case q.form == nameOfLID && q.lid == 0:
		return complain("lid invalid")
	}
	return nil
}

func (q *query) run(operands []string) (err error) {
	for _, end := range []struct {
		name string
		lid  *uint16
	}{{q.source, &q.path.slid}, {q.dest, &q.path.dlid}} {
		if end.name != "" {
			if *end.lid, err = q.parseLID(end.name); err != nil {
				return err
			}
		}
	}
	if q.action == queryClassPortInfo || q.record == mad.AttrClassPortInfo || q.record == mad.AttrSwitchInfoRecord {
		if err := q.readClassPortInfo(); err != nil {
			fmt.Fprintln(q.Env.ErrOut, "Failed to query SA:ClassPortInfo")
			return err
		}
	}
	switch q.action {
	case queryNodes:
		return q.printNodes()
	case queryClassPortInfo:
		q.printClassPortInfo()
		return nil
	case queryManagers:
		return q.printManagers()
	case queryGroups:
		return q.printAll(&mad.MCMemberRecord{}, 0, printGroup)
	case queryMembers:
		return q.printMembers()
	}
	return kindByID(q.record).run(q, operands)
}
