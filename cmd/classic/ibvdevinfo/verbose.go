package ibvdevinfo

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/verbs"
)

// colons formats a GUID as four groups.
func colons(guid uint64) string {
	return fmt.Sprintf("%04x:%04x:%04x:%04x", guid>>48, guid>>32&0xffff, guid>>16&0xffff, guid&0xffff)
}

// errnoOf returns a system error's number, which ibv_devinfo adds to its exit code; 1 for
// other errors.
func errnoOf(err error) int {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return int(errno)
	}
	return 1
}

// label returns a name followed by tabs up to a column, which includes the indent.
func label(indent int, name string, column int) string {
	tabs := max(1, (column-8*indent-len(name)-1+7)/8)
	return strings.Repeat("\t", indent) + name + ":" + strings.Repeat("\t", tabs)
}

// valueColumn is the column for device values.
const valueColumn = 40

// bits prints names, each on a line, and the bits without a name.
func bits[T ~uint16 | ~uint32 | ~uint64](v *view, known []string, rest T) {
	for _, name := range known {
		fmt.Fprintf(v.out, "\t\t\t\t\t%s\n", name)
	}
	if rest != 0 {
		fmt.Fprintf(v.out, "\t\t\t\t\tUnknown flags: 0x%X\n", uint64(rest))
	}
}

// capabilities prints the lines that -v adds to a device.
func (v *view) capabilities(d *devinfo.Device) {
	a := d.Attr
	for name, value := range devinfo.Limits(a) {
		if name == "local_ca_ack_delay" {
			v.counters(d.CompCounters)
		}
		fmt.Fprint(v.out, label(1, name, valueColumn))
		switch name {
		case "max_mr_size", "page_size_cap":
			fmt.Fprintf(v.out, "0x%x\n", value)
		case "device_cap_flags":
			fmt.Fprintf(v.out, "0x%08x\n", value)
			known, rest := a.Caps.Names()
			bits(v, known, rest)
		case "atomic_cap":
			fmt.Fprintf(v.out, "%s (%d)\n", a.AtomicCap, value)
		default:
			fmt.Fprintf(v.out, "%d\n", int32(value))
		}
	}
	v.odp(optional.OrZero(a.ODP), optional.OrZero(a.XRCODP))
	if mask := optional.OrZero(a.TimestampMask); mask != 0 {
		fmt.Fprintf(v.out, "\tcompletion timestamp_mask:\t\t\t0x%016x\n", mask)
	} else {
		fmt.Fprintf(v.out, "\tcompletion_timestamp_mask not supported\n")
	}
	if clock := optional.OrZero(a.CoreClock); clock != 0 {
		fmt.Fprintf(v.out, "\thca_core_clock:\t\t\t%dkHZ\n", clock)
	} else {
		fmt.Fprintf(v.out, "\tcore clock not supported\n")
	}
	if raw := optional.OrZero(a.RawPacket); raw != 0 {
		fmt.Fprintf(v.out, "\traw packet caps:\n")
		known, _ := raw.Names()
		bits(v, known, verbs.RawPacketCaps(0))
	}
	ex := optional.OrZero(a.CapsEx)
	fmt.Fprintf(v.out, "\tdevice_cap_flags_ex:\t\t0x%X\n", uint64(ex))
	v.capsEx(ex)
	v.offloads(a)
	fmt.Fprintf(v.out, "\tnum_comp_vectors:\t\t%d\n", optional.OrZero(d.CompVectors))
}

// counters prints the limits of completion counters.
func (v *view) counters(c *verbs.CompCounterCaps) {
	if c == nil {
		return
	}
	fmt.Fprintf(v.out, "\tmax_comp_cntr:\t\t\t%d\n\tcomp_cntr_caps:\n", c.MaxCounters)
	known, _ := c.AttachOps.Names()
	bits(v, known, verbs.CompCounterOps(0))
}

// capsEx prints the extended capabilities. ibv_devinfo knows only three names.
func (v *view) capsEx(ex verbs.DeviceCapsEx) {
	const named = 1<<34 | 1<<36 | 1<<41
	known, rest := (ex & named).Names()
	bits(v, known, rest|ex&^named&^(1<<32-1))
}

func (v *view) odp(c verbs.ODPCaps, xrc verbs.ODPTransport) {
	fmt.Fprintf(v.out, "\tgeneral_odp_caps:\n")
	known, rest := c.General.Names()
	bits(v, known, rest)
	for _, t := range []struct {
		name string
		caps verbs.ODPTransport
	}{{"rc", c.RC}, {"uc", c.UC}, {"ud", c.UD}, {"xrc", xrc}} {
		fmt.Fprintf(v.out, "\t%s_odp_caps:\n", t.name)
		if t.caps == 0 {
			fmt.Fprintf(v.out, "\t\t\t\t\tNO SUPPORT\n")
			continue
		}
		known, rest := t.caps.Names()
		bits(v, known, rest)
	}
}

// offloadQPTypes are the types that ibv_devinfo knows for segmentation and receive hashing.
const offloadQPTypes = 1<<verbs.QPTypeRawPacket | 1<<verbs.QPTypeUD

// qpTypes prints queue pair types, of which ibv_devinfo knows some.
func (v *view) qpTypes(types, named verbs.QPTypes) {
	fmt.Fprintf(v.out, "\t\tsupported_qp:\n")
	known, _ := (types & named).Names()
	bits(v, known, types&^named)
}

