package perfquery

import (
	"fmt"
	"os"

	"github.com/ibkit/ibkit/cmd/internal/shared/pma"
	"github.com/ibkit/ibkit/mad"
)

// A table is an optional attribute that an option selects.
type table struct {
	option string
	letter byte
	help   string
	attr   mad.AttrID
	query  func(*command, *table) error
}

// tables are the optional attributes in the order of their options, which is
// also their precedence.
var tables = []table{
	{"xmtsl", 'X', "show Xmt SL port counters", mad.AttrPortXmitDataSL, (*command).table},
	{"rcvsl", 'S', "show Rcv SL port counters", mad.AttrPortRcvDataSL, (*command).table},
	{"xmtdisc", 'D', "show Xmt Discard Details", mad.AttrPortXmitDiscardDetails, (*command).table},
	{"rcverr", 'E', "show Rcv Error Details", mad.AttrPortRcvErrorDetails, (*command).table},
	{"extended_speeds", 'T', "show port extended speeds counters", mad.AttrPortExtendedSpeedsCounters, (*command).speeds},
	{"oprcvcounters", 0, "show Rcv Counters per Op code", mad.AttrPortOpRcvCounters, (*command).table},
	{"flowctlcounters", 0, "show flow control counters", mad.AttrPortFlowCtlCounters, (*command).table},
	{"vloppackets", 0, "show packets received per Op code per VL", mad.AttrPortVLOpPackets, (*command).table},
	{"vlopdata", 0, "show data received per Op code per VL", mad.AttrPortVLOpData, (*command).table},
	{"vlxmitflowctlerrors", 0, "show flow control update errors per VL", mad.AttrPortVLXmitFlowCtlUpdateErrors, (*command).table},
	{"vlxmitcounters", 0, "show ticks waiting to transmit counters per VL", mad.AttrPortVLXmitWaitCounters, (*command).table},
	{"swportvlcong", 0, "show sw port VL congestion", mad.AttrSwPortVLCongestion, (*command).table},
	{"rcvcc", 0, "show Rcv congestion control counters", mad.AttrPortRcvConCtrl, (*command).table},
	{"slrcvfecn", 0, "show SL Rcv FECN counters", mad.AttrPortSLRcvFECN, (*command).table},
	{"slrcvbecn", 0, "show SL Rcv BECN counters", mad.AttrPortSLRcvBECN, (*command).table},
	{"xmitcc", 0, "show Xmit congestion control counters", mad.AttrPortXmitConCtrl, (*command).table},
	{"vlxmittimecc", 0, "show VL Xmit Time congestion control counters", mad.AttrPortVLXmitTimeCong, (*command).table},
	{"smplctl", 'c', "show samples control", mad.AttrPortSamplesControl, (*command).samples},
}

// table prints and resets a single port's table.
func (c *command) table(t *table) error {
	a := mad.ClassPM.NewAttribute(t.attr)
	name := mad.AttributeName(a)
	if !c.resetOnly {
		if err := c.printTable(a, name); err != nil {
			return err
		}
	}
	if !c.reset && !c.resetOnly {
		return nil
	}
	if c.agent.Reset(&c.agent.To, t.attr, pma.Selection{Port: c.port, Counters: c.mask.Lowest32()}) != nil {
		return c.fail("common_func", "cannot reset %s", name)
	}
	return nil
}

func (c *command) printTable(a mad.Attribute, name string) error {
	if c.agent.Get(&c.agent.To, c.port, a) != nil {
		return c.fail("common_func", "cannot query %s", name)
	}
	fmt.Fprintf(c.out, "# %s counters: %v port %d\n", name, c.agent.To, c.port)
	return mad.Dump(c.out, a)
}

// samples prints PortSamplesControl.
func (c *command) samples(*table) error {
	a := &mad.PortSamplesControl{}
	if c.agent.Get(&c.agent.To, c.port, a) != nil {
		return c.fail("dump_portsamples_control", "sampctlquery")
	}
	fmt.Fprintf(c.out, "# PortSamplesControl: %v port %d\n", c.agent.To, c.port)
	return mad.Dump(c.out, a)
}

// speeds prints and resets PortExtendedSpeedsCounters, in the active forward error
// correction's layout.
func (c *command) speeds(t *table) error {
	if !c.resetOnly {
		var a mad.Attribute = &mad.PortExtendedSpeedsCounters{}
		name := mad.AttributeName(a)
		rsfec, err := c.rsFEC()
		if err != nil {
			return err
		}
		if rsfec {
			a, name = &mad.PortRSFECCounters{}, name+" with RS-FEC Active"
		}
		if err := c.printTable(a, name); err != nil {
			return err
		}
	}
	if !c.reset && !c.resetOnly {
		return nil
	}
	if c.Debug > 0 {
		fmt.Fprintf(c.out, "ibdebug: [%d] ext_speeds_reset_via: lid %d port %d mask 0x%x\n", os.Getpid(), c.agent.To.LID, c.port, c.mask.Bits)
	}
	if c.agent.ResetQuietly(&c.agent.To, t.attr, pma.Selection{Port: c.port, Counters: c.mask.Bits}) != nil {
		return c.fail("extended_speeds_query", "cannot reset PortExtendedSpeedsCounters")
	}
	return nil
}

// rsFEC reports whether the port has RS-FEC counters.
func (c *command) rsFEC() (bool, error) {
	if !c.agent.Caps.Has(mad.PerfRSFECCounters) {
		return false, nil
	}
	const function = "is_rsfec_mode_active"
	has, err := c.hasPortInfoExtended()
	if err != nil {
		return false, err
	}
	if !has {
		c.agent.Warnf(function, "Port Info Extended not supported")
		return false, nil
	}
	var info mad.PortInfoExtended
	if c.agent.GetSMP(c.agent.To, uint32(c.port), &info) != nil {
		return false, c.fail(function, "smp query portinfo extended failed")
	}
	return info.HasRSFEC(), nil
}

// hasPortInfoExtended reports whether the node has PortInfoExtended.
func (c *command) hasPortInfoExtended() (bool, error) {
	const function = "is_port_info_extended_supported"
	var node mad.NodeInfo
	if c.agent.GetSMP(c.agent.To, 0, &node) != nil {
		return false, c.fail(function, "node info query failed")
	}
	number := c.port
	if node.IsSwitch() {
		number = 0
	}
	var port mad.PortInfo
	if c.agent.GetSMP(c.agent.To, uint32(number), &port) != nil {
		return false, c.fail(function, "port info query failed")
	}
	switch {
	case port.CapMask&mad.CapCapMask2 == 0:
		c.agent.Warnf(function, "port info capability mask2 not supported")
	case port.CapMask2&mad.Cap2PortInfoExtended == 0:
		c.agent.Warnf(function, "port info capability mask2 = 0x%x doesn't indicate PortInfoExtended support", uint16(port.CapMask2))
	default:
		return true, nil
	}
	return false, nil
}
