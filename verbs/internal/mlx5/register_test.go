package mlx5

import (
	"bytes"
	"encoding/hex"
	"testing"
	"unsafe"

	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A single doorbell follows a batch: its last work request's first 8 bytes. A single work
// request goes to the register as a whole, in each half in turn.
func TestDoorbell(t *testing.T) {
	f, _, q := newPair(t, provider.RC)
	page := f.pages[1]
	wr := provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, Inline: []byte("some payload")}
	for i, at := range []int{bfOffset, bfOffset + 256} {
		if _, err := q.PostSend([]provider.SendWR{wr}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(page[at:at+64], q.send.ring[64*i:64*i+64]) {
			t.Errorf("work request %d: got %x in the register, want %x", i, page[at:at+64], q.send.ring[64*i:64*i+64])
		}
	}
	if _, err := q.PostSend([]provider.SendWR{wr, wr}); err != nil {
		t.Fatal(err)
	}
	if got, want := page[bfOffset:bfOffset+8], q.send.ring[3*64:3*64+8]; !bytes.Equal(got, want) {
		t.Errorf("batch: got %x in the register, want %x", got, want)
	}
}

// A work request without data does not go to the register, as with libmlx5.
func TestDoorbell_NoData(t *testing.T) {
	f, _, q := newPair(t, provider.RC)
	f.pages[1][bfOffset+8] = 0xee
	if _, err := q.PostSend([]provider.SendWR{{Opcode: provider.OpSend, Flags: provider.SendSignaled}}); err != nil {
		t.Fatal(err)
	}
	if got, want := f.pages[1][bfOffset:bfOffset+9], append(q.send.ring[:8:8], 0xee); !bytes.Equal(got, want) {
		t.Errorf("got %x in the register, want %x", got, want)
	}
}

// Arm writes the index, the delivered event count and the queue number.
func TestArm(t *testing.T) {
	f, cq, _ := newPair(t, provider.RC)
	cq.index = 1<<24 + 5
	for _, test := range []struct {
		solicited bool
		want      string
	}{{false, "0000000500000080"}, {true, "1100000500000080"}} {
		if err := cq.Arm(test.solicited); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(f.pages[0][cqDoorbell : cqDoorbell+8]); got != test.want {
			t.Errorf("got %s in the register, want %s", got, test.want)
		}
		cq.Delivered()
	}
}

func TestStoreDevice(t *testing.T) {
	var register [2]uint64
	mmio.Store64(unsafe.Pointer(&register[1]), 0x0102030405060708)
	mmio.DeviceBarrier()
	if register != [2]uint64{0, 0x0102030405060708} {
		t.Errorf("got %#x", register)
	}
}

// The BlueFlame variables select whether the register receives complete work requests.
func TestEnvironment_BlueFlame(t *testing.T) {
	inline := provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, Inline: []byte("some payload")}
	plain := provider.SendWR{Opcode: provider.OpSend, SGEs: []provider.SGE{{Length: 1}}}
	for _, test := range []struct {
		name, value   string
		inline, plain bool // copied
	}{
		{"", "", true, true},
		{"MLX5_SHUT_UP_BF", "0", true, true},
		{"MLX5_SHUT_UP_BF", "1", false, false},
		{"MLX5_POST_SEND_PREFER_BF", "1", true, true},
		{"MLX5_POST_SEND_PREFER_BF", "0", true, false},
	} {
		t.Run(test.name+"="+test.value, func(t *testing.T) {
			if test.name != "" {
				t.Setenv(test.name, test.value)
			}
			f, _, q := newPair(t, provider.RC)
			for i, wr := range []provider.SendWR{inline, plain} {
				if _, err := q.PostSend([]provider.SendWR{wr}); err != nil {
					t.Fatal(err)
				}
				register := f.pages[1][bfOffset+i*256:][:64]
				if want := q.send.ring[i*64:][:8]; !bytes.Equal(register[:8], want) {
					t.Errorf("work request %d: got doorbell %x, want %x", i, register[:8], want)
				}
				if got, want := bytes.Equal(register, q.send.ring[i*64:][:64]), []bool{test.inline, test.plain}[i]; got != want {
					t.Errorf("work request %d: got copied %v, want %v", i, got, want)
				}
			}
		})
	}
}
