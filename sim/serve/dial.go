package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
)

// A Console is connected to a running server.
type Console struct {
	conn  net.Conn
	lines *bufio.Reader
}

// DialConsole connects to the console of a server of the same user.
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

// A CommandError is what a server says of a command that is wrong.
type CommandError struct{ Text string }

func (e *CommandError) Error() string { return e.Text }

// Run has the server carry out a command, and returns what that tells. A
// [CommandError] means that nothing was done.
func (c *Console) Run(command string) (string, error) {
	if len(command) >= maxCommand || strings.Contains(command, "\n") {
		return "", &CommandError{fmt.Sprintf("a command is one line, shorter than %d bytes", maxCommand)}
	}
	if _, err := c.conn.Write([]byte(command + "\n")); err != nil {
		return "", fmt.Errorf("send command: %w", withoutAddress(err))
	}
	var told strings.Builder
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			return told.String(), fmt.Errorf("read answer: %w", err)
		}
		if text, ok := strings.CutPrefix(line, tellPrefix); ok {
			told.WriteString(text)
			continue
		}
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, usagePrefix); ok {
			return told.String(), &CommandError{text}
		}
		if text, ok := strings.CutPrefix(line, errorPrefix); ok {
			return told.String(), errors.New(text)
		}
		if line != doneLine {
			return told.String(), fmt.Errorf("read answer: %q is not of the console's protocol", line)
		}
		return told.String(), nil
	}
}
