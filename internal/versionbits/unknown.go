package versionbits

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
)

// signalBits is how many bits of a version can be voted with.
const signalBits = 29

// Unknown finds rules that miners have decided and that the node does not know. It
// remembers what it has found, so that a chain is walked over once. It is not safe
// for concurrent use.
type Unknown struct {
	net               *dialect.Network
	period, threshold int32
	states            map[chainhash.Hash]*[signalBits]State // of the period after the block
}

// NewUnknown returns an Unknown for the chains of a network.
func NewUnknown(net *dialect.Network) *Unknown {
	return &Unknown{
		net: net, period: net.Signals.Period, threshold: net.Signals.Threshold,
		states: make(map[chainhash.Hash]*[signalBits]State),
	}
}

// After returns the bits whose unknown rules are locked in, and those whose rules are
// active, for the block after tip.
func (u *Unknown) After(tip *chainview.Block) (lockedIn, active []int) {
	for bit, state := range u.at(tip.Ancestor(tip.Height - (tip.Height+1)%u.period)) {
		switch state {
		case LockedIn:
			lockedIn = append(lockedIn, bit)
		case Active:
			active = append(active, bit)
		case Defined, Started, Failed:
		}
	}
	return lockedIn, active
}

// at returns the states of the period after its last block before, which is nil for
// the first period.
func (u *Unknown) at(last *chainview.Block) *[signalBits]State {
	var todo []*chainview.Block
	states := new([signalBits]State) // all are Defined
	for ; last != nil; last = last.Ancestor(last.Height - u.period) {
		if known := u.states[last.Hash]; known != nil {
			states = known
			break
		}
		todo = append(todo, last)
	}
	for i := len(todo) - 1; i >= 0; i-- {
		states = u.step(states, todo[i])
		u.states[todo[i].Hash] = states
	}
	return states
}

// step returns the states of the period that begins after the block last. Signalling
// counts from the second period on, and for ever.
func (u *Unknown) step(before *[signalBits]State, last *chainview.Block) *[signalBits]State {
	counts, after := u.count(last), *before
	for bit, state := range before {
		switch state {
		case Defined:
			after[bit] = Started
		case Started:
			if counts[bit] >= u.threshold {
				after[bit] = LockedIn
			}
		case LockedIn:
			after[bit] = Active
		case Active, Failed:
		}
	}
	return &after
}

// count returns how many blocks of the period that ends with last vote for each bit
// that no known rule has.
func (u *Unknown) count(last *chainview.Block) (counts [signalBits]int32) {
	known := expected{net: u.net}
	for b, i := last, int32(0); b != nil && i < u.period && b.Height >= u.net.Signals.From; b, i = b.Parent, i+1 {
		if uint32(b.Version())&topMask != topBits {
			continue
		}
		votes := uint32(b.Version()) &^ topMask
		if votes != 0 {
			votes &^= known.votes(b.Parent)
		}
		for bit := range u.net.Signals.Bits {
			counts[bit] += int32(votes >> bit & 1)
		}
	}
	return counts
}

// expected are the votes of blocks of one chain that a miner with the same rules
// gives. They are the same within a period.
type expected struct {
	net     *dialect.Network
	mask    uint32
	periods []int32 // of the deployments, that mask is of; nil: of none yet
}

// votes returns the bits of the version of the block after prev.
func (e *expected) votes(prev *chainview.Block) uint32 {
	if prev == nil {
		return 0
	}
	same := e.periods != nil
	if !same {
		e.periods = make([]int32, len(e.net.Deployments))
	}
	for i := range e.net.Deployments {
		if d := &e.net.Deployments[i]; !d.Buried {
			now := (prev.Height + 1) / d.Period
			same = same && now == e.periods[i]
			e.periods[i] = now
		}
	}
	if !same {
		e.mask = uint32(votes(e.net, prev)) &^ topMask
	}
	return e.mask
}
