package ibsimtest

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// netSize has the limits that ibsim needs to load a net.
type netSize struct{ nodes, switches, ports int }

// defaultSize has ibsim's limits without options.
var defaultSize = netSize{nodes: 2048, switches: 256, ports: 13312}

// measure counts the nodes of a net file. Port 0 of a switch counts as a port.
func measure(netFile string) (netSize, error) {
	f, err := os.Open(netFile)
	if err != nil {
		return netSize{}, err
	}
	defer f.Close()
	var size netSize
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		ports, err := strconv.Atoi(fields[1])
		if err != nil {
			continue // not a node
		}
		switch fields[0] {
		case "Switch":
			size.switches++
			size.ports += ports + 1
		case "Hca", "Ca", "Rt":
			size.ports += ports
		default:
			continue
		}
		size.nodes++
	}
	return size, lines.Err()
}

// args returns ibsim's options for a net with this size.
func (s netSize) args() []string {
	return []string{
		"-N", strconv.Itoa(max(s.nodes, defaultSize.nodes)),
		"-S", strconv.Itoa(max(s.switches, defaultSize.switches)),
		"-P", strconv.Itoa(max(s.ports, defaultSize.ports)),
	}
}
