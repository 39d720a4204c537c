// Package slots keeps the books of an actor that lets one scan run at a time
// and reserves the place for it while its scripts are prepared elsewhere.
package slots

import (
	"sync/atomic"

	"github.com/seed61375155/trawl/messages"
)

// Slots gives out one slot after the other. Whether one may be given is for
// its owner to know. It is not safe for concurrent use.
type Slots struct {
	given   *atomic.Uint64
	last    uint64
	aborted chan struct{}   // closed when the preparation for the last slot is aborted
	orphans map[uint64]bool // aborted ones whose holders have not come yet
}

// New makes the books of one instance of an actor. given counts the slots of all
// instances, so that none is given twice.
func New(given *atomic.Uint64) *Slots {
	return &Slots{given: given, orphans: map[uint64]bool{}}
}

// Reserve gives out a slot.
func (s *Slots) Reserve() messages.ScanSlot {
	s.last, s.aborted = s.given.Add(1), make(chan struct{})
	return messages.ScanSlot{ID: s.last, Aborted: s.aborted}
}

// Last reports whether a slot is the one that was given out last.
func (s *Slots) Last(id uint64) bool { return id == s.last }

// Abort ends the preparation for the last slot, whose holder may be gone, or
// come with its scan yet: see [Slots.Orphan].
func (s *Slots) Abort() {
	close(s.aborted)
	s.orphans[s.last] = true
}

// Orphan reports whether a slot was aborted before its holder came, and forgets
// it.
func (s *Slots) Orphan(id uint64) bool {
	orphan := s.orphans[id]
	delete(s.orphans, id)
	return orphan
}
