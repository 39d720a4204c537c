package chainview

// BestHeader returns the end of the known chain with the most work that is not known to
// be invalid.
func BestHeader(reader Reader, active *Chain) *Block {
	best := active.Tip()
	for _, b := range reader.Tips() {
		for b.Status().Invalid() {
			b = b.Parent
		}
		if b.CompareWork(best) > 0 {
			best = b
		}
	}
	return best
}
