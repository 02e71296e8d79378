// Package mlx5 implements the queues of adapters of the driver mlx5 (ConnectX-4 and
// later): rings in memory of the process, which the adapter reads and writes, and
// doorbell registers in mapped pages of the adapter.
//
// The layouts are those of <infiniband/mlx5dv.h> of rdma-core and of the kernel's
// <rdma/mlx5-abi.h>; their use is that of rdma-core's providers/mlx5. All contents of
// queues are big endian. Features that need DEVX, compressed completions, striding
// receive queues and completions with data are off.
//
// Processors other than those with a file barrier_GOARCH.go have no provider: the order
// of stores to memory and to the adapter is a matter of each processor.
package mlx5
