// Package provider is the interface between package verbs and the user space part
// of a driver, which implements the driver's queue layout. Callers of verbs
// do not use it: package verbs has aliases for its work requests and completions.
//
// # Rules for a provider
//
// Creating and closing:
//
//   - New… creates one queue: it calls create once, with the data that the driver
//     reads and room for the driver's response, and maps the memory that the
//     response names, or passes package dmamem's memory to create. If create
//     fails, New… undoes its own work and returns the error. If New… fails after
//     create, verbs destroys the kernel's object. If the driver may use memory until then,
//     New… returns the queue with the error, and verbs closes it afterwards.
//   - A queue's Close follows the kernel object's destruction, or the context's
//     close. It releases mappings and memory.
//   - No queue method is called concurrently or after Close: verbs holds a
//     lock for each queue during a call (a QP has two: for sends and for receives).
//     During a QP's Reset and Close it also holds the completion queues' locks,
//     so that the provider can remove the QP's completions. A provider needs locks
//     only for memory that several queues share, for example a doorbell page.
//
// Memory:
//
//   - The device and the kernel read and write mapped memory only ([Device.Map],
//     package dmamem), never Go heap memory. Mapped memory has no Go pointers.
//   - A shared ring's contents are untrusted: check an index against the ring
//     before using it, so that no value can lead outside the mapping. An invalid ring
//     is [ErrCorrupt]. Read the size in a ring's head only once.
//   - Indices are published with a release and read with an acquire: sync/atomic
//     does both. A doorbell in device memory is a plain store in a function that is
//     not inlined, after the architecture's fence. It is never an atomic store,
//     which would read the register on amd64.
//
// Posting and polling:
//
//   - They do not allocate or sleep. Their errors are this package's values,
//     so that a caller can continue after polling.
//   - Posting stops at the first work request that it rejects. Earlier requests are
//     posted, and a single doorbell is rung for them all.
//   - An operation that the specification or the driver does not allow for the type
//     of the queue pair is [ErrOpcode], before the ring is changed.
//   - The status, opcode and flags of a [Completion] are the constants of this
//     package, whatever numbers the driver uses. An unknown status is
//     [StatusGeneral], never [StatusOK]. If the device does not report the ID or the
//     number of the queue pair, the provider keeps a table for them.
//   - Arm applies to later completions. Callers poll once more before they wait, so
//     a provider does not check for earlier kernels.
//
// # Adding a provider
//
// A provider is a package below verbs with a function like rxe.New, and a line in
// package verbs' table that selects it by the driver. No other part of verbs,
// and no caller, refers to it. Tests run its queues on plain memory with a [Device]
// for themselves: past the ring's end, full, empty, with invalid indices and
// without allocations, plus a fuzz target for completions.
package provider
