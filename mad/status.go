package mad

import (
	"fmt"
	"strings"
)

// A Status is a MAD's status field (InfiniBand Architecture, Volume 1, 13.4.7): two
// flags, a code, and a byte that the management class defines.
type Status uint16

// Common status parts.
const (
	StatusBusy     Status = 1 << 0 // discarded, try again later
	StatusRedirect Status = 1 << 1 // another address provides the service

	StatusBadVersion           Status = 1 << 2 // base or class version is not supported
	StatusBadMethod            Status = 2 << 2 // method is not supported
	StatusBadMethodAttr        Status = 3 << 2 // method is not supported for the attribute
	StatusBadValue             Status = 7 << 2 // invalid value in the attribute or its modifier
	statusCodeMask             Status = 7 << 2
	statusClassShift                  = 8
	directionBit               Status = 1 << 15 // in a directed-route packet: not a status
	statusSharedMask           Status = 0xff
	statusUndefinedSharedFlags        = statusSharedMask &^ (statusCodeMask | StatusBusy | StatusRedirect)
)

// Values in the class's byte in subnet administration (15.2.4).
const (
	StatusNoResources            Status = 1 << 8
	StatusInvalidRequest         Status = 2 << 8
	StatusNoRecords              Status = 3 << 8
	StatusTooManyRecords         Status = 4 << 8 // a Get matched several records
	StatusInvalidGID             Status = 5 << 8
	StatusInsufficientComponents Status = 6 << 8
	StatusRequestDenied          Status = 7 << 8
	StatusPrioritySuggested      Status = 8 << 8
)

// saStatusNames are the names for the class's byte in subnet administration, the only
// class here that uses it.
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

// A StatusError is a response's status, other than 0: the destination received the
// request and rejected it.
type StatusError Status

// ErrNoRecords is subnet administration's error if no record matches a request.
var ErrNoRecords error = StatusError(StatusNoRecords)

// Error returns the meaning of all status parts.
func (e StatusError) Error() string {
	s := Status(e)
	var parts []string
	if s&StatusBusy != 0 {
		parts = append(parts, "busy, the request was discarded")
	}
	if s&StatusRedirect != 0 {
		parts = append(parts, "redirection required")
	}
	switch code := s & statusCodeMask; code {
	case 0:
	case StatusBadVersion:
		parts = append(parts, "base version, class version or their combination not supported")
	case StatusBadMethod:
		parts = append(parts, "method not supported")
	case StatusBadMethodAttr:
		parts = append(parts, "method and attribute combination not supported")
	case StatusBadValue:
		parts = append(parts, "invalid value in attribute or attribute modifier")
	default:
		parts = append(parts, fmt.Sprintf("reserved code %d", code>>2))
	}
	if undefined := s & statusUndefinedSharedFlags; undefined != 0 {
		parts = append(parts, fmt.Sprintf("reserved flags 0x%02x", uint16(undefined)))
	}
	if class := s >> statusClassShift; class != 0 {
		text := fmt.Sprintf("class-specific code 0x%02x", uint16(class))
		if name := saStatusNames.of(uint64(class)); name != "" {
			text += " (subnet administration: " + name + ")"
		}
		parts = append(parts, text)
	}
	return fmt.Sprintf("MAD status 0x%04x: %s", uint16(s), strings.Join(parts, ", "))
}
