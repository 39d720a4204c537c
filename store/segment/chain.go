package segment

import (
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// SetTip makes the chain that ends in a block the active one: the block and,
// by their previous-block hashes, all its ancestors down to height 0. It
// extends the chain, disconnects blocks or switches the branch in one step
// that a crash does not divide.
//
// Errors: [ErrNotFound] for a block without a stored filter, [ErrInvalid] for
// heights that do not descend by one, both with nothing changed; [ErrClosed],
// [ErrFailed].
func (s *Store) SetTip(tip *chainhash.Hash) error {
	s.write.Lock()
	defer s.write.Unlock()
	branch, err := s.catalog.branch(tip)
	if err != nil {
		return fmt.Errorf("set tip of filter index: %w", err)
	}
	return s.writing(func() error { return s.setTip(tip, branch) })
}

// setTip writes the one key that says which chain is active: the rest follows
// from the records.
func (s *Store) setTip(tip *chainhash.Hash, branch []uint32) error {
	s.dirty = true
	if err := s.keys.db.Put(keyTip, tip[:], nil); err != nil {
		return fmt.Errorf("write tip of filter index: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catalog.setTip(tip, branch)
	return nil
}

// Tip returns the last block of the active chain; ok is false, and the height
// -1, when there is none.
func (s *Store) Tip() (height int32, block chainhash.Hash, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	height = int32(len(s.catalog.active)) - 1
	return height, s.catalog.tip(), height >= 0
}

// BlockAt returns the block of the active chain at a height; ok is false
// above the tip.
func (s *Store) BlockAt(height int32) (block chainhash.Hash, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if height < 0 || int(height) >= len(s.catalog.active) {
		return block, false
	}
	return s.catalog.slots[s.catalog.active[height]].block, true
}
