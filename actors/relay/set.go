package relay

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// Sizes of the sets of remembered transactions.
const (
	maxRejected  = 60_000
	maxConfirmed = 48_000
	maxKnown     = 50_000 // of a peer
)

// A rollingSet holds the hashes that were added last: at least the last limit/2
// and at most limit hashes.
type rollingSet struct {
	limit    int
	old, new map[chainhash.Hash]struct{}
}

func newRollingSet(limit int) *rollingSet {
	return &rollingSet{limit: limit, new: make(map[chainhash.Hash]struct{})}
}

func (s *rollingSet) add(h chainhash.Hash) {
	if len(s.new) >= s.limit/2 {
		s.old, s.new = s.new, make(map[chainhash.Hash]struct{})
	}
	s.new[h] = struct{}{}
}

func (s *rollingSet) has(h chainhash.Hash) bool {
	if _, in := s.new[h]; in {
		return true
	}
	_, in := s.old[h]
	return in
}

func (s *rollingSet) clear() {
	s.old = nil
	clear(s.new)
}
