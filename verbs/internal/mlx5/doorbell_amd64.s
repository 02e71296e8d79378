#include "textflag.h"

// func doorbell(record *uint32, word uint32, register unsafe.Pointer, first *block, size int)
//
// The processor keeps the order of stores to ordinary memory. SFENCE orders them and the
// combined ones to the register.
TEXT ·doorbell(SB), NOSPLIT, $0-40
	MOVQ record+0(FP), AX
	MOVL word+8(FP), BX
	MOVQ register+16(FP), DI
	MOVQ first+24(FP), SI
	MOVQ size+32(FP), CX
	MOVL BX, (AX)
	SFENCE
	TESTQ CX, CX
	JNZ  blocks
	MOVQ (SI), AX
	MOVQ AX, (DI)
	SFENCE
	RET
blocks:
	MOVQ 0(SI), AX
	MOVQ 8(SI), BX
	MOVQ AX, 0(DI)
	MOVQ BX, 8(DI)
	MOVQ 16(SI), AX
	MOVQ 24(SI), BX
	MOVQ AX, 16(DI)
	MOVQ BX, 24(DI)
	MOVQ 32(SI), AX
	MOVQ 40(SI), BX
	MOVQ AX, 32(DI)
	MOVQ BX, 40(DI)
	MOVQ 48(SI), AX
	MOVQ 56(SI), BX
	MOVQ AX, 48(DI)
	MOVQ BX, 56(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	DECQ CX
	JNZ  blocks
	SFENCE
	RET
