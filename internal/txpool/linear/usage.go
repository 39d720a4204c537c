package linear

// Sizes of Core's structures on a machine of 64 bits, by which it estimates the memory of its clusters. Go's structures
// are of other sizes.
const (
	usageTx    = 80  // of a transaction among all
	usageChunk = 64  // of a place in the order of chunks
	usageAlone = 72  // of a cluster of a single transaction
	usageMany  = 136 // of another, with its lists:
	usageIndex = 4   // two of these for a transaction
	usageNode  = 32  // and one of these
)

// Usage estimates the memory that the clusters take, in bytes, as Core does.
func (c *Clusters) Usage() int64 {
	c.settle()
	return c.usage
}

// usage estimates the memory of a cluster.
func (k *cluster) usage() int64 {
	n := len(k.txs)
	sum := int64(n*usageTx + len(k.chunks)*usageChunk)
	if n == 1 {
		return sum + usageAlone
	}
	return sum + usageMany + 2*allocated(n*usageIndex) + allocated(n*usageNode)
}

// allocated returns what a block of memory takes.
func allocated(n int) int64 { return int64((n + 31) >> 4 << 4) }
