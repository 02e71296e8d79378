package pingpong

import (
	"net"
	"net/netip"
	"slices"
	"testing"
)

func TestRecord(t *testing.T) {
	r := Record{LID: 0x1a, QPN: 0x11, PSN: 0x8f31a0, GID: netip.MustParseAddr("::ffff:10.0.0.1")}
	const text = "001a:000011:8f31a0:00000000000000000000ffff0a000001\x00"
	if b := r.Append(nil); string(b) != text {
		t.Errorf("%q", b)
	}
	got, err := Parse([]byte(text))
	if err != nil || got != r {
		t.Errorf("%+v, %v", got, err)
	}
	if !got.NeedsGRH() {
		t.Error("no GRH to a GID")
	}
	if (Record{}).NeedsGRH() {
		t.Error("GRH to nowhere")
	}
	for _, bad := range []string{"", text[1:], "g" + text[1:], text[:len(text)-1] + " ", text[:20] + "z" + text[21:]} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestExchange has both sides talk, each way.
func TestExchange(t *testing.T) {
	for name, shared := range map[string]bool{"one": false, "shared": true} {
		t.Run(name, func(t *testing.T) {
			a, b := net.Pipe()
			defer a.Close()
			defer b.Close()
			client := []Record{{LID: 1, QPN: 2, PSN: 3, GID: netip.IPv6Unspecified()}}
			server := []Record{{LID: 4, QPN: 5, PSN: 6, GID: netip.MustParseAddr("fe80::1")}}
			if shared {
				client, server = slices.Repeat(client, 3), slices.Repeat(server, 3)
			}
			ended := make(chan error)
			go func() {
				ended <- Server(b, server, shared, func(remote []Record) error {
					if !slices.Equal(remote, client) {
						t.Errorf("server got %+v", remote)
					}
					return nil
				})
			}()
			remote, err := Client(a, client, shared)
			if err != nil || !slices.Equal(remote, server) {
				t.Errorf("client got %+v, %v", remote, err)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Record{LID: 1, QPN: 0x123456, PSN: 0xabcdef, GID: netip.MustParseAddr("fe80::1")}.Append(nil))
	f.Add([]byte("001a:000011:8f31a0:00000000000000000000ffff0a000001"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse(b)
		if err != nil {
			return
		}
		if again, err := Parse(r.Append(nil)); err != nil || again != r {
			t.Errorf("%+v came back as %+v, %v", r, again, err)
		}
	})
}
