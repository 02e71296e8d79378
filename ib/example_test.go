package ib_test

import (
	"fmt"
	"log"

	"github.com/ibkit/ibkit/ib"
)

// Values print as the field writes them, and parse back.
func Example() {
	guid, err := ib.ParseGUID("0x0002c903000010a1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ib.MakeGID(ib.DefaultPrefix, guid))
	fmt.Println(ib.Width4X, ib.NDR, ib.LinkGbps(ib.Width4X, ib.NDR), "Gb/s")
	var state ib.PortState
	if err := state.UnmarshalText([]byte("active")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(state, state == ib.PortActive)
	// Output:
	// fe80::2:c903:0:10a1
	// 4X NDR 425 Gb/s
	// Active true
}
