package umad

import "fmt"

// Client constants and state, for the tests in package umad_test.
const (
	Slack          = slack
	SendPause      = sendPause
	MinLateAfter   = minLateAfter
	FirstWindow    = firstWindow
	MaxOutstanding = maxOutstanding
	OffMethod      = offMethod
	ResponseBit    = responseBit
)

// Client types, for the tests in package umad_test.
type (
	BatchPort = batchPort
	RMPPError = rmppError
)

// CheckIdle returns an error if the client still tracks a request.
func (c *Client) CheckIdle() error {
	if c.sent.InFlight() != 0 || c.sent.Outstanding() != 0 || c.sent.Oldest() != nil || c.queue.len+c.retries.len != 0 {
		return fmt.Errorf("client is not idle: %d in flight, %d outstanding, %d queued, %d to be sent again",
			c.sent.InFlight(), c.sent.Outstanding(), c.queue.len, c.retries.len)
	}
	return nil
}

// WindowSize returns the current limit for requests in flight.
func (c *Client) WindowSize() int { return c.window.size }

// Retries returns the number of requests that wait to be sent again.
func (c *Client) Retries() int { return c.retries.len }

// NewRepeatableClient returns a client with known transaction IDs, from 1.
func NewRepeatableClient(p Port, o ClientOptions) *Client {
	c := NewClient(p, o)
	c.sent = newSent(1)
	return c
}
