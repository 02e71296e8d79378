//go:build !oracle

package oracle

// live is whether the C tools run.
const live = false
