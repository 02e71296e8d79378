// Package trap receives the notices about events in a fabric that subnet administration
// forwards to its subscribers, and sends notices for tests.
package trap

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/mad"
)

// A Kind is a subnet management trap kind (InfiniBand Architecture, Volume 1, 14.2.5.1).
type Kind struct {
	Number uint16
	Name   string
	Type   mad.NoticeType
	About  string
}

// Kinds are the trap kinds that the specification defines, by number.
var Kinds = []Kind{
	{mad.TrapGIDInService, "in-service", mad.NoticeSubnetManager, "port is reachable"},
	{mad.TrapGIDOutOfService, "out-of-service", mad.NoticeSubnetManager, "port is not reachable any more"},
	{mad.TrapGroupCreated, "group-created", mad.NoticeSubnetManager, "multicast group has its first member"},
	{mad.TrapGroupDeleted, "group-deleted", mad.NoticeSubnetManager, "multicast group has no members"},
	{mad.TrapLinkState, "link-state", mad.NoticeUrgent, "link of a switch went up or down"},
	{mad.TrapLinkIntegrity, "link-integrity", mad.NoticeUrgent, "symbol errors exceed the threshold"},
	{mad.TrapBufferOverrun, "buffer-overrun", mad.NoticeUrgent, "buffer overruns exceed the threshold"},
	{mad.TrapWatchdog, "watchdog", mad.NoticeUrgent, "flow control updates are missing"},
	{mad.TrapCapabilities, "capabilities", mad.NoticeInfo, "capabilities or description changed"},
	{mad.TrapSystemImageGUID, "system-image", mad.NoticeInfo, "system image GUID changed"},
	{mad.TrapBadMKey, "m-key", mad.NoticeSecurity, "packet with a wrong M_Key"},
	{mad.TrapBadPKey, "p-key", mad.NoticeSecurity, "packet with a wrong P_Key"},
	{mad.TrapBadQKey, "q-key", mad.NoticeSecurity, "packet with a wrong Q_Key"},
	{mad.TrapBadSwitchPKey, "switch-p-key", mad.NoticeSecurity, "packet with a wrong P_Key at a switch"},
}

// KindOf returns a trap's kind, false for a number that the specification does not define.
func KindOf(number uint16) (Kind, bool) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Number == number })
	if i < 0 {
		return Kind{Number: number}, false
	}
	return Kinds[i], true
}

// String returns the name, or the number for a trap without a name.
func (k Kind) String() string {
	if k.Name == "" {
		return strconv.Itoa(int(k.Number))
	}
	return k.Name
}

// ParseKind parses a kind's name, or any trap's number.
func ParseKind(text string) (Kind, error) {
	for _, k := range Kinds {
		if strings.EqualFold(k.Name, text) {
			return k, nil
		}
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil || number == all {
		return Kind{}, fmt.Errorf("parse trap %q: not a name of a trap or a number from 0 to %d", text, all-1)
	}
	k, _ := KindOf(uint16(number))
	return k, nil
}

// all selects all traps, all types, all LIDs and all devices in a subscription.
const all = 0xffff
