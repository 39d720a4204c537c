package sync

import (
	"errors"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
)

// recoverAgain is how long a block is not asked for again of a peer whose block was refused, and of nobody after one
// could not be stored, or was of no use.
const recoverAgain = time.Minute

// A recovery is the block that peers are asked for because its witnesses must come again.
type recovery struct {
	given *chainhash.Hash // came, and is with the chain; nil: none is
	after time.Time       // nothing is asked for before
}

// recoverFrom asks a peer for the block whose witnesses must come again, if the peer surely has them.
func (d *download) recoverFrom(p *peer) {
	b := chainview.WitnessesOf(d.chain.reader).Wanted
	switch {
	case b == nil, d.recovery.given != nil && *d.recovery.given == b.Hash, d.cfg.Now().Before(d.recovery.after),
		d.cfg.Now().Before(p.recoverAfter):
		return
	case d.isWanted(b.Hash), len(p.inFlight) >= perPeer:
		return
	case !p.servesBlocks(), !p.servesWitnesses(), p.serves(d.cfg.Network.WitnessPruned), !d.chain.isOldOf(p, b):
		return
	}
	d.addRequest(p, b).recovers = true
	m := wire.NewMsgGetDataSizeHint(1)
	_ = m.AddInvVect(wire.NewInvVect(wire.InvTypeWitnessBlock, &b.Hash)) // one
	p.Send(m)
	d.log.debugf("Requesting recovered witness block %v (%d) from peer=%d", b.Hash, b.Height, p.info.ID)
}

// answered takes what the chain says of a block that came again, and whether its witnesses are wanted still.
func (r *recovery) answered(hash chainhash.Hash, err error, isWanted bool, now time.Time) {
	if r.given != nil && *r.given == hash {
		r.given = nil
	}
	if err == nil && isWanted || errors.Is(err, nodemsg.ErrNotKept) {
		r.after = now.Add(recoverAgain)
	}
}
