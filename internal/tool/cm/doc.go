// Package cm implements the command cm: it connects to an address step by step,
// measures each step, and finds the cause of a failure. [Serve] is the other end.
package cm
