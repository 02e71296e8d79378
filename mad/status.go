package mad

import (
	"fmt"
	"strings"
)

// A Status is the status field of a MAD (InfiniBand Architecture, Volume 1,
// 13.4.7): two flags, a code, and a byte that the management class defines.
type Status uint16

// The parts of a status that all classes share.
const (
	StatusBusy     Status = 1 << 0 // discarded, try again later
	StatusRedirect Status = 1 << 1 // the service is to be asked elsewhere

	StatusBadVersion           Status = 1 << 2 // base or class version is not supported
	StatusBadMethod            Status = 2 << 2 // method is not supported
	StatusBadMethodAttr        Status = 3 << 2 // method is not supported for the attribute
	StatusBadValue             Status = 7 << 2 // invalid value in the attribute or its modifier
	statusCodeMask             Status = 7 << 2
	statusClassShift                  = 8
	directionBit               Status = 1 << 15 // of a directed-route packet: not a status
	statusSharedMask           Status = 0xff
	statusUndefinedSharedFlags        = statusSharedMask &^ (statusCodeMask | StatusBusy | StatusRedirect)
)

// What the class's byte says in subnet administration (15.2.4).
const (
	StatusNoResources            Status = 1 << 8
	StatusInvalidRequest         Status = 2 << 8
	StatusNoRecords              Status = 3 << 8
	StatusTooManyRecords         Status = 4 << 8 // a Get matched more than one
	StatusInvalidGID             Status = 5 << 8
	StatusInsufficientComponents Status = 6 << 8
	StatusRequestDenied          Status = 7 << 8
	StatusPrioritySuggested      Status = 8 << 8
)

// saStatusNames are those of the class's byte in subnet administration, the one
// class of those here that uses it.
var saStatusNames = names{
	"", "no resources", "invalid request", "no records", "too many records", "invalid GID",
	"insufficient components", "request denied", "another priority suggested",
}

// Err returns nil for status 0 and a [StatusError] for any other.
func (s Status) Err() error {
	if s == 0 {
		return nil
	}
	return StatusError(s)
}

// A StatusError is a status other than 0 that a MAD came back with: the other
// side was reached and refused.
type StatusError Status

// Error names each thing that the status says.
func (e StatusError) Error() string {
	s := Status(e)
	var says []string
	if s&StatusBusy != 0 {
		says = append(says, "busy, the request was discarded")
	}
	if s&StatusRedirect != 0 {
		says = append(says, "redirection required")
	}
	switch code := s & statusCodeMask; code {
	case 0:
	case StatusBadVersion:
		says = append(says, "base version, class version or their combination not supported")
	case StatusBadMethod:
		says = append(says, "method not supported")
	case StatusBadMethodAttr:
		says = append(says, "method and attribute combination not supported")
	case StatusBadValue:
		says = append(says, "invalid value in attribute or attribute modifier")
	default:
		says = append(says, fmt.Sprintf("reserved code %d", code>>2))
	}
	if undefined := s & statusUndefinedSharedFlags; undefined != 0 {
		says = append(says, fmt.Sprintf("reserved flags 0x%02x", uint16(undefined)))
	}
	if class := s >> statusClassShift; class != 0 {
		text := fmt.Sprintf("class-specific code 0x%02x", uint16(class))
		if name := saStatusNames.of(uint64(class)); name != "" {
			text += " (subnet administration: " + name + ")"
		}
		says = append(says, text)
	}
	return fmt.Sprintf("MAD status 0x%04x: %s", uint16(s), strings.Join(says, ", "))
}
