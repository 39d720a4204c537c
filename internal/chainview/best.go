package chainview

// BestHeader returns the end of the known chain with the most work that is not known to
// be invalid.
func BestHeader(reader Reader, active *Chain) *Block {
	best := active.Tip()
	for _, b := range reader.Tips() {
		if b = b.Valid(); b.CompareWork(best) > 0 {
			best = b
		}
	}
	return best
}

// Valid returns the last block up to b that is not known to be invalid.
func (b *Block) Valid() *Block {
	for b.Status().Invalid() {
		b = b.Parent
	}
	return b
}
