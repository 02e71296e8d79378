#include "textflag.h"

// LWSYNC orders stores to cached memory.
// func StoreBarrier()
TEXT ·StoreBarrier(SB), NOSPLIT|NOFRAME, $0-0
	LWSYNC
	RET

// SYNC orders stores to cached memory before those to the adapter.
// func DeviceBarrier()
TEXT ·DeviceBarrier(SB), NOSPLIT|NOFRAME, $0-0
	SYNC
	RET
