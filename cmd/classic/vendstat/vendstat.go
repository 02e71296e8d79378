// Package vendstat implements vendstat from infiniband-diags. It prints vendor attributes
// in the original's layout, a request each, without a scan, with fields that package
// query does not decode.
package vendstat

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// command is a vendstat call.
type command struct {
	*getopt.Diag
	general, xmitWait, groups, configure bool
	selected                             [2]int // counter group configurations
	read, write                          []mad.MlnxConfigRecord
}

// New returns vendstat.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "vendstat")}
	return &getopt.Tool{
		Name: "vendstat", Family: getopt.InfinibandDiags, Operands: "<lid|guid> [port]",
		Examples: []string{
			"-N 6\t\t# read IS3 or IS4 general information",
			"-w 6\t\t# read IS3 port xmit wait counters",
			"-i 6 12\t# read IS4 port 12 counter group info",
			"-c 0,1 6 12\t# configure IS4 port 12 counter groups for PortXmitDataSL",
			"-c 2,8 6 12\t# configure IS4 port 12 counter groups for PortRcvDataSL",
		},
		Options: append([]getopt.Option{
			{Long: "N", Short: 'N', Help: "show IS3 or IS4 general information", Set: getopt.True(&c.general)},
			{Long: "w", Short: 'w', Help: "show IS3 port xmit wait counters", Set: getopt.True(&c.xmitWait)},
			{Long: "i", Short: 'i', Help: "show IS4 counter group info", Set: getopt.True(&c.groups)},
			{Long: "c", Short: 'c', Arg: "<num,num>", Help: "configure IS4 counter groups", Set: c.setGroups},
			{Long: "Read", Short: 'R', Arg: "<addr,mask>", Help: "Read configuration space record at addr", Set: c.addRead},
			{Long: "Write", Short: 'W', Arg: "<addr,val,mask>", Help: "Write configuration space record at addr", Set: c.addWrite},
		}, c.Options("DKy")...),
		Run: c.run,
	}
}

func (c *command) setGroups(value string) error {
	c.configure = true
	numbers := getopt.Scan(value, 10, len(c.selected))
	for i, n := range numbers {
		c.selected[i] = int(int32(n))
	}
	if len(numbers) < len(c.selected) {
		return getopt.ErrUsage
	}
	return nil
}

// addRead and addWrite ignore records beyond the maximum, as the C tool does.

func (c *command) addRead(value string) error {
	if len(c.read) == mad.MlnxConfigRecords {
		return nil
	}
	n := getopt.Scan(value, 16, 2)
	switch len(n) {
	case 0:
		return getopt.ErrUsage
	case 1:
		n = append(n, wholeWord)
	}
	c.read = append(c.read, mad.MlnxConfigRecord{Address: n[0], Mask: n[1]})
	return nil
}

func (c *command) addWrite(value string) error {
	if len(c.write) == mad.MlnxConfigRecords {
		return nil
	}
	n := getopt.Scan(value, 16, 3)
	switch len(n) {
	case 0, 1:
		return getopt.ErrUsage
	case 2:
		n = append(n, wholeWord)
	}
	c.write = append(c.write, mad.MlnxConfigRecord{Address: n[0], Data: n[1], Mask: n[2]})
	return nil
}

const wholeWord = 0xffffffff // mask

// A query is a run's state.
type query struct {
	*command
	ctx    context.Context
	client *umad.Client
	to     getopt.PortID
	port   uint32
	out    *render.Output

	operand  string         // "": the local port
	identity *umad.Identity // port for which the changes are meant
}

