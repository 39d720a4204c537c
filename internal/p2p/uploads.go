package p2p

import (
	"sync"
	"time"
)

// v1Header is the size of a message's header without encryption, in bytes.
const v1Header = 24

// UploadCycle is how long an upload limit holds before it begins anew.
const UploadCycle = 24 * time.Hour

// blockEvery is the time between blocks that a limit leaves room for.
const blockEvery = 10 * time.Minute

// Uploads counts what all sessions send in a day against a limit, as Core's
// -maxuploadtarget does. Bytes count from the moment they are queued: a peer that asks for
// several blocks at once has no more than the limit. It is safe for concurrent use; the zero
// value has no limit.
type Uploads struct {
	Limit uint64 // bytes a day; 0: none
	Block uint64 // bytes of the largest block

	mu    sync.Mutex
	began time.Time // of the present cycle; zero: nothing was sent yet
	sent  uint64    // in the cycle, queued bytes included
}

// UploadState is how far a limit is used up.
type UploadState struct {
	Limit, Left uint64        // bytes; both 0 without a limit
	Reached     bool          // as much was sent
	OldReached  bool          // the rest is kept for the blocks to come
	Remains     time.Duration // until the limit begins anew
}

// add counts bytes that are queued for a peer.
func (u *Uploads) add(now time.Time, n int) {
	if u.Limit == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.began.Add(UploadCycle).Before(now) {
		u.began, u.sent = now, 0
	}
	u.sent += uint64(n)
}

// State returns how far the limit is used up. Old blocks are served no more when the rest
// is what new ones may need until the limit begins anew, one every ten minutes.
func (u *Uploads) State(now time.Time) UploadState {
	if u.Limit == 0 {
		return UploadState{}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	s := UploadState{Limit: u.Limit, Left: u.Limit - min(u.sent, u.Limit), Remains: UploadCycle}
	if !u.began.IsZero() {
		s.Remains = max(u.began.Add(UploadCycle).Sub(now), 0)
	}
	kept := uint64(s.Remains/blockEvery) * u.Block
	s.Reached = u.sent >= u.Limit
	s.OldReached = kept >= u.Limit || u.sent >= u.Limit-kept
	return s
}
