// Command asmgen writes the assembly of package slhdsa that hashes many messages side by
// side, into the folder it is run in. It always writes the same bytes: a test fails if the
// files differ.
package main

import (
	"fmt"
	"os"

	"github.com/seed61375155/trawl/internal/asm"
)

// files are the files it writes.
var files = map[string]func() []byte{
	"avx2_amd64.s": func() []byte { return kernel(avx2, "SHA-256 of the AVX2 kernel: 8 messages side by side.") },
	"avx512_amd64.s": func() []byte {
		return kernel(avx512, "SHA-256 of the AVX-512 kernel: 16 messages side by side.")
	},
}

func main() {
	for name, generate := range files {
		if err := os.WriteFile(name, generate(), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "asmgen:", err)
			os.Exit(1)
		}
	}
}

// kernel writes the functions of a kernel.
func kernel(width int, about string) []byte {
	v := &vectors{asm.NewFile("internal/slhdsa/internal/asmgen", about), width}
	v.constants()
	v.macros()
	v.open()
	v.walk()
	v.pairs()
	v.sums()
	return v.Bytes()
}
