#include "textflag.h"

// DMB OSHST: the adapter is in the outer shareable domain.
// func StoreBarrier()
TEXT ·StoreBarrier(SB), NOSPLIT, $0-0
	DMB $0x2
	RET

// DSB ST: completes stores to memory of the types Normal and Device.
// func DeviceBarrier()
TEXT ·DeviceBarrier(SB), NOSPLIT, $0-0
	DSB $0xe
	RET
