package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
)

// A Console is a connection to a server's console.
type Console struct {
	conn  net.Conn
	lines *bufio.Reader
}

// DialConsole connects to the console on a server that runs as the same user.
func DialConsole(ctx context.Context, path string) (*Console, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("connect to console %s: %w", path, withoutAddress(err))
	}
	return &Console{conn: conn, lines: bufio.NewReader(conn)}, nil
}

// Close ends the connection.
func (c *Console) Close() error { return c.conn.Close() }

// A CommandError is returned for an invalid command.
type CommandError struct{ Text string }

func (e *CommandError) Error() string { return e.Text }

// Run makes the server carry out a command, and returns the output. After a
// [CommandError] the fabric is unchanged.
func (c *Console) Run(command string) (string, error) {
	if len(command) >= maxCommand || strings.Contains(command, "\n") {
		return "", &CommandError{fmt.Sprintf("command: more than one line, or %d bytes or more", maxCommand)}
	}
	if _, err := c.conn.Write([]byte(command + "\n")); err != nil {
		return "", fmt.Errorf("send command: %w", withoutAddress(err))
	}
	var output strings.Builder
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			return output.String(), fmt.Errorf("read reply: %w", err)
		}
		if text, ok := strings.CutPrefix(line, outputPrefix); ok {
			output.WriteString(text)
			continue
		}
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, usagePrefix); ok {
			return output.String(), &CommandError{text}
		}
		if text, ok := strings.CutPrefix(line, errorPrefix); ok {
			return output.String(), errors.New(text)
		}
		if line != doneLine {
			return output.String(), fmt.Errorf("read reply: unexpected line %q", line)
		}
		return output.String(), nil
	}
}
