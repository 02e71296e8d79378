// Package mlx5 implements the queues for driver mlx5's adapters (ConnectX-4 and
// later): rings in process memory, which the adapter reads and writes, and
// doorbell registers in mapped adapter pages.
//
// The layouts follow rdma-core's <infiniband/mlx5dv.h> and the kernel's <rdma/mlx5-abi.h>;
// their use follows rdma-core's providers/mlx5. All contents of queues are big endian.
// Features that need DEVX, compressed completions, striding receive queues and completions
// with data are off.
//
// Processors other than processors with a file barrier_GOARCH.go have no provider: the
// store order to memory and to the adapter depends on the processor.
package mlx5
