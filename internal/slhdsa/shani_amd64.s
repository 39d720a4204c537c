// The SHA-NI kernel: two blocks at a time. See shani_amd64.go.

#include "textflag.h"

// The round constants of SHA-256 (FIPS 180-4, 4.2.2).
DATA rounds<>+0x00(SB)/8, $0x71374491428a2f98
DATA rounds<>+0x08(SB)/8, $0xe9b5dba5b5c0fbcf
DATA rounds<>+0x10(SB)/8, $0x59f111f13956c25b
DATA rounds<>+0x18(SB)/8, $0xab1c5ed5923f82a4
DATA rounds<>+0x20(SB)/8, $0x12835b01d807aa98
DATA rounds<>+0x28(SB)/8, $0x550c7dc3243185be
DATA rounds<>+0x30(SB)/8, $0x80deb1fe72be5d74
DATA rounds<>+0x38(SB)/8, $0xc19bf1749bdc06a7
DATA rounds<>+0x40(SB)/8, $0xefbe4786e49b69c1
DATA rounds<>+0x48(SB)/8, $0x240ca1cc0fc19dc6
DATA rounds<>+0x50(SB)/8, $0x4a7484aa2de92c6f
DATA rounds<>+0x58(SB)/8, $0x76f988da5cb0a9dc
DATA rounds<>+0x60(SB)/8, $0xa831c66d983e5152
DATA rounds<>+0x68(SB)/8, $0xbf597fc7b00327c8
DATA rounds<>+0x70(SB)/8, $0xd5a79147c6e00bf3
DATA rounds<>+0x78(SB)/8, $0x1429296706ca6351
DATA rounds<>+0x80(SB)/8, $0x2e1b213827b70a85
DATA rounds<>+0x88(SB)/8, $0x53380d134d2c6dfc
DATA rounds<>+0x90(SB)/8, $0x766a0abb650a7354
DATA rounds<>+0x98(SB)/8, $0x92722c8581c2c92e
DATA rounds<>+0xa0(SB)/8, $0xa81a664ba2bfe8a1
DATA rounds<>+0xa8(SB)/8, $0xc76c51a3c24b8b70
DATA rounds<>+0xb0(SB)/8, $0xd6990624d192e819
DATA rounds<>+0xb8(SB)/8, $0x106aa070f40e3585
DATA rounds<>+0xc0(SB)/8, $0x1e376c0819a4c116
DATA rounds<>+0xc8(SB)/8, $0x34b0bcb52748774c
DATA rounds<>+0xd0(SB)/8, $0x4ed8aa4a391c0cb3
DATA rounds<>+0xd8(SB)/8, $0x682e6ff35b9cca4f
DATA rounds<>+0xe0(SB)/8, $0x78a5636f748f82ee
DATA rounds<>+0xe8(SB)/8, $0x8cc7020884c87814
DATA rounds<>+0xf0(SB)/8, $0xa4506ceb90befffa
DATA rounds<>+0xf8(SB)/8, $0xc67178f2bef9a3f7
GLOBL rounds<>(SB), RODATA|NOPTR, $256

// Turns the bytes of each of four words around.
DATA swapWords<>+0x00(SB)/8, $0x0405060700010203
DATA swapWords<>+0x08(SB)/8, $0x0c0d0e0f08090a0b
GLOBL swapWords<>(SB), RODATA|NOPTR, $16

// Turns all sixteen bytes around.
DATA swapAll<>+0x00(SB)/8, $0x08090a0b0c0d0e0f
DATA swapAll<>+0x08(SB)/8, $0x0001020304050607
GLOBL swapAll<>(SB), RODATA|NOPTR, $16

// The first block of a pair has its state in X1 (ABEF) and X2 (CDGH) and its
// schedule in X3 to X6; the second in X7, X8 and X9 to X12. X14 and X15 keep
// the state that all blocks start from. X0 is what SHA256RNDS2 reads.

// LOAD reads a block as sixteen big-endian words and sets its state.
#define LOAD(off, m0, m1, m2, m3, abef, cdgh) \
	MOVOU  off+0x00(SI), m0      \
	MOVOU  off+0x10(SI), m1      \
	MOVOU  off+0x20(SI), m2      \
	MOVOU  off+0x30(SI), m3      \
	PSHUFB swapWords<>(SB), m0   \
	PSHUFB swapWords<>(SB), m1   \
	PSHUFB swapWords<>(SB), m2   \
	PSHUFB swapWords<>(SB), m3   \
	MOVO   X14, abef             \
	MOVO   X15, cdgh

// ROUNDS does the four rounds whose constants are at k, with the words in m.
#define ROUNDS(k, m, abef, cdgh) \
	MOVO        m, X0                \
	PADDD       rounds<>+k(SB), X0   \
	SHA256RNDS2 X0, abef, cdgh       \
	PSHUFD      $0x0e, X0, X0        \
	SHA256RNDS2 X0, cdgh, abef

