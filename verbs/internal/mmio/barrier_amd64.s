#include "textflag.h"

// func DeviceBarrier()
TEXT ·DeviceBarrier(SB), NOSPLIT, $0-0
	SFENCE
	RET

// func FencedStore32(p unsafe.Pointer, v uint32)
TEXT ·FencedStore32(SB), NOSPLIT, $0-12
	SFENCE
	MOVQ p+0(FP), AX
	MOVL v+8(FP), CX
	MOVL CX, (AX)
	RET