func (v *view) offloads(a *verbs.DeviceAttr) {
	tso := optional.OrZero(a.TSO)
	fmt.Fprintf(v.out, "\ttso_caps:\n\t\tmax_tso:\t\t\t%d\n", int32(tso.Max))
	if tso.Max != 0 {
		v.qpTypes(tso.QPTypes, offloadQPTypes)
	}
	rss, hash := optional.OrZero(a.RSS), optional.OrZero(a.RxHash)
	fmt.Fprintf(v.out, "\trss_caps:\n")
	fmt.Fprintf(v.out, "\t\tmax_rwq_indirection_tables:\t\t\t%d\n", rss.MaxRWQIndirectionTables)
	fmt.Fprintf(v.out, "\t\tmax_rwq_indirection_table_size:\t\t\t%d\n", rss.MaxRWQIndirectionTableSize)
	fmt.Fprintf(v.out, "\t\trx_hash_function:\t\t\t\t0x%x\n", hash.Function)
	fmt.Fprintf(v.out, "\t\trx_hash_fields_mask:\t\t\t\t0x%X\n", hash.Fields)
	if rss.QPTypes != 0 {
		v.qpTypes(rss.QPTypes, offloadQPTypes)
	}
	fmt.Fprintf(v.out, "\tmax_wq_type_rq:\t\t\t%d\n", optional.OrZero(a.MaxWQTypeRQ))
	pacing := optional.OrZero(a.PacketPacing)
	fmt.Fprintf(v.out, "\tpacket_pacing_caps:\n")
	fmt.Fprintf(v.out, "\t\tqp_rate_limit_min:\t%dkbps\n", pacing.Min)
	fmt.Fprintf(v.out, "\t\tqp_rate_limit_max:\t%dkbps\n", pacing.Max)
	if pacing.Max != 0 {
		v.qpTypes(pacing.QPTypes, offloadQPTypes|1<<verbs.QPTypeRC)
	}
	if tm := optional.OrZero(a.TagMatching); tm.MaxNumTags != 0 {
		fmt.Fprintf(v.out, "\tmax_rndv_hdr_size:\t\t%d\n", tm.MaxRndvHdrSize)
		fmt.Fprintf(v.out, "\tmax_num_tags:\t\t\t%d\n", tm.MaxNumTags)
		fmt.Fprintf(v.out, "\tmax_ops:\t\t\t%d\n", tm.MaxOps)
		fmt.Fprintf(v.out, "\tmax_sge:\t\t\t%d\n", tm.MaxSGE)
		fmt.Fprintf(v.out, "\tflags:\n")
		known, _ := tm.Flags.Names()
		bits(v, known, verbs.TagMatching(0))
	} else {
		fmt.Fprintf(v.out, "\ttag matching not supported\n")
	}
	if cq := optional.OrZero(a.CQModeration); cq.MaxCount != 0 && cq.MaxPeriod != 0 {
		fmt.Fprintf(v.out, "\n\tcq moderation caps:\n")
		fmt.Fprintf(v.out, "\t\tmax_cq_count:\t%d\n", cq.MaxCount)
		fmt.Fprintf(v.out, "\t\tmax_cq_period:\t%d us\n\n", cq.MaxPeriod)
	}
	if dm := optional.OrZero(a.MaxDMSize); dm != 0 {
		fmt.Fprintf(v.out, "\tmaximum available device memory:\t%dBytes\n\n", dm)
	}
}

// portCapabilities prints the lines that -v adds to a port, except GIDs.
func (v *view) portCapabilities(p *devinfo.Port, infiniband bool) {
	a := p.Attr
	fmt.Fprintf(v.out, "\t\t\tmax_msg_sz:\t\t0x%x\n", a.MaxMsgSize)
	fmt.Fprintf(v.out, "\t\t\tport_cap_flags:\t\t0x%08x\n", uint32(a.Caps))
	fmt.Fprintf(v.out, "\t\t\tport_cap_flags2:\t0x%04x\n", a.Caps2)
	fmt.Fprintf(v.out, "\t\t\tmax_vl_num:\t\t%s (%d)\n", virtualLanes(a.MaxVL), uint8(a.MaxVL))
	fmt.Fprintf(v.out, "\t\t\tbad_pkey_cntr:\t\t0x%x\n", a.BadPKeys)
	fmt.Fprintf(v.out, "\t\t\tqkey_viol_cntr:\t\t0x%x\n", a.QKeyViols)
	fmt.Fprintf(v.out, "\t\t\tsm_sl:\t\t\t%d\n", a.SMSL)
	fmt.Fprintf(v.out, "\t\t\tpkey_tbl_len:\t\t%d\n", a.PKeyTableLen)
	fmt.Fprintf(v.out, "\t\t\tgid_tbl_len:\t\t%d\n", a.GIDTableLen)
	fmt.Fprintf(v.out, "\t\t\tsubnet_timeout:\t\t%d\n", a.SubnetTimeout)
	fmt.Fprintf(v.out, "\t\t\tinit_type_reply:\t%d\n", a.InitTypeReply)
	fmt.Fprintf(v.out, "\t\t\tactive_width:\t\t%s (%d)\n", linkWidth(a.ActiveWidth), uint8(a.ActiveWidth))
	fmt.Fprintf(v.out, "\t\t\tactive_speed:\t\t%s (%d)\n", linkSpeed(a.ActiveSpeed), uint16(a.ActiveSpeed))
	if p.Effective != nil {
		fmt.Fprintf(v.out, "\t\t\teffective_speed:\t%.1f Gbps\n", float64(*p.Effective)/10)
	}
	if infiniband {
		fmt.Fprintf(v.out, "\t\t\tphys_state:\t\t%s (%d)\n", physState(a.PhysState), uint8(a.PhysState))
	}
}
