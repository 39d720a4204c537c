package headersync

import (
	"hash/maphash"
	"math/big"
	"math/rand/v2"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
)

const (
	// perSecond is how many headers a second of time has at most, as times must
	// pass the median of the last eleven.
	perSecond = 6

	// maxAhead is how far a header's time may lie ahead of the clock.
	maxAhead = 2 * time.Hour
)

// A Header is a header of a peer.
type Header struct {
	wire.BlockHeader

	Hash chainhash.Hash
	Raw  []byte // as the network sends it
}

// A Start is the block that a chain of headers builds on.
type Start struct {
	Hash   chainhash.Hash
	Height int32
	Bits   uint32
	Work   *big.Int // must not be written to
	Time   time.Time
}

// Lengths say what is kept of a chain until its work is known.
type Lengths struct {
	Period  int32 // of how many headers one leaves a bit
	Lookout int   // behind how many headers of the second reading one lies when it is let through
}

// A State is the sync of one peer's chain. One goroutine at a time uses it.
type State struct {
	params *chaincfg.Params
	keeps  Lengths
	start  Start
	least  *big.Int
	seed   maphash.Seed // the bits cannot be foreseen
	offset int32        // of the heights that leave bits
	limit  int          // bits that a chain can have left by now

	again bool // the second reading goes on
	over  bool

	at   place // the last header of the present reading
	bits bits

	buffer []Header // of the second reading, not let through yet
	proven bool     // all of the work was seen for the second time
}

// place is how far a reading has come.
type place struct {
	hash   chainhash.Hash
	height int32
	bits   uint32
	work   *big.Int
	time   time.Time
}

// New returns the sync of a chain that builds on start and must have the work
// least.
func New(params *chaincfg.Params, keeps Lengths, start Start, least *big.Int, now time.Time) *State {
	seconds := now.Add(maxAhead).Sub(start.Time) / time.Second
	s := &State{
		params: params, keeps: keeps, start: start, least: least, seed: maphash.MakeSeed(),
		offset: rand.Int32N(keeps.Period), //nolint:gosec // need not be secret
		limit:  int(max(seconds, 0))*perSecond/int(keeps.Period) + 1,
	}
	s.rewind()
	return s
}

func (s *State) rewind() {
	s.at = place{s.start.Hash, s.start.Height, s.start.Bits, new(big.Int).Set(s.start.Work), s.start.Time}
}

// Over reports whether nothing more is to be learned.
func (s *State) Over() bool { return s.over }

// Limit returns how many bits the chain may leave.
func (s *State) Limit() int { return s.limit }

// Progress returns how far the first reading has come, and the time of the last
// header; ok is false in the second one.
func (s *State) Progress() (height int32, at time.Time, ok bool) {
	return s.at.height, s.at.time, !s.again
}

// Last returns the block after which headers are to be asked for.
func (s *State) Last() chainhash.Hash { return s.at.hash }

// Next takes the next headers of the peer, whose hashes prove their bits and
// which follow each other. full says that there may be more after them.
//
// It returns the headers that may be kept, and whether the peer is to be asked for
// the headers after Last. If the headers are not as expected, ok is false: nothing
// was learned, and the sync is over.
func (s *State) Next(list []Header, full bool) (pass []Header, more, ok bool) {
	if s.over || len(list) == 0 {
		return nil, false, false
	}
	if s.again {
		pass, more, ok = s.reread(list, full)
	} else {
		ok = s.read(list)
		more = ok && (full || s.again)
	}
	if !ok || !more {
		s.over = true
		s.buffer = nil
	}
	return pass, more, ok
}

// read is the first reading.
func (s *State) read(list []Header) bool {
	for i := range list {
		h := &list[i]
		if !s.advance(h) {
			return false
		}
		if s.at.height%s.keeps.Period == s.offset {
			if s.bits.len() >= s.limit {
				return false
			}
			s.bits.push(s.bit(h))
		}
	}
	if s.at.work.Cmp(s.least) >= 0 {
		s.again = true
		s.rewind()
	}
	return true
}

// reread is the second reading.
func (s *State) reread(list []Header, full bool) (pass []Header, more, ok bool) {
	for i := range list {
		h := &list[i]
		if !s.advance(h) {
			return nil, false, false
		}
		if !s.proven && s.at.work.Cmp(s.least) >= 0 {
			s.proven = true
		}
		if !s.proven && s.at.height%s.keeps.Period == s.offset {
			if bit, ok := s.bits.pop(); !ok || bit != s.bit(h) {
				return nil, false, false
			}
		}
		s.buffer = append(s.buffer, *h)
	}
	ready := len(s.buffer) - s.keeps.Lookout
	if s.proven {
		ready = len(s.buffer)
	}
	if ready > 0 {
		pass = s.buffer[:ready:ready]
		s.buffer = append([]Header(nil), s.buffer[ready:]...)
	}
	return pass, full && (!s.proven || len(s.buffer) > 0), true
}

// advance checks what can be checked of a header without those before it.
func (s *State) advance(h *Header) bool {
	if h.PrevBlock != s.at.hash || !permitted(s.params, s.at.height+1, s.at.bits, h.Bits) {
		return false
	}
	s.at = place{h.Hash, s.at.height + 1, h.Bits, s.at.work.Add(s.at.work, consensus.TargetWork(h.Bits)), h.Timestamp}
	return true
}

func (s *State) bit(h *Header) bool { return maphash.Bytes(s.seed, h.Hash[:])&1 != 0 }

// permitted reports whether the target may go from one value to another at a
// height, whatever the times of the blocks are.
func permitted(p *chaincfg.Params, height int32, from, to uint32) bool {
	if p.ReduceMinDifficulty {
		return true
	}
	interval := int32(p.TargetTimespan / p.TargetTimePerBlock)
	if height%interval != 0 {
		return from == to
	}
	next, factor := consensus.TargetOf(to), big.NewInt(p.RetargetAdjustmentFactor)
	easiest := new(big.Int).Mul(consensus.TargetOf(from), factor)
	hardest := new(big.Int).Div(consensus.TargetOf(from), factor)
	return next.Cmp(rounded(easiest, p.PowLimit)) <= 0 && next.Cmp(rounded(hardest, p.PowLimit)) >= 0
}

// rounded is a target as bits can say it, and at most limit.
func rounded(wanted, limit *big.Int) *big.Int {
	if wanted.Cmp(limit) > 0 {
		wanted = limit
	}
	return consensus.TargetOf(consensus.TargetBits(wanted))
}

// bits is a queue of bits.
type bits struct {
	words      []uint64
	head, tail int
}

func (b *bits) len() int { return b.tail - b.head }

func (b *bits) push(bit bool) {
	if b.tail%64 == 0 {
		b.words = append(b.words, 0)
	}
	if bit {
		b.words[b.tail/64] |= 1 << (b.tail % 64)
	}
	b.tail++
}

func (b *bits) pop() (bit, ok bool) {
	if b.len() == 0 {
		return false, false
	}
	bit = b.words[b.head/64]>>(b.head%64)&1 != 0
	b.head++
	return bit, true
}
