package register

// A TroubleCode is the reason for a link that is down.
type TroubleCode uint16

// NoTrouble is the code of a link without a reason.
const NoTrouble TroubleCode = 0

// String returns the reason's group: the message in [Trouble] is more precise.
func (c TroubleCode) String() string {
	for _, g := range troubles {
		if g.first <= c && c <= g.last {
			return g.text
		}
	}
	return undefined(uint16(c))
}

// A troubleRange is a group of codes.
type troubleRange struct {
	first, last TroubleCode
	text        string
}

var troubles = []troubleRange{
	{0, 0, "none"}, {1, 1, "closed by command"}, {2, 4, "negotiation failed"}, {5, 8, "training failed"},
	{9, 13, "the ends have different settings"}, {14, 14, "remote fault"}, {15, 15, "bad signal"},
	{16, 16, "cable compliance"}, {17, 17, "bad signal"}, {24, 32, "cable compliance"}, {34, 35, "degraded speed"},
	{38, 39, "negotiation failed"}, {42, 42, "bad signal"}, {48, 49, "bad signal"}, {52, 52, "bad signal"},
	{57, 57, "no signal"}, {60, 60, "no partner"}, {128, 128, "in progress"}, {1023, 1023, "not available"},
	{1024, 1024, "cable unplugged"}, {1026, 1026, "I2C bus stuck"}, {1027, 1027, "module EEPROM not readable"},
	{1029, 1029, "module not supported"}, {1030, 1030, "module too hot"}, {1031, 1031, "short circuit in the cable"},
	{1032, 1032, "power budget"}, {1033, 1034, "disabled by management"}, {1035, 1035, "power budget"},
	{1042, 1053, "module fault"}, {1055, 1059, "laser fault"},
}
