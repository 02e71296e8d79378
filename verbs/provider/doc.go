// Package provider says what a driver's user space half does for package verbs:
// it knows the layout of the driver's queues. Callers of verbs do not see it; the
// types of work requests and completions are here only so that both can use them,
// and have their names in verbs.
//
// # Rules for a provider
//
// Making and closing:
//
//   - A queue is made within New…: the provider calls create once, with what the
//     driver reads and room for what it writes, and maps what the answer names, or
//     hands over memory of package dmamem. After an error of create it undoes what
//     it did and returns that error. If it fails after create, verbs destroys the
//     kernel's object.
//   - Close of a queue comes after the kernel destroyed the object, or with the
//     context. It frees mappings and memory.
//   - Nothing is called on a queue at the same time, or after Close: verbs has a
//     lock for each queue (two for a QP: sending and receiving) and holds it for
//     each call. A provider needs locks for what several queues share only, such
//     as a doorbell page.
//
// Memory:
//
//   - What the device or the kernel reads or writes is mapped memory
//     ([Device.Map], package dmamem), never Go's, and holds no Go pointers.
//   - What comes out of a shared ring is not to be trusted: an index is checked
//     against the ring before it is used, and nothing read from it can lead out of
//     the mapping. A ring that makes no sense is [ErrCorrupt]. What the head of a
//     ring says of its size is read once.
//   - Indices are published with a release and read with an acquire: sync/atomic
//     does both. A doorbell in device memory is a plain store in a function that
//     is not inlined, never an atomic one (on amd64 that would read the register),
//     with the fence of the architecture before it.
//
// Posting and polling:
//
//   - Nothing is allocated, and nothing sleeps. Errors on that way are the values
//     of this package, so that a caller can go on when it has polled.
//   - Posting stops at the first work request that is refused. Those before it are
//     posted and the doorbell is rung for them, once for the whole batch.
//   - What the specification or the driver forbids for a type of queue pair is
//     [ErrOpcode] before the ring is touched.
//   - Statuses, opcodes and flags of a [Completion] are the ones named here,
//     whatever numbers the driver has. A status that is not known is
//     [StatusGeneral], never [StatusOK]. Where the device reports no ID or no
//     number of the queue pair the provider keeps a table.
//   - Arm takes effect for completions that come after it. Callers poll once more
//     before they wait, so a provider need not look.
//
// # How one comes
//
// It is a package below verbs with a function like rxe.New, and a line in the table
// of package verbs that picks it by the driver. Nothing else of verbs, and no
// caller, knows of it. Its queues run on plain memory in tests, with a [Device] of
// the test's: past the end of the ring, full, empty, with hostile indices, without
// an allocation, and with a fuzz target of completions.
//
// What drivers want that Soft-RoCE does not, so that [Provider] and [Device] may
// grow by it: siw reads a key with a region's registration, arms by a store, and
// connects through rdma_cm only; mlx5 has its queues in memory of the process, whose
// addresses create's in has, and maps doorbell pages that the answer to GET_CONTEXT
// counts.
package provider
