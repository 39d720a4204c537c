package txs

import "github.com/seed61375155/trawl/internal/walletfile"

// stateKind tells the states of a transaction apart.
type stateKind int

const (
	inactive  stateKind = iota // neither in the chain nor in the mempool
	abandoned                  // inactive, and given up
	inMempool
	confirmed  // in a block
	conflicted // an input is spent by another transaction, which is in a block
	unrecognized
)

// state is what is known of the fate of a transaction.
type state struct {
	kind  stateKind
	block BlockRef // of confirmed and conflicted ones
	index int32    // in the block, of confirmed ones

	// unknown is what the file said, of unrecognized ones.
	unknown walletfile.TxState
}

// inBlock reports whether the state names a block.
func (s *state) inBlock() bool { return s.kind == confirmed || s.kind == conflicted }

// sameKind reports whether two states are of one kind to Core, which takes
// abandoned transactions for inactive ones.
func (s *state) sameKind(other state) bool {
	plain := func(k stateKind) stateKind {
		if k == abandoned {
			return inactive
		}
		return k
	}
	return plain(s.kind) == plain(other.kind)
}

// stored returns the state as it is written. That a transaction is in the
// mempool is not.
func (s *state) stored() walletfile.TxState {
	switch s.kind {
	case confirmed:
		return walletfile.ConfirmedState(s.block.Hash, s.index)
	case conflicted:
		return walletfile.ConflictedState(s.block.Hash)
	case abandoned:
		return walletfile.AbandonedState()
	case unrecognized:
		return s.unknown
	default:
		return walletfile.TxState{}
	}
}

// loadedState returns the state of a transaction from the file. Blocks that are
// not in the chain any more are forgotten.
func loadedState(stored walletfile.TxState, chain Chain) state {
	s := state{unknown: stored}
	switch stored.Kind() {
	case walletfile.Confirmed:
		s.kind, s.index = confirmed, stored.Index
	case walletfile.Conflicted:
		s.kind = conflicted
	case walletfile.Abandoned:
		s.kind = abandoned
	case walletfile.Unrecognized:
		s.kind = unrecognized
	case walletfile.Inactive:
	}
	if s.inBlock() {
		var active bool
		if s.block, active = chain.Find(&stored.Block); !active {
			return state{}
		}
	}
	return s
}

// pending reports whether the transaction may yet confirm: nothing speaks
// against it.
func (t *tx) pending() bool {
	switch t.state.kind {
	case confirmed, conflicted, abandoned:
		return false
	default:
		return len(t.conflicts) == 0
	}
}
