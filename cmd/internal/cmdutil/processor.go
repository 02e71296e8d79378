package cmdutil

import "runtime"

// OneProcessor restricts Go's scheduler to one processor until the returned function is
// called. It suits a command whose work is done by one goroutine. With further processors,
// each preemption of the goroutine, after 10 ms, wakes another thread, which takes it over.
// The kernel still runs the process on any processor.
func OneProcessor() (end func()) {
	before := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(before) }
}
