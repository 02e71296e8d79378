package watch

import (
	"testing"
	"time"
)

// silentLeaf2 are the events for leaf2 and the nodes behind it that do not respond.
var silentLeaf2 = []string{
	"20s node-silent leaf2: no reply, and no link of it is known to be down",
	"20s node-silent node05: no reply, and no link of it is known to be down",
	"20s node-silent node06: no reply, and no link of it is known to be down",
	"20s node-silent node07: no reply, and no link of it is known to be down",
	"20s node-silent node08: no reply, and no link of it is known to be down",
}

// Nodes that do not respond are neither gone nor new, and changes while they did not respond
// are reported when they do again.
func TestRun_Silent(t *testing.T) {
	checkAll(t, []scenario{
		{
			name: "an adapter", options: Options{Rescan: 10 * time.Second}, script: "12s hang node06\n25s resume node06\n",
			want: []string{
				"20s node-silent node06: no reply, and no link of it is known to be down",
				"30s node-added node06: responds again",
			},
		},
		{
			name: "from the start", script: "0s hang node06\n15s resume node06\n",
			want: []string{"20s node-added node06: in the fabric"},
		},
		{
			name: "a switch", script: "12s hang leaf2\n35s resume leaf2\n",
			want: append(silentLeaf2[:5:5],
				"41s node-added leaf2: responds again",
				"41s node-added node05: responds again",
				"41s node-added node06: responds again",
				"41s node-added node07: responds again",
				"41s node-added node08: responds again"),
		},
		{
			name: "one of two links is down", script: "12s unlink leaf2[1]\n12s hang leaf2\n",
			want: append([]string{"20s link-down spine1[2] - leaf2[1]: was 4X NDR Active"}, silentLeaf2...),
		},
		{
			name: "an adapter, then its link", script: "12s hang node06\n25s unlink node06[1]\n35s link node06[1]\n45s resume node06\n", options: Options{Rescan: 10 * time.Second},
			want: []string{
				"20s node-silent node06: no reply, and no link of it is known to be down",
				"30s link-down leaf2[4] - node06[1]: was 4X NDR Active",
				"30s node-removed node06: left the fabric",
				"40s link-up leaf2[4]: 4X NDR Active",
				"50s node-added node06: in the fabric",
			},
		},
		{
			name: "an adapter, then its link, found by a check", script: "12s hang node06\n22s unlink node06[1]\n", options: Options{Rescan: 20 * time.Second},
			want: []string{
				"20s node-silent node06: no reply, and no link of it is known to be down",
				"30s link-down leaf2[4] - node06[1]: was 4X NDR Active",
				"30s node-removed node06: left the fabric",
			},
		},
		{
			name: "a link behind a switch", script: "12s hang leaf2\n25s unlink node06[1]\n35s resume leaf2\n45s link node06[1]\n",
			want: append(silentLeaf2[:5:5],
				"41s node-added leaf2: responds again",
				"41s link-down leaf2[4] - node06[1]: was 4X NDR Active",
				"41s node-added node05: responds again",
				"41s node-added node07: responds again",
				"41s node-added node08: responds again",
				"41s node-removed node06: left the fabric",
				"51s link-up leaf2[4] - node06[1]: 4X NDR Active",
				"51s node-added node06: in the fabric"),
		},
		{
			name: "a cable moved behind a switch", script: "12s hang leaf2\n25s unlink node06[1]\n26s link node06[1] leaf1[9]\n35s resume leaf2\n",
			want: append(silentLeaf2[:5:5],
				"31s link-up leaf1[9] - node06[1]: 4X NDR Active",
				"31s node-added node06: responds again",
				"41s node-added leaf2: responds again",
				"41s link-down leaf2[4] - node06[1]: was 4X NDR Active",
				"41s node-added node05: responds again",
				"41s node-added node07: responds again",
				"41s node-added node08: responds again"),
		},
		{
			name: "a new description", script: "12s hang node06\n22s describe node06 new\n25s resume node06\n", options: Options{Rescan: 10 * time.Second},
			want: []string{
				"20s node-silent node06: no reply, and no link of it is known to be down",
				"30s node-added new: responds again",
				`30s node-changed new: name "new", before "node06"`,
			},
		},
	})
}

// A lost reply changes no name, state or rate, and hides no change.
func TestRun_LostReplies(t *testing.T) {
	silent := silentLeaf2[1:]
	checkAll(t, []scenario{
		{name: "PortInfo of an adapter", options: Options{Rescan: 10 * time.Second}, script: "12s mute node06 PortInfo\n35s mute node06 off\n"},
		{name: "PortInfo of port 0", options: Options{Rescan: 10 * time.Second}, script: "12s mute leaf2 PortInfo 0\n35s mute leaf2 off\n"},
		{
			name: "PortInfo of a switch", options: Options{Rescan: 10 * time.Second}, script: "12s mute leaf2 PortInfo\n35s mute leaf2 off\n",
			want: append(silent[:4:4],
				"41s node-added node05: responds again",
				"41s node-added node06: responds again",
				"41s node-added node07: responds again",
				"41s node-added node08: responds again"),
		},
		{
			name: "PortInfo of a switch, and a link goes down", options: Options{Rescan: 10 * time.Second},
			script: "12s mute leaf2 PortInfo\n25s unlink node06[1]\n35s mute leaf2 off\n",
			want: append(silent[:4:4],
				"41s node-added node05: responds again",
				"41s node-added node07: responds again",
				"41s node-added node08: responds again",
				"41s link-down leaf2[4] - node06[1]: was 4X NDR Active",
				"41s node-removed node06: left the fabric"),
		},
		{
			name: "the description", options: Options{Rescan: 10 * time.Second}, script: "12s mute node06 NodeDescription\n22s describe node06 new\n35s mute node06 off\n",
			want: []string{`40s node-changed new: name "new", before "node06"`},
		},
		{
			name: "the description of a node that comes back", script: "12s unlink node06[1]\n22s mute node06 NodeDescription\n25s link node06[1]\n",
			want: []string{
				"20s link-down leaf2[4] - node06[1]: was 4X NDR Active",
				"20s node-removed node06: left the fabric",
				"30s link-up leaf2[4] - node06[1]: 4X NDR Active",
				"30s node-added node06: in the fabric",
			},
		},
		{
			name: "the description of a link that goes down", options: Options{Rescan: 10 * time.Second},
			script: "12s mute leaf2 NodeDescription\n22s unlink node06[1]\n",
			want: []string{
				"30s link-down leaf2[4] - node06[1]: was 4X NDR Active",
				"30s node-removed node06: left the fabric",
			},
		},
	})
}