func (c *command) run(ctx context.Context, operands []string) error {
	port, err := c.CompleteAndOpen(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	q := &query{command: c, ctx: ctx, client: c.NewClient(port), out: render.NewOutput(c.Env.Out)}
	if len(operands) > 0 {
		q.operand = operands[0]
		if q.to, err = c.PortID(ctx, q.client, q.operand); err != nil {
			return err
		}
	} else {
		q.to.LID = port.Attr().LID
		q.to.Text = q.to.String()
		q.port = uint32(port.Attr().Number)
	}
	if q.configure || len(q.write) > 0 {
		q.identity = c.Identify(ctx, q.client, q.to.Target, q.operand)
	}
	if len(operands) > 1 {
		q.port = uint32(getopt.Strtoull(operands[1]))
	}
	failed := q.run()
	if err := q.out.Flush(); err != nil || failed == "" {
		return err
	}
	return c.Iberror("main", nil, "%s", failed)
}

// run carries out the first operation kind that was given. It returns the failed part for
// -N and -w, the only operations with failures that cause an exit code.
func (q *query) run() (failed string) {
	switch {
	case q.groups:
		q.showGroups()
	case q.configure:
		q.configureGroups()
	case len(q.read)+len(q.write) > 0:
		q.configSpace(mad.MethodGet, "get", q.read)
		q.configSpace(mad.MethodSet, "set", q.write)
	case !q.general && !q.xmitWait:
		return "at least one of -N and -w must be specified"
	default:
		return q.showGeneral()
	}
	return ""
}

// call sends a vendor class request and returns the reply data.
func (q *query) call(method mad.Method, attr mad.AttrID, modifier uint32, a mad.Attribute) ([]byte, bool) {
	payload := make([]byte, mad.MlnxDataSize)
	if a != nil {
		if err := mad.Encode(a, payload); err != nil {
			return nil, false // each value fits its field
		}
	}
	if q.to.LID != 0 { // the C tool sends no packet to a local port without a LID
		r := umad.Request{Class: mad.ClassMlnx, Method: method, Attr: attr, Modifier: modifier, Data: payload, Expect: q.identity}
		if reply, err := q.Call(q.ctx, q.client, getopt.MadRPCRMPP, q.to, &r); err == nil {
			return reply.Data(), true
		}
	}
	fmt.Fprintf(q.Env.ErrOut, "vendstat: method %d, attribute %d failure\n", method, attr)
	return nil, false
}

func (q *query) showGroups() {
	data, ok := q.call(mad.MethodGet, mad.AttrMlnxCounterGroupInfo, q.port, nil)
	if !ok {
		fmt.Fprintln(q.Env.ErrOut, "counter group info query failure")
		return
	}
	const offGroups, offMasks, size = 11, 12, 4
	fmt.Fprintf(q.out, "counter_group_info:\n%d counter groups\n", data[offGroups])
	for i := range int(data[offGroups]) {
		mask := uint32(0) // beyond the packet
		if at := offMasks + i*size; at+size <= len(data) {
			mask = binary.BigEndian.Uint32(data[at:])
		}
		fmt.Fprintf(q.out, "group%d mask %s\n", i, alternateHex(mask))
	}
}

// alternateHex returns a number in C's format %#x, in which 0 has no prefix.
func alternateHex(v uint32) string {
	if v == 0 {
		return "0"
	}
	return fmt.Sprintf("0x%x", v)
}

func (q *query) configureGroups() {
	fmt.Fprintf(q.out, "counter_groups_config: configuring group0 %d group1 %d\n", q.selected[0], q.selected[1])
	a := mad.MlnxCounterGroupConfig{Selected: [2]uint8{uint8(q.selected[0]), uint8(q.selected[1])}}
	if _, ok := q.call(mad.MethodSet, a.Spec().ID, q.port, &a); !ok {
		fmt.Fprintln(q.Env.ErrOut, "config counter group set failure")
		return
	}
	if _, ok := q.call(mad.MethodGet, a.Spec().ID, q.port, nil); !ok {
		fmt.Fprintln(q.Env.ErrOut, "config counter group query failure")
	}
}

// configSpace reads or writes configuration space records, and prints them.
func (q *query) configSpace(method mad.Method, verb string, records []mad.MlnxConfigRecord) {
	if len(records) == 0 {
		return
	}
	a, ok := q.accessConfigSpace(method, records)
	if !ok {
		fmt.Fprintf(q.Env.ErrOut, "cannot %s config space records\n", verb)
		return
	}
	for _, r := range a.Records[:len(records)] {
		fmt.Fprintf(q.out, "Config space record at 0x%x: 0x%x\n", r.Address, r.Data&r.Mask)
	}
}

func (q *query) accessConfigSpace(method mad.Method, records []mad.MlnxConfigRecord) (a mad.MlnxConfigSpace, ok bool) {
	copy(a.Records[:], records)
	data, ok := q.call(method, a.Spec().ID, mad.MlnxConfigSpaceModifier(len(records)), &a)
	return a, ok && mad.Decode(&a, data) == nil
}

func (q *query) showGeneral() (failed string) {
	if _, ok := q.call(mad.MethodGet, mad.AttrClassPortInfo, 0, nil); !ok {
		return "classportinfo query"
	}
	var a mad.MlnxGeneralInfo
	data, ok := q.call(mad.MethodGet, a.Spec().ID, 0, nil)
	if !ok || mad.Decode(&a, data) != nil {
		return "generalinfo query"
	}
	if q.general {
		// The C tool prints the PSID up to the first 0, which may be beyond it.
		const offPSID = 56
		psid, _, _ := bytes.Cut(data[offPSID:], []byte{0})
		fmt.Fprintf(q.out, "hw_dev_rev:  0x%04x\n", a.HWRevision)
		fmt.Fprintf(q.out, "hw_dev_id:   0x%04x\n", a.DeviceID)
		fmt.Fprintf(q.out, "hw_uptime:   0x%08x\n", a.Uptime)
		fmt.Fprintf(q.out, "fw_version:  %s\n", a.Firmware())
		fmt.Fprintf(q.out, "fw_build_id: 0x%04x\n", a.FWBuildID)
		fmt.Fprintf(q.out, "fw_date:     %02x/%02x/%04x\n", a.FWMonth, a.FWDay, a.FWYear)
		fmt.Fprintf(q.out, "fw_psid:     '%s'\n", psid)
		fmt.Fprintf(q.out, "fw_ini_ver:  %d\n", int32(a.INIVersion))
		fmt.Fprintf(q.out, "sw_version:  %02d.%02d.%02d\n", a.SWMajor, a.SWMinor, a.SWSubMinor)
	}
	if q.xmitWait {
		return q.showWaits(a.DeviceID)
	}
	return ""
}

// InfiniScale III, the only device with known PortXmitWait addresses: the counters for
// its 24 ports are a page apart.
const (
	infiniScaleIII = 47396
	waitAddress    = 0x10013c
	waitPage       = 1 << 12
)

// showWaits prints the counters that are not 0. The C tool reads 16 ports from port 4 on
// and 8 more, which it numbers 21 to 24 and 1 to 4.
func (q *query) showWaits(device uint16) (failed string) {
	if device != infiniScaleIII {
		return fmt.Sprintf("Unsupported device ID 0x%x", device)
	}
	const first, second = 16, 8
	page := uint32(1)
	for _, count := range []int{first, second} {
		records := make([]mad.MlnxConfigRecord, count)
		for i := range records {
			records[i].Address = waitAddress + page*waitPage
			page++
		}
		a, ok := q.accessConfigSpace(mad.MethodGet, records)
		if !ok {
			return "vendstat"
		}
		for i, r := range a.Records[:count] {
			port := i + 4
			if count == second {
				if port = i + 21; i >= 4 {
					port = i - 3
				}
			}
			if r.Data != 0 {
				fmt.Fprintf(q.out, "Port %d: PortXmitWait 0x%x\n", port, r.Data)
			}
		}
	}
	return ""
}
