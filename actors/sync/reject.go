package sync

import (
	"errors"
	"strings"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/messages"
)

// fault is what a reject reason says of the peer that sent the block.
type fault uint8

const (
	badBody   fault = iota // the block breaks a rule, or is not the one of its header
	badHeader              // its header breaks a rule, or stands nowhere
	cached                 // it is known to be invalid
	harmless
)

// kind tells which kind of fault a reject reason stands for.
func kind(reason string) fault {
	switch reason {
	case "duplicate", "inconclusive", "time-too-new", "too-little-chainwork":
		return harmless
	case "duplicate-invalid":
		return cached
	case "high-hash", "bad-diffbits", "time-too-old", "time-timewarp-attack", "bad-prevblk", noParent, "bad-header":
		return badHeader
	}
	if strings.HasPrefix(reason, "bad-version") || strings.HasPrefix(reason, "bad-auxpow") {
		return badHeader
	}
	return badBody
}

// noParent is the reject reason of a block whose parent is not there.
const noParent = "prev-blk-not-found"

// isMutated reports whether a reject reason says that the block is not the one of
// its header.
func isMutated(reason string) bool {
	switch reason {
	case "bad-txnmrklroot", "bad-txns-duplicate",
		"bad-witness-merkle-match", "bad-witness-nonce-size", "unexpected-witness":
		return true
	}
	return false
}

func (p *peer) isInbound() bool { return p.info.Type == p2p.Inbound }

// punish leaves a peer that sent what breaks a rule, where no honest peer would
// have sent it.
func punish(p *peer, err error, compact bool, text string) {
	var reject *messages.RejectError
	if !errors.As(err, &reject) {
		return // it was the chain that failed
	}
	switch kind(reject.Reason) {
	case harmless:
	case cached:
		if !compact && !p.isInbound() {
			p.Misbehaving(text)
		}
	case badBody:
		if !compact {
			p.Misbehaving(text)
		}
	case badHeader:
		p.Misbehaving(text)
	}
}
