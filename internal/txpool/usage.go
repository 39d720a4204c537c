package txpool

// Sizes of Core's structures on a machine of 64 bits, by which it estimates the
// memory that its pool takes. Operators choose -maxmempool by that measure, so
// it is kept, although Go's structures are of other sizes.
const (
	usageEntry  = 528 // with its places in the indexes of the pool
	usageShared = 176 // of a transaction, with its counter of references
	usageInput  = 104
	usageOutput = 48
	usageSpend  = 96 // of the index of spent outputs
	usageDelta  = 96
	usageInline = 36 // bytes of a script that take no memory of their own
	usageItem   = 24
)

// allocated returns what a block of memory takes.
func allocated(n int) int64 {
	if n == 0 {
		return 0
	}
	return int64((n + 31) >> 4 << 4)
}

func usageOfScript(n int) int64 {
	if n <= usageInline {
		return 0
	}
	return allocated(n)
}

// usageOf estimates the memory of an entry.
func usageOf(e *Entry) int64 {
	n := usageEntry + usageShared +
		allocated(usageInput*len(e.Tx.TxIn)) + allocated(usageOutput*len(e.Tx.TxOut)) +
		usageSpend*int64(len(e.Tx.TxIn))
	for _, in := range e.Tx.TxIn {
		n += usageOfScript(len(in.SignatureScript)) + allocated(usageItem*len(in.Witness))
		for _, item := range in.Witness {
			n += allocated(len(item))
		}
	}
	for _, out := range e.Tx.TxOut {
		n += usageOfScript(len(out.PkScript))
	}
	return n
}

// Usage estimates the memory that the pool takes, in bytes.
func (p *Pool) Usage() int64 { return p.usage + usageDelta*int64(len(p.deltas)) }
