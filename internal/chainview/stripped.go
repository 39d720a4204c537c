package chainview

// A StrippedReader is a Reader whose files may hold blocks without their witnesses, which were
// removed to save space. Such a block has the status [Stripped], and is read as it is stored.
type StrippedReader interface {
	Reader

	// HasStripped reports whether witnesses of any block were ever removed. It stays true.
	HasStripped() bool
}

// IsStripped reports whether a block lies in the node's files without its witnesses. Where it does not after the
// block was read, what was read has them.
func IsStripped(b *Block) bool { return b.Status()&Stripped != 0 }
