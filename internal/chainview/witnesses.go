package chainview

// Witnesses is what a chain says of witnesses that were deleted to save space.
type Witnesses struct {
	// Pruned says that witnesses of some block were once deleted.
	Pruned bool

	// Begun says that all deletions happened since the chain was opened.
	Begun bool

	// Wanted is a block whose witnesses must come again before it can be connected; nil: there is none.
	Wanted *Block
}

// WitnessesOf returns the Witnesses of a reader's chain, the zero value for a reader
// whose chain deletes no witnesses.
func WitnessesOf(r Reader) (w Witnesses) {
	if r, ok := r.(StrippedReader); ok {
		w.Pruned = r.HasStripped()
	}
	if r, ok := r.(interface{ HasBegunToStrip() bool }); ok {
		w.Begun = r.HasBegunToStrip()
	}
	if r, ok := r.(interface{ WantsWitnesses() *Block }); ok {
		w.Wanted = r.WantsWitnesses()
	}
	return w
}

// WantWitnesses says which block's witnesses must come again, nil: of none.
func (t *Tree) WantWitnesses(b *Block) { t.wanted.Store(b) }

// WantsWitnesses returns the block whose witnesses must come again, nil: of none.
func (t *Tree) WantsWitnesses() *Block { return t.wanted.Load() }
