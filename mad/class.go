package mad

import "fmt"

// A Class is a management class (InfiniBand Architecture, Volume 1, 13.4.4).
type Class uint8

// The management classes.
const (
	ClassSMPLIDRouted Class = 0x01 // subnet management, routed by LID
	ClassSA           Class = 0x03 // subnet administration
	ClassPM           Class = 0x04 // performance management
	ClassBM           Class = 0x05 // baseboard management
	ClassDevMgt       Class = 0x06 // device management
	ClassCM           Class = 0x07 // communication management
	ClassSNMP         Class = 0x08 // SNMP tunnelling
	ClassCC           Class = 0x21 // congestion control
	ClassSysstat      Class = 0x33 // OpenFabrics' system status (infiniband-diags, ibsysstat.c)
	ClassSMPDirected  Class = 0x81 // subnet management, directed route
)

// String returns the specification's abbreviation, "Vendor(0x0a)" for a vendor class
// and "Class(0x50)" for other classes.
func (c Class) String() string {
	switch c {
	case ClassSMPLIDRouted:
		return "SubnLID"
	case ClassSMPDirected:
		return "SubnDR"
	case ClassSA:
		return "SubnAdm"
	case ClassPM:
		return "Perf"
	case ClassBM:
		return "BM"
	case ClassDevMgt:
		return "DevMgt"
	case ClassCM:
		return "ComMgt"
	case ClassSNMP:
		return "SNMP"
	case ClassCC:
		return "CongestionControl"
	case ClassSysstat:
		return "Sysstat"
	}
	if c >= 0x09 && c <= 0x0f || c.HasOUI() {
		return fmt.Sprintf("Vendor(0x%02x)", uint8(c))
	}
	return fmt.Sprintf("Class(0x%02x)", uint8(c))
}

// HasOUI reports whether c is a vendor class with an OUI in its packets (0x30 to
// 0x4f, 16.5).
func (c Class) HasOUI() bool { return c >= 0x30 && c <= 0x4f }

// IsSMP reports whether c is a subnet management class (LID-routed or
// directed), which uses QP0.
func (c Class) IsSMP() bool { return c == ClassSMPLIDRouted || c == ClassSMPDirected }

// Version returns the class version in MADs: 2 for subnet administration and congestion
// control, which specification release 1.1 and later changed.
func (c Class) Version() uint8 {
	if c == ClassSA || c == ClassCC {
		return 2
	}
	return 1
}

// DataRange returns the attribute data offset and size in bytes in the class's packets.
// If the layout is unknown, the data are all bytes after the headers.
func (c Class) DataRange() (offset, size int) {
	switch {
	case c.IsSMP():
		return offData, DataSize
	case c == ClassSA:
		// After the RMPP and class headers (15.2.1.1).
		return Size - SADataSize, SADataSize
	case c == ClassPM, c == ClassBM, c == ClassDevMgt, c == ClassCC:
		return offData, Size - offData
	case c.HasOUI():
		// After the RMPP header, a reserved byte and the OUI (16.5).
		return Size - VendorDataSize, VendorDataSize
	}
	return headerSize, Size - headerSize
}

// A Method is a MAD's method (13.4.5). The top bit marks a response.
type Method uint8

// The methods. The methods from MethodGetTable on belong to subnet administration
// (15.2.2).
const (
	MethodGet         Method = 0x01
	MethodSet         Method = 0x02
	MethodSend        Method = 0x03
	MethodTrap        Method = 0x05
	MethodReport      Method = 0x06
	MethodTrapRepress Method = 0x07
	MethodGetTable    Method = 0x12
	MethodGetTrace    Method = 0x13
	MethodGetMulti    Method = 0x14
	MethodDelete      Method = 0x15

	MethodGetResp      Method = MethodGet | methodResponse // the response to Get and Set
	MethodReportResp   Method = MethodReport | methodResponse
	MethodGetTableResp Method = MethodGetTable | methodResponse
	MethodGetMultiResp Method = MethodGetMulti | methodResponse
	MethodDeleteResp   Method = MethodDelete | methodResponse

	methodResponse Method = 0x80
)

// IsResponse reports whether m is a response. TrapRepress is a response although it
// does not have the response bit (13.4.5).
func (m Method) IsResponse() bool { return m&methodResponse != 0 || m == MethodTrapRepress }

// String returns the method's name, for example "GetResp".
func (m Method) String() string {
	if name, ok := methodNames[m]; ok {
		return name
	}
	return fmt.Sprintf("Method(0x%02x)", uint8(m))
}

var methodNames = map[Method]string{
	MethodGet:          "Get",
	MethodSet:          "Set",
	MethodSend:         "Send",
	MethodTrap:         "Trap",
	MethodReport:       "Report",
	MethodTrapRepress:  "TrapRepress",
	MethodGetTable:     "GetTable",
	MethodGetTrace:     "GetTraceTable",
	MethodGetMulti:     "GetMulti",
	MethodDelete:       "Delete",
	MethodGetResp:      "GetResp",
	MethodReportResp:   "ReportResp",
	MethodGetTableResp: "GetTableResp",
	MethodGetMultiResp: "GetMultiResp",
	MethodDeleteResp:   "DeleteResp",
}
