#include "textflag.h"

// func ticks() int64
TEXT ·ticks(SB), NOSPLIT, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func isVirtual() bool
TEXT ·isVirtual(SB), NOSPLIT, $0-1
	MOVL $1, AX
	XORL CX, CX
	CPUID
	SHRL $31, CX
	MOVB CX, ret+0(FP)
	RET

// func relax()
TEXT ·relax(SB), NOSPLIT, $0-0
	PAUSE
	RET