// EXTEND finishes in next the four words after those in m, prev being those
// before m.
#define EXTEND(prev, m, next) \
	MOVO       m, X13        \
	PALIGNR    $4, prev, X13 \
	PADDD      X13, next     \
	SHA256MSG2 m, next

// FIRST does rounds whose words need nothing.
#define FIRST(k, ma, mb) \
	ROUNDS(k, ma, X1, X2) \
	ROUNDS(k, mb, X7, X8)

// EARLY does rounds, and begins the words that replace pa and pb.
#define EARLY(k, pa, ma, pb, mb) \
	FIRST(k, ma, mb)  \
	SHA256MSG1 ma, pa \
	SHA256MSG1 mb, pb

// LATE does rounds, and finishes the words after them.
#define LATE(k, pa, ma, na, pb, mb, nb) \
	FIRST(k, ma, mb)   \
	EXTEND(pa, ma, na) \
	EXTEND(pb, mb, nb)

// MIDDLE does rounds, finishes the words after them, and begins those that
// replace pa and pb.
#define MIDDLE(k, pa, ma, na, pb, mb, nb) \
	LATE(k, pa, ma, na, pb, mb, nb) \
	SHA256MSG1 ma, pa               \
	SHA256MSG1 mb, pb

// STORE adds the first state and writes the first four words of the sum, which
// it gathers in cdgh as D, C, B, A from the low end.
#define STORE(off, abef, cdgh) \
	PADDD      X14, abef         \
	PADDD      X15, cdgh         \
	PUNPCKHQDQ abef, cdgh        \
	PSHUFB     swapAll<>(SB), cdgh \
	MOVOU      cdgh, off(DI)

// func compressPairs(dst *node, start *[8]uint32, blocks *block, pairs int)
TEXT ·compressPairs(SB), NOSPLIT, $0-32
	MOVQ  dst+0(FP), DI
	MOVQ  start+8(FP), AX
	MOVQ  blocks+16(FP), SI
	MOVQ  pairs+24(FP), CX
	MOVOU (AX), X14
	MOVOU 16(AX), X15

pair:
	LOAD(0, X3, X4, X5, X6, X1, X2)
	LOAD(64, X9, X10, X11, X12, X7, X8)

	FIRST(0x00, X3, X9)
	EARLY(0x10, X3, X4, X9, X10)
	EARLY(0x20, X4, X5, X10, X11)
	MIDDLE(0x30, X5, X6, X3, X11, X12, X9)
	MIDDLE(0x40, X6, X3, X4, X12, X9, X10)
	MIDDLE(0x50, X3, X4, X5, X9, X10, X11)
	MIDDLE(0x60, X4, X5, X6, X10, X11, X12)
	MIDDLE(0x70, X5, X6, X3, X11, X12, X9)
	MIDDLE(0x80, X6, X3, X4, X12, X9, X10)
	MIDDLE(0x90, X3, X4, X5, X9, X10, X11)
	MIDDLE(0xa0, X4, X5, X6, X10, X11, X12)
	MIDDLE(0xb0, X5, X6, X3, X11, X12, X9)
	MIDDLE(0xc0, X6, X3, X4, X12, X9, X10)
	LATE(0xd0, X3, X4, X5, X9, X10, X11)
	LATE(0xe0, X4, X5, X6, X10, X11, X12)
	FIRST(0xf0, X6, X12)

	STORE(0, X1, X2)
	STORE(16, X7, X8)
	ADDQ $128, SI
	ADDQ $32, DI
	DECQ CX
	JNZ  pair

	// What was hashed may be secret.
	PXOR X0, X0
	PXOR X1, X1
	PXOR X2, X2
	PXOR X3, X3
	PXOR X4, X4
	PXOR X5, X5
	PXOR X6, X6
	PXOR X7, X7
	PXOR X8, X8
	PXOR X9, X9
	PXOR X10, X10
	PXOR X11, X11
	PXOR X12, X12
	PXOR X13, X13
	RET

// func hasSHANI() bool
TEXT ·hasSHANI(SB), NOSPLIT, $0-1
	MOVB  $0, ret+0(FP)
	XORL  AX, AX
	CPUID
	CMPL  AX, $7
	JLT   done
	MOVL  $1, AX
	XORL  CX, CX
	CPUID
	ANDL  $0x80200, CX // SSE4.1 and SSSE3
	CMPL  CX, $0x80200
	JNE   done
	MOVL  $7, AX
	XORL  CX, CX
	CPUID
	SHRL  $29, BX
	ANDL  $1, BX
	MOVB  BX, ret+0(FP)

done:
	RET
