package mad

import (
	"testing"

	"github.com/ibkit/ibkit/ib"
)

func BenchmarkDecodePortInfo(b *testing.B) {
	data := make([]byte, DataSize)
	for i := range data {
		data[i] = byte(i * 37)
	}
	var a PortInfo
	b.ReportAllocs()
	for b.Loop() {
		if err := Decode(&a, data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodePortInfo(b *testing.B) {
	data := make([]byte, DataSize)
	a := PortInfo{LID: 1, State: ib.PortActive}
	b.ReportAllocs()
	for b.Loop() {
		if err := Encode(&a, data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPutSMP(b *testing.B) {
	var p Packet
	b.ReportAllocs()
	for b.Loop() {
		p.PutSMP(SMPRequest{TID: 1, Method: MethodGet, Attr: AttrPortInfo, Directed: true, Route: RouteOf(1, 2, 3), DrSLID: 0xffff, DrDLID: 0xffff})
	}
}
