package sim_test

import (
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// A preset with parameters. The fabric is configured, and its nodes can be inspected
// without sending a packet.
func ExampleBuild() {
	fabric, err := sim.Build("fat-tree:levels=2,radix=8,pods=4,speed=NDR")
	if err != nil {
		log.Fatal(err)
	}
	switches := 0
	for _, n := range fabric.Nodes {
		if n.IsSwitch() {
			switches++
		}
	}
	fmt.Printf("%d nodes, %d switches\n", len(fabric.Nodes), switches)

	port := &fabric.Node("host00001").Ports[1]
	fmt.Printf("host00001: LID %d, %v, connected to %v\n", port.Info.LID, port.Info.State, port.Peer)
	// Output:
	// 24 nodes, 8 switches
	// host00001: LID 1, Active, connected to "leaf001"[1]
}

// A request to a node in the fabric, here along a one-hop directed route.
func ExampleFabric_Open() {
	fabric, err := sim.Build("demo")
	if err != nil {
		log.Fatal(err)
	}
	port, err := fabric.Open("node01")
	if err != nil {
		log.Fatal(err)
	}
	defer port.Close()

	m := umad.Message{Addr: umad.Addr{LID: ib.PermissiveLID}}
	m.MAD.PutSMP(mad.SMPRequest{
		Method: mad.MethodGet, Attr: mad.AttrNodeDescription,
		Directed: true, Route: mad.RouteOf(1), DrSLID: ib.PermissiveLID, DrDLID: ib.PermissiveLID,
	})
	if err := port.Send(&m); err != nil {
		log.Fatal(err)
	}
	if err := port.Recv(&m, time.Now().Add(time.Minute)); err != nil {
		log.Fatal(err)
	}
	var description mad.NodeDescription
	if err := m.MAD.Decode(&description); err != nil {
		log.Fatal(err)
	}
	fmt.Println(description)
	// Output: leaf1
}

// A fabric from code: two hosts on a switch.
func ExampleFabric_Add() {
	var fabric sim.Fabric
	sw, err := fabric.Add(sim.NodeSpec{Kind: mad.NodeTypeSwitch, ID: "switch", Ports: 4})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 2 {
		host, err := fabric.Add(sim.NodeSpec{Kind: mad.NodeTypeCA, ID: fmt.Sprintf("host%d", i+1), Ports: 1})
		if err != nil {
			log.Fatal(err)
		}
		if err := fabric.Connect(&host.Ports[1], &sw.Ports[i+1]); err != nil {
			log.Fatal(err)
		}
	}
	if err := fabric.Configure(); err != nil {
		log.Fatal(err)
	}
	for i := range 3 {
		fmt.Printf("port %d: %v\n", i+1, sw.Ports[i+1].Info.State)
	}
	// Output:
	// port 1: Active
	// port 2: Active
	// port 3: Down
}

// An ibsim net file.
func ExampleParseNet() {
	const net = `
Switch	4 "leaf"
[1]	"host"[1]	w=2 s=7 e=4

Ca	1 "host"	# "a host"
[1]	"leaf"[1]	w=2 s=7 e=4
`
	fabric, err := sim.ParseNet(strings.NewReader(net), "fabric.net")
	if err != nil {
		log.Fatal(err)
	}
	info := &fabric.Node("host").Ports[1].Info
	fmt.Println(info.LinkWidthActive, info.ActiveSpeed(info, nil), info.State)

	_, err = sim.ParseNet(strings.NewReader("Switch 4 leaf"), "fabric.net")
	fmt.Println(err)
	// Output:
	// 4X HDR Initialize
	// read fabric: fabric.net:1:10: got "leaf", want the ID of the node in quotation marks
}

// A command that changes a fabric in use, and a command that prints.
func ExampleFabric_ParseCommand() {
	fabric, err := sim.Build("single-switch:hosts=2,radix=4")
	if err != nil {
		log.Fatal(err)
	}
	for i, text := range []string{"unlink host002", "dump host002"} {
		command, err := fabric.ParseCommand("example", i+1, text)
		if err != nil {
			log.Fatal(err)
		}
		if err := fabric.Do(command, os.Stdout); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// CA "host002" 0x0002c90000100100
	//   [1] lid 2 Down/Polling
}
