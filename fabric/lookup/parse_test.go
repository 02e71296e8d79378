package lookup

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

var sameAddress = cmpopts.EquateComparable(netip.Addr{}, mad.Route{})

func TestParse(t *testing.T) {
	gid := ib.MakeGID(0xfe80<<48, 0x2c9030010a1b2)
	for text, want := range map[string]Address{
		"7":                              {Kind: LID, First: 7, Last: 7},
		"0x1f":                           {Kind: LID, First: 31, Last: 31},
		"017":                            {Kind: LID, First: 15, Last: 15},
		"0xbfff":                         {Kind: LID, First: 0xbfff, Last: 0xbfff},
		"4-9":                            {Kind: LID, First: 4, Last: 9},
		"0x10-0x1f":                      {Kind: LID, First: 16, Last: 31},
		"lid:0x00001":                    {Kind: LID, First: 1, Last: 1},
		"0x0002c9030010a1b2":             {Kind: GUID, GUID: 0x2c9030010a1b2},
		"0x10004":                        {Kind: GUID, GUID: 0x10004},
		"0002:c903:0010:a1b2":            {Kind: GUID, GUID: 0x2c9030010a1b2},
		"0002c9030010a1b2":               {Kind: GUID, GUID: 0x2c9030010a1b2},
		"1234567812345678":               {Kind: GUID, GUID: 0x1234567812345678},
		"guid:0xbeef":                    {Kind: GUID, GUID: 0xbeef},
		"0,1,3":                          {Kind: Route, Route: mad.RouteOf(1, 3)},
		"0, 1":                           {Kind: Route, Route: mad.RouteOf(1)},
		"5,0,1":                          {Kind: Route, First: 5, Route: mad.RouteOf(1)},
		"route:0":                        {Kind: Route, Route: mad.Local},
		"DR:0,2":                         {Kind: Route, Route: mad.RouteOf(2)},
		"fe80::2:c903:10:a1b2":           {Kind: GID, GID: gid},
		"2001:db8::7":                    {Kind: GID, GID: netip.MustParseAddr("2001:db8::7").As16()},
		"fe80:0:0:0:0002:c903:0010:a1b2": {Kind: GID, GID: gid},
		"::ffff:192.0.2.7":               {Kind: GID, GID: netip.MustParseAddr("::ffff:192.0.2.7").As16()},
		"192.0.2.7":                      {Kind: IP, IP: netip.MustParseAddr("192.0.2.7")},
		"ip:::ffff:192.0.2.7":            {Kind: IP, IP: netip.MustParseAddr("192.0.2.7")},
		"ip:2001:db8::7":                 {Kind: IP, IP: netip.MustParseAddr("2001:db8::7")},
		"fe80::1%ib0":                    {Kind: IP, IP: netip.MustParseAddr("fe80::1%ib0")},
		"node07":                         {Kind: Name, Name: "node07"},
		"node07 mlx5_0/1":                {Kind: Name, Name: "node07 mlx5_0/1"},
		"MF0;leaf:MSB7700/U1":            {Kind: Name, Name: "MF0;leaf:MSB7700/U1"},
		"42u-switch":                     {Kind: Name, Name: "42u-switch"},
		"-5":                             {Kind: Name, Name: "-5"},
		"leaf1[3]":                       {Kind: Name, Name: "leaf1[3]"},
		"0x0002c9030010a1b2[3]":          {Kind: Name, Name: "0x0002c9030010a1b2[3]"},
		"name:17":                        {Kind: Name, Name: "17"},
		"10.0.0.example":                 {Kind: Name, Name: "10.0.0.example"},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := Parse(text)
			want.Text = text
			if d := cmp.Diff(want, got, sameAddress); err != nil || d != "" {
				t.Errorf("got error %v and difference\n%s", err, d)
			}
		})
	}
}

func TestParse_Invalid(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "empty address",
		"lid:0x10000":          "0x10000 is not the LID of a port",
		"65536":                "65536 is not the LID of a port",
		"99999999999999999999": "99999999999999999999 is not the LID of a port",
		"lid:1_0":              `"1_0" is not a number`,
		"lid:0o17":             `"0o17" is not a number`,
		"lid:0x1_0":            `"0x1_0" is not a number`,
		"089":                  `"089" is not a number`,
		"9-4":                  "the last LID 4 is below the first LID 9",
		"1-2-3":                `"2-3" is not a number`,
		"4--9":                 `"-9" is not a number`,
		"0x12g4":               `"0x12g4" is not a number: position 5: 'g' is not a hexadecimal digit`,
		"lid:12-1x":            `"1x" is not a number: position 2: 'x' is not a digit`,
		"lid:3/4":              "a LID has no port number",
		"0x12g456":             "position 5",
		"guid:0":               "GUID 0",
		"0,1,x":                "element 3",
		"1,2":                  "element 1 is the local node",
		"0,0":                  "no link leaves by port 0",
		"0x10000,0,1":          "0x10000 is not the LID of a port",
		"ff12::1":              "multicast",
		"fe80::":               "the GUID in the GID is 0",
		"gid:192.0.2.7":        "form of an IPv6 address",
		"gid:node":             `"node" is not a GID`,
		"1:2:3":                `"1:2:3" is not a GID`,
		"224.0.0.1":            "not the address of a single host",
		"300.0.0.1":            `"300.0.0.1" is not an IP address`,
		"ip:node":              `"node" is not an IP address`,
		"name:":                "empty name",
		"node\x1b[2J":          "invalid characters",
	} {
		t.Run(text, func(t *testing.T) {
			a, err := Parse(text)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("got %+v, error %v, want %q", a, err, want)
			}
			for _, function := range []string{"strconv", "Parse"} {
				if strings.Contains(err.Error(), function) {
					t.Errorf("got error %v, want one without the name of a function", err)
				}
			}
		})
	}
}

// FuzzParse checks the limits of a parsed address, and that it is parsed to the same
// address with a prefix.
func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Parse(s)
		if err != nil {
			return
		}
		ok := false
		switch a.Kind {
		case LID:
			ok = a.First <= a.Last
		case GUID:
			ok = a.GUID != 0
		case Route:
			ok = a.Route.Hops() <= mad.MaxHops && a.First <= ib.PermissiveLID
		case GID:
			ok = a.GID.GUID() != 0 && !a.GID.IsMulticast()
		case IP:
			ok = a.IP.IsValid() && !a.IP.Is4In6()
		case Name:
			ok = a.Name != ""
		}
		if !ok || a.Text != s {
			t.Fatalf("%q: %+v", s, a)
		}
		again, err := Parse(a.Kind.String() + ":" + strings.TrimPrefix(s, prefixOf(s)))
		if again.Text = s; err != nil || again != a {
			t.Fatalf("%q: %+v, then %+v, %v", s, a, again, err)
		}
	})
}

// prefixOf returns the prefix of an address, without the colon.
func prefixOf(s string) string {
	prefix, _, found := strings.Cut(s, ":")
	if !found || parsers[strings.ToLower(prefix)] == nil {
		return ""
	}
	return prefix + ":"
}
