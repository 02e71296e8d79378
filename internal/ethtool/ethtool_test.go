package ethtool

import (
	"encoding/binary"
	"errors"
	"maps"
	"testing"

	"golang.org/x/sys/unix"
)

// reply encodes struct ethtool_gstrings and struct ethtool_stats.
func reply(names []string, numbers ...uint64) (text, values []byte) {
	text, values = make([]byte, namesHeader), make([]byte, statisticsHeader)
	binary.NativeEndian.PutUint32(text[8:], uint32(len(names)))
	binary.NativeEndian.PutUint32(values[4:], uint32(len(numbers)))
	for _, n := range names {
		text = append(text, append([]byte(n), make([]byte, nameSize-len(n))...)...)
	}
	for _, n := range numbers {
		values = binary.NativeEndian.AppendUint64(values, n)
	}
	return text, values
}

func TestParse(t *testing.T) {
	const longest = "a_name_of_thirty_two_bytes_____x"
	names, values := reply([]string{"rx_prio3_pause", "     tx_discards", longest}, 5, 1<<63, 7)
	got, err := parse(names, values)
	if want := map[string]uint64{"rx_prio3_pause": 5, "tx_discards": 1 << 63, longest: 7}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, error %v, want %v", got, err, want)
	}
	for _, test := range []struct {
		name          string
		names, values []byte
	}{
		{"no header", nil, nil},
		{"fewer values", names, values[:statisticsHeader+8]},
		{"fewer names", names[:namesHeader+nameSize], values},
		{"another count", append([]byte{0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 9}, names[namesHeader:]...), values},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, err := parse(test.names, test.values); err == nil {
				t.Errorf("got %v, want an error", got)
			}
		})
	}
}

// TestLoopback queries the loopback device, which has neither statistics nor pauses.
func TestLoopback(t *testing.T) {
	if got, err := Statistics("lo"); got != nil || err != nil {
		t.Errorf("statistics: got %v, error %v, want neither", got, err)
	}
	if got, err := GlobalPause("lo"); got != nil || err != nil {
		t.Errorf("pauses: got %v, error %v, want neither", got, err)
	}
}

func TestUnknownDevice(t *testing.T) {
	for _, name := range []string{"nosuch", "a-name-that-is-too-long"} {
		t.Run(name, func(t *testing.T) {
			if got, err := GlobalPause(name); !errors.Is(err, unix.ENODEV) {
				t.Errorf("pauses: got %v, error %v, want %v", got, err, unix.ENODEV)
			}
			if got, err := Statistics(name); got != nil || err == nil {
				t.Errorf("statistics: got %v, error %v, want an error", got, err)
			}
		})
	}
}
