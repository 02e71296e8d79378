package perf

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/memory"
)

// checkPort validates the flags that select the local port and GID.
func (f *testFlags) checkPort(flags *pflag.FlagSet) error {
	switch {
	case flags.Changed("device") && f.device == "":
		return cmdutil.UsageErrorf("invalid --device: the name is empty")
	case flags.Changed("ib-port") && f.port == 0:
		return cmdutil.UsageErrorf("invalid --ib-port 0: port numbers start at 1")
	case flags.Changed("gid-index") && (f.gidIndex < 0 || f.gidIndex > 255):
		return cmdutil.UsageErrorf("invalid --gid-index %d: want 0 to 255", f.gidIndex)
	}
	return nil
}

// parseServer parses a host with an optional TCP port.
func parseServer(text string) (string, error) {
	if text == "" {
		return "", errNoServer
	}
	if host, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(host, "]") {
		return strings.TrimSuffix(host, "]"), nil // [fe80::1%eth0]
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return text, nil // a host without a port; the lookup validates it
	}
	if host == "" || !isTCPPort(port) || port == "0" {
		return "", fmt.Errorf("invalid server %q: want a host, or a host and a TCP port such as host1:18516", text)
	}
	return text, nil
}

// checkListen validates --bind.
func checkListen(text string) error {
	if _, port, err := net.SplitHostPort(text); err != nil || !isTCPPort(port) {
		return cmdutil.UsageErrorf("invalid --bind %q: want an address and a TCP port such as 10.0.0.1:18516 or :18516", text)
	}
	return nil
}

func isTCPPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// parseMemory parses --memory.
func parseMemory(text string) (memory.Source, error) {
	s, err := memory.Parse(text)
	if err != nil {
		return s, cmdutil.UsageErrorf("invalid --memory %q: %w", text, err)
	}
	return s, nil
}

// parseCPUs parses --cpu.
func parseCPUs(text string) (host.CPUs, error) {
	cpus, err := host.ParseCPUs(text)
	if err != nil {
		return host.CPUs{}, fmt.Errorf("invalid --cpu: %w", err)
	}
	return cpus, nil
}
