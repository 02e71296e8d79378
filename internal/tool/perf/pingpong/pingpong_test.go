package pingpong

import (
	"net"
	"net/netip"
	"slices"
	"testing"
)

func TestRecord(t *testing.T) {
	r := Address{LID: 0x1a, QPN: 0x11, PSN: 0x8f31a0, GID: netip.MustParseAddr("::ffff:10.0.0.1")}
	const text = "001a:000011:8f31a0:00000000000000000000ffff0a000001\x00"
	if got := r.append(nil); string(got) != text {
		t.Errorf("got %q, want %q", got, text)
	}
	got, err := parseRecord([]byte(text))
	if err != nil || got != r {
		t.Errorf("got %+v, %v, want %+v", got, err, r)
	}
	if !got.needsGRH() {
		t.Error("record with a GID: got no GRH, want one")
	}
	if (Address{}).needsGRH() {
		t.Error("record without a GID: got a GRH, want none")
	}
	for _, bad := range []string{"", text[1:], "g" + text[1:], text[:len(text)-1] + " ", text[:20] + "z" + text[21:]} {
		t.Run(bad, func(t *testing.T) {
			if got, err := parseRecord([]byte(bad)); err == nil {
				t.Errorf("got %+v, want an error", got)
			}
		})
	}
}

func TestExchange(t *testing.T) {
	for name, shared := range map[string]bool{"one queue pair": false, "shared receive queue": true} {
		t.Run(name, func(t *testing.T) {
			a, b := net.Pipe()
			defer a.Close()
			defer b.Close()
			client := []Address{{LID: 1, QPN: 2, PSN: 3, GID: netip.IPv6Unspecified()}}
			server := []Address{{LID: 4, QPN: 5, PSN: 6, GID: netip.MustParseAddr("fe80::1")}}
			if shared {
				client, server = slices.Repeat(client, 3), slices.Repeat(server, 3)
			}
			ended := make(chan error)
			go func() {
				ended <- exchangeServer(b, server, shared, func(remote []Address) error {
					if !slices.Equal(remote, client) {
						t.Errorf("server: got %+v, want %+v", remote, client)
					}
					return nil
				})
			}()
			remote, err := exchangeClient(a, client, shared)
			if err != nil || !slices.Equal(remote, server) {
				t.Errorf("client: got %+v, %v, want %+v", remote, err, server)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Address{LID: 1, QPN: 0x123456, PSN: 0xabcdef, GID: netip.MustParseAddr("fe80::1")}.append(nil))
	f.Add([]byte("001a:000011:8f31a0:00000000000000000000ffff0a000001"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseRecord(b)
		if err != nil {
			return
		}
		if got, err := parseRecord(r.append(nil)); err != nil || got != r {
			t.Errorf("got %+v, %v, want %+v", got, err, r)
		}
	})
}
