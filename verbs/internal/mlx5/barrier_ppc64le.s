#include "textflag.h"

// LWSYNC orders stores to cached memory.
// func storeBarrier()
TEXT ·storeBarrier(SB), NOSPLIT|NOFRAME, $0-0
	LWSYNC
	RET

// SYNC orders stores to cached memory before those to the adapter.
// func deviceBarrier()
TEXT ·deviceBarrier(SB), NOSPLIT|NOFRAME, $0-0
	SYNC
	RET
