package getopt

import (
	"slices"
	"syscall"
	"testing"
)

func TestStrtol(t *testing.T) {
	for text, want := range map[string]int{"12abc": 12, "0x1f": 31, "010": 8, "-3": -3, "x": 0, "": 0, " 7": 7, "08": 0} {
		t.Run(text, func(t *testing.T) {
			if got := Strtol(text); got != want {
				t.Errorf("got %d, want %d", got, want)
			}
		})
	}
}

// Numbers are read as C reads them.
func TestNumbers(t *testing.T) {
	if got := Strtoull("0xffffffffffffffff"); got != 1<<64-1 {
		t.Errorf("%#x", got)
	}
	for s, want := range map[string]int{"010": 10, "0x1": 0, "-3,": -3, "": 0} {
		t.Run(s, func(t *testing.T) {
			if got := Atoi(s); got != want {
				t.Errorf("got %d, want %d", got, want)
			}
		})
	}
}

// glibc's sscanf returns the same results.
func TestScan(t *testing.T) {
	for _, tt := range []struct {
		in   string
		base int
		want []uint32
	}{
		{"1,2", 10, []uint32{1, 2}},
		{" 1, -2,3", 10, []uint32{1, 0xfffffffe}},
		{"1 ,2", 10, []uint32{1}},
		{"1,x", 10, []uint32{1}},
		{"0x1,2", 10, []uint32{0}},
		{"x", 10, nil},
		{"", 10, nil},
		{"99999999999999999999,1", 10, []uint32{0xffffffff, 1}},
		{"-99999999999999999999,1", 10, []uint32{0, 1}},
		{"10,0xFf", 16, []uint32{0x10, 0xff}},
		{"0x,1", 16, []uint32{0, 1}},
		{"-1,fffffffff", 16, []uint32{0xffffffff, 0xffffffff}},
		{"-10000000000000000", 16, []uint32{0xffffffff}},
	} {
		t.Run(tt.in, func(t *testing.T) {
			if got := Scan(tt.in, tt.base, 2); !slices.Equal(got, tt.want) {
				t.Errorf("got %x, want %x", got, tt.want)
			}
		})
	}
}

func TestStrerror(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{syscall.ENODEV: "No such device", 524: "Unknown error 524"} {
		t.Run(want, func(t *testing.T) {
			if got := Strerror(errno); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
