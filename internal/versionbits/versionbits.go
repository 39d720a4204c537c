// Package versionbits computes the state of consensus rule changes that miners
// signal in block versions (BIP9, with the minimum activation height of
// Speedy Trial).
package versionbits

import (
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
)

// A State is where a deployment stands for the blocks of one period.
type State int

// The states of BIP9, in the order they are passed through.
const (
	Defined State = iota
	Started
	LockedIn
	Active
	Failed
)

// String returns the state's name as getdeploymentinfo prints it.
func (s State) String() string {
	return [...]string{"defined", "started", "locked_in", "active", "failed"}[s]
}

const (
	topBits = 0x20000000
	topMask = 0xe0000000
)

// Signals reports whether a block version votes for bit.
func Signals(version int32, bit uint8) bool {
	v := uint32(version)
	return v&topMask == topBits && v&(1<<bit) != 0
}

// StateAfter returns the state that holds for the block after prev, which is
// nil for the genesis block.
func StateAfter(d *dialect.Deployment, prev *chainview.Block) State {
	state, _ := stateSince(d, prev)
	return state
}

// Since returns the height of the first block with the state that holds for
// the block after prev.
func Since(d *dialect.Deployment, prev *chainview.Block) int32 {
	_, since := stateSince(d, prev)
	return since
}

// stateSince walks the periods from the genesis block on. A period's state
// depends on the one before it alone, so the walk keeps just that.
func stateSince(d *dialect.Deployment, prev *chainview.Block) (state State, since int32) {
	switch d.Start {
	case dialect.AlwaysActive:
		return Active, 0
	case dialect.NeverActive:
		return Failed, 0
	}
	if prev == nil {
		return Defined, 0
	}
	for first := d.Period; first <= prev.Height+1; first += d.Period {
		next := step(d, state, prev.Ancestor(first-1))
		if next != state {
			state, since = next, first
		}
		if state == Active || state == Failed {
			break
		}
	}
	return state, since
}

// step returns the state of the period that begins after the block last.
func step(d *dialect.Deployment, state State, last *chainview.Block) State {
	switch state {
	case Defined:
		if last.MedianTimePast() >= d.Start {
			return Started
		}
	case Started:
		if Count(d, last, last.Height+1-d.Period) >= d.Threshold {
			return LockedIn
		}
		if last.MedianTimePast() >= d.Timeout {
			return Failed
		}
	case LockedIn:
		if last.Height+1 >= d.MinActivationHeight {
			return Active
		}
	case Active, Failed:
	}
	return state
}

// Count returns how many of the blocks from height first up to last signal.
func Count(d *dialect.Deployment, last *chainview.Block, first int32) int32 {
	var n int32
	for b := last; b != nil && b.Height >= first; b = b.Parent {
		if Signals(b.Version(), d.Bit) {
			n++
		}
	}
	return n
}

// NextVersion returns the version of a block on top of prev: the choice of the
// network's operator, or else votes for every deployment that can be voted for.
func NextVersion(net *dialect.Network, prev *chainview.Block) int32 {
	if net.BlockVersion != nil {
		return *net.BlockVersion
	}
	return votes(net, prev)
}

// votes returns the version that votes for every deployment that can be voted for.
func votes(net *dialect.Network, prev *chainview.Block) int32 {
	version := uint32(topBits)
	for i := range net.Deployments {
		d := &net.Deployments[i]
		if d.Buried {
			continue
		}
		if s := StateAfter(d, prev); s == Started || s == LockedIn {
			version |= 1 << d.Bit
		}
	}
	return int32(version)
}
