package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

// file is an assembly file being written.
type file struct {
	*asm.File
}

// newFile starts a file with a comment on what it holds.
func newFile(about string) *file { return &file{asm.NewFile("filters/internal/asmgen", about)} }

// broadcast fills a vector register with a number, by way of the register R9.
func (a *file) broadcast(n uint64, register string) {
	a.Op("MOVQ", fmt.Sprintf("$%#x", n), "R9")
	a.Op("VPBROADCASTQ", "R9", register)
}
