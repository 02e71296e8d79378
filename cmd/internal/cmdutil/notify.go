package cmdutil

import (
	"fmt"
	"net"
	"strings"
)

// NotifyReady notifies systemd that the command is ready for clients, if systemd started
// it as a service of Type=notify (sd_notify(3)).
func NotifyReady(getenv func(string) string) error {
	name := getenv("NOTIFY_SOCKET")
	if !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "@") {
		return nil
	}
	c, err := net.Dial("unixgram", name)
	if err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("READY=1")); err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	return nil
}
