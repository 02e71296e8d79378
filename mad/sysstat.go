package mad

// The attributes in [ClassSysstat]. Its packets have the OUI [OpenIB] by default. A
// reply's data are text that ends with a NUL, as long as necessary: RMPP transfers it
// in segments (infiniband-diags, ibsysstat.c).
const (
	AttrSysstatPing AttrID = 0x10 // no data
	AttrSysstatHost AttrID = 0x11 // host name, a dot and the NIS domain
	AttrSysstatCPU  AttrID = 0x12 // a line for each processor
)

// OpenIB is the OUI of the OpenIB Alliance, today's OpenFabrics, which its vendor classes
// have (libibmad, mad.h: IB_OPENIB_OUI).
const OpenIB = 0x001405

var sysstatAttributes = map[AttrID]attrKind{
	AttrSysstatPing: {name: "Ping"},
	AttrSysstatHost: {name: "HostInfo"},
	AttrSysstatCPU:  {name: "CPUInfo"},
}
