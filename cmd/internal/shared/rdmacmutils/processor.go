package rdmacmutils

import "runtime"

// OneProcessor runs goroutines one at a time until restore is called. It suits a program
// whose goroutine calls the kernel all the time: each preemption of it would wake another
// thread, which takes the goroutine over and costs more than the call.
func OneProcessor() (restore func()) {
	before := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(before) }
}
