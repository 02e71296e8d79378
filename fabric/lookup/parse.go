package lookup

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Parse parses an address of any kind. A prefix such as "name:" or "guid:" specifies
// the kind. Without one, the address form determines it:
//
//	7, 0x1f, 017, 4-9           a LID, or a range of them: decimal, hexadecimal of up to 4 digits, octal
//	0x0002c9030010a1b2          a GUID: more than 4 digits after 0x, or 16 without it
//	0002:c903:0010:a1b2         a GUID in the form of sysfs
//	0,1,3                       a directed route from the local port
//	5,0,1                       a directed route from the node with LID 5
//	fe80::2:c903:10:a1b2        a GID
//	192.0.2.7, fe80::1%ib0      an IP address; IPv6 only with a zone or after "ip:"
//	anything else               a name
//
// A name stands for all ports of a node. "NAME[1]" or "NAME/1" is a single port, and
// "node0*" is a pattern. A node GUID can have such a number, too.
func Parse(s string) (Address, error) {
	a, err := parse(s)
	if err != nil {
		return Address{}, fmt.Errorf("parse address %q: %w", s, err)
	}
	a.Text = s
	return a, nil
}

func parse(s string) (Address, error) {
	if s == "" {
		return Address{}, errors.New("empty address")
	}
	if prefix, rest, found := strings.Cut(s, ":"); found {
		if as := parsers[strings.ToLower(prefix)]; as != nil {
			return as(rest)
		}
	}
	switch {
	case strings.Count(s, ":") == 3 && !strings.Contains(s, "::") && isMadeOf(s, hexDigits+":"):
		return parseGUID(s)
	case strings.Contains(s, ":") && strings.Contains(s, "%"), isMadeOf(s, digits+".") && strings.Count(s, ".") == 3:
		return parseIP(s)
	case strings.Count(s, ":") > 1 && isMadeOf(s, hexDigits+":."):
		return parseGID(s)
	case isNumber(strings.SplitN(s, ",", 2)[0]) && strings.Contains(s, ","):
		return parseRoute(s)
	case len(s) == 16 && isMadeOf(s, hexDigits):
		return parseGUID(s)
	case strings.HasPrefix(s, "0x") && strings.ContainsAny(s, "[/"):
		return parseName(s) // a port on the node with a GUID
	case strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X"):
		if len(s) > len("0xffff") && !strings.Contains(s, "-") {
			return parseGUID(s)
		}
		return parseLIDs(s)
	case isMadeOf(s, digits+"-") && s[0] != '-' && s[len(s)-1] != '-':
		return parseLIDs(s)
	}
	return parseName(s)
}

// parsers parse the address text after a kind's prefix.
var parsers = map[string]func(string) (Address, error){
	"lid":   parseLIDs,
	"guid":  parseGUID,
	"route": parseRoute,
	"dr":    parseRoute,
	"gid":   parseGID,
	"ip":    parseIP,
	"name":  parseName,
}

const (
	digits    = "0123456789"
	hexDigits = digits + "abcdefABCDEF"
)

// isMadeOf reports whether s consists of certain characters.
func isMadeOf(s, characters string) bool { return strings.Trim(s, characters) == "" }

// isNumber reports whether s looks like a LID or 0.
func isNumber(s string) bool {
	return strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") || s != "" && isMadeOf(s, digits)
}

func parseLIDs(s string) (a Address, err error) {
	a.Kind = LID
	if lid, _, ok := fabric.CutPort(s); ok && isNumber(lid) {
		return a, errors.New("a LID has no port number, only a name has")
	}
	first, last, isRange := strings.Cut(s, "-")
	if a.First, err = parseLID(first); err != nil {
		return a, err
	}
	a.Last = a.First
	if isRange {
		if a.Last, err = parseLID(last); err != nil {
			return a, err
		}
	}
	if a.Last < a.First {
		return a, fmt.Errorf("invalid range: the last LID %d is below the first LID %d", a.Last, a.First)
	}
	return a, nil
}

// parseLID parses a number like C's strtol, without trailing characters. It accepts 0
// and multicast group LIDs: [Resolver.Find] reports them as not found, so that such a
// LID in a list does not prevent the use of the others.
func parseLID(s string) (ib.LID, error) {
	lid, err := strconv.ParseUint(s, 0, 64)
	// Go has number forms that C does not have.
	rest, set, kind := s, digits, "a digit"
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		rest, set, kind = s[2:], hexDigits, "a hexadecimal digit"
	}
	for i, c := range rest {
		if !strings.ContainsRune(set, c) {
			return 0, fmt.Errorf("%q is not a number: position %d: %q is not %s", s, len(s)-len(rest)+i+1, c, kind)
		}
	}
	if errors.Is(err, strconv.ErrSyntax) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	if err != nil || lid > 0xffff {
		return 0, &LIDError{s}
	}
	return ib.LID(lid), nil
}

// A LIDError reports a number that is not a port's LID.
type LIDError struct{ Text string }

func (e *LIDError) Error() string {
	return fmt.Sprintf("%s is not the LID of a port, which is 1 to %d (0x%[2]x)", e.Text, ib.MaxUnicastLID)
}

// Hint suggests a remedy.
func (e *LIDError) Hint() string {
	if e.Text == "0" {
		return "the local port is route:0"
	}
	return ""
}

// CheckPort returns a [*LIDError] for a LID that no port can have.
func CheckPort(lid ib.LID) error {
	if lid.IsUnicast() {
		return nil
	}
	return &LIDError{strconv.Itoa(int(lid))}
}

func parseGUID(s string) (Address, error) {
	guid, err := ib.ParseGUID(s)
	if err == nil && guid == 0 {
		err = fmt.Errorf("parse GUID %q: no port has GUID 0", s)
	}
	return Address{Kind: GUID, GUID: guid}, err
}

// parseRoute parses a route, which may start with a LID.
func parseRoute(s string) (a Address, err error) {
	a.Kind = Route
	if lid, route, found := strings.Cut(s, ","); found && strings.Trim(lid, "0 ") != "" {
		if a.First, err = parseLID(strings.TrimSpace(lid)); err != nil {
			return a, err
		}
		s = route
	}
	a.Route, err = mad.ParseRoute(s)
	return a, err
}

func parseGID(s string) (Address, error) {
	ip, err := netip.ParseAddr(s)
	if err != nil {
		return Address{}, fmt.Errorf("%q is not a GID, which has the form of an IPv6 address", s)
	}
	gid := ib.GID(ip.As16())
	switch {
	case ip.Is4() || ip.Zone() != "":
		return Address{}, errors.New("not a GID, which has the form of an IPv6 address without a zone")
	case gid.IsMulticast():
		return Address{}, errors.New("the GID of a multicast group")
	case gid.GUID() == 0:
		return Address{}, errors.New("the GUID in the GID is 0")
	}
	return Address{Kind: GID, GID: gid}, nil
}

func parseIP(s string) (Address, error) {
	ip, err := netip.ParseAddr(s)
	switch {
	case err != nil:
		return Address{}, fmt.Errorf("%q is not an IP address", s)
	case ip.IsMulticast(), ip.IsUnspecified(), ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return Address{}, errors.New("not the address of a single host")
	}
	return Address{Kind: IP, IP: ip.Unmap()}, nil
}

func parseName(s string) (Address, error) {
	if s == "" {
		return Address{}, errors.New("empty name")
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return Address{}, errors.New("invalid characters in the name")
	}
	return Address{Kind: Name, Name: s}, nil
}
