package records

import "github.com/seed61375155/trawl/internal/walletfile"

// Flags are what a wallet can and may do, as its file says.
type Flags struct {
	value walletfile.Flags
	log   *Log
}

// NewFlags takes over the flags of a file, whose changes go into the log.
func NewFlags(value walletfile.Flags, log *Log) *Flags { return &Flags{value: value, log: log} }

// Value returns all flags.
func (f *Flags) Value() walletfile.Flags { return f.value }

// Has reports whether all the given flags are set.
func (f *Flags) Has(flags walletfile.Flags) bool { return f.value.Has(flags) }

// Set replaces all flags, and writes them.
func (f *Flags) Set(flags walletfile.Flags) {
	f.value = flags
	f.log.Put(flags)
}
