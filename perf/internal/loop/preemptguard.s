//go:build !ibkit_preempt

// With a file of assembly, empty as it is, the compiler takes functions without a
// body: procPin and procUnpin.
