// Package provider says what a driver's user space half does for package verbs:
// it knows the layout of the driver's queues. Callers of verbs do not see it; the
// types of work requests and completions are here only so that both can use them,
// and have their names in verbs.
//
// # Rules for a provider
//
//   - A queue is made within New…: the provider calls create once, with what the
//     driver reads and room for what it writes, and maps what the answer names.
//     After an error of create it undoes what it did and returns that error. If
//     it fails after create, verbs destroys the kernel's object.
//   - Close of a queue comes after the kernel destroyed the object. It frees
//     mappings and memory. Nothing else is called at the same time or later:
//     verbs has a lock for each queue (two for a QP: sending and receiving) and
//     holds it for each call.
//   - What the device or the kernel reads or writes is mapped memory
//     ([Device.Map], package arena), never Go's, and holds no Go pointers.
//   - What comes out of a shared ring is not to be trusted: an index is checked
//     against the ring before it is used, and nothing read from it can lead out of
//     the mapping. A ring that makes no sense is [ErrCorrupt].
//   - Indices are published with a release and read with an acquire: sync/atomic
//     does both. Doorbells in device memory need the architecture's own fence.
//   - Nothing is allocated by posting and polling, and nothing sleeps. Errors on
//     that way are the values of this package.
//   - Posting stops at the first work request that is refused. Those before it are
//     posted and the doorbell is rung for them, once for the whole batch.
//   - What the specification or the driver forbids for a type of queue pair is
//     [ErrOpcode] before the ring is touched.
package provider
