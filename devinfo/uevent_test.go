package devinfo

import "testing"

func FuzzParseUevent(f *testing.F) {
	f.Add([]byte("add@/devices/virtual/infiniband/rxe0\x00ACTION=add\x00DEVPATH=/devices/virtual/infiniband/rxe0\x00SUBSYSTEM=infiniband\x00SEQNUM=7\x00"))
	f.Add([]byte("libudev\x00"))
	f.Fuzz(func(_ *testing.T, b []byte) { parseUevent(b) })
}

func TestParseUevent(t *testing.T) {
	got := parseUevent([]byte("remove@/devices/x/rxe0\x00ACTION=remove\x00DEVPATH=/devices/x/rxe0\x00SUBSYSTEM=infiniband\x00"))
	if want := (uevent{"remove", "infiniband", "rxe0"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
