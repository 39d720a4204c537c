package chainview

// An Assumed is said of an active chain that begins with a set of unspent outputs, which is
// believed until the blocks before it are validated.
type Assumed struct {
	Base      *Block // that the set is of: it and those before it may not be there yet
	Txs       uint64 // of the chain up to Base
	Validated *Block // up to which all blocks are validated, on the way to Base or to be taken back
}

// SetAssumed says that the active chain begins with such a set, nil that it does not.
func (t *Tree) SetAssumed(a *Assumed) { t.assumed.Store(a) }

// Assumed returns what is assumed of the active chain, nil: nothing.
func (t *Tree) Assumed() *Assumed { return t.assumed.Load() }

// AssumedOf returns what is assumed of a reader's active chain, nil: nothing.
func AssumedOf(r Reader) *Assumed {
	if r, ok := r.(interface{ Assumed() *Assumed }); ok {
		return r.Assumed()
	}
	return nil
}

// Lacks reports whether a block of the active chain is still to come, or its spends are
// still to be validated.
func (a *Assumed) Lacks(b *Block, active *Chain) bool {
	if a == nil || b == nil || b.Height > a.Base.Height || !active.Contains(b) {
		return false
	}
	return b.Status()&HasData == 0 || a.Validated.Ancestor(b.Height) != b
}

// Bears reports whether a block is Base or builds on it: then blocks before it may be lacking.
func (a *Assumed) Bears(b *Block) bool { return a != nil && b.Ancestor(a.Base.Height) == a.Base }
