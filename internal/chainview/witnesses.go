package chainview

// Witnesses is what a chain says of witnesses that were deleted to save space.
type Witnesses struct {
	// Pruned says that those of some block were deleted once.
	Pruned bool

	// Begun says that all those were deleted since the chain was opened.
	Begun bool

	// Wanted is a block whose witnesses must come again before it can be connected; nil: there is none.
	Wanted *Block
}

// WitnessesOf returns what a reader's chain says of witnesses; one that deletes none says nothing.
func WitnessesOf(r Reader) (w Witnesses) {
	if r, ok := r.(interface{ HasStripped() bool }); ok {
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
