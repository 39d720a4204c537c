package txpool

import "github.com/btcsuite/btcd/wire"

// Sizes of Core's structures on a machine of 64 bits, by which it estimates the
// memory that its pool takes. Operators choose -maxmempool by that measure, so
// it is kept, although Go's structures are of other sizes.
const (
	usageEntry  = 512 // with its places in the indexes of the pool, and its relatives
	usageShared = 176 // of a transaction, with its counter of references
	usageInput  = 104
	usageOutput = 48
	usageSpend  = 96 // of the index of spent outputs
	usageDelta  = 96
	usageInline = 36 // bytes of a script that take no memory of their own
	usageItem   = 24

	// Where transactions are judged by clusters, entries know no relatives; see linear.Clusters.Usage for these.
	usageClustered      = 224 + 60
	usageClusteredSpend = 64
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
func usageOf(e *Entry, order Order) int64 {
	inputs, own := int64(len(e.Tx.TxIn)), Usage(e.Tx)
	if order == ByClusters {
		return usageClustered + usageClusteredSpend*inputs + own
	}
	return usageEntry + usageSpend*inputs + own
}

// Usage estimates the memory that Core takes for a transaction.
func Usage(tx *wire.MsgTx) int64 {
	n := usageShared + allocated(usageInput*len(tx.TxIn)) + allocated(usageOutput*len(tx.TxOut))
	for _, in := range tx.TxIn {
		n += usageOfScript(len(in.SignatureScript)) + allocated(usageItem*len(in.Witness))
		for _, item := range in.Witness {
			n += allocated(len(item))
		}
	}
	for _, out := range tx.TxOut {
		n += usageOfScript(len(out.PkScript))
	}
	return n
}

// Usage estimates the memory that the pool takes, in bytes.
func (p *Pool) Usage() int64 { return p.usage + usageDelta*int64(len(p.deltas)) + p.relatives.usage() }
