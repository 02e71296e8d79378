// Package crew joins the workers of a cluster test to a coordinator and runs rounds of
// measurements. It knows neither schedules nor verdicts.
//
// A worker dials the coordinator over TCP, with frames of package jsonframe. Both sides
// prove that they know a token before the coordinator accepts the worker under its name.
// There is no second rendezvous: a worker that hangs or dies is left out of all later
// rounds, and its partners pause. Time and number of everything that a stranger can send
// are limited. Messages are not encrypted.
package crew
