package p2p

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// reconcileVersion is the version of the reconciliation of transactions that is offered
// (BIP330).
const reconcileVersion = 1

// Why a session ends over an offer to reconcile transactions, in Core's words.
var (
	errReconcileNotAsked = errors.New("sendtxrcncl received to which we indicated no tx relay")
	errReconcileNoRelay  = errors.New("sendtxrcncl received which indicated no tx relay to us")
	errReconcileTwice    = errors.New(
		"txreconciliation protocol violation (sendtxrcncl received from already registered peer)",
	)
	errReconcileVersion = errors.New("txreconciliation protocol violation")
)

// A reconciliation is how far both sides of a session have come in offering to reconcile
// transactions. As in Core nothing but the offers is exchanged yet.
type reconciliation struct {
	*Session

	offered, agreed bool // by this node, and by both
}

// offer says what follows the peer's version, where both relay transactions.
func (s *reconciliation) offer(r *Remote) {
	if !s.cfg.Reconcile || r.Common < featuresFrom || r.Version.NoTransactions || s.cfg.NoTransactions ||
		s.cfg.Type == AddrFetch {
		return
	}
	s.log("Pre-register peer=%d", s.cfg.ID)
	s.offered = true
	s.say(&codec.SendTxRcncl{Version: reconcileVersion, Salt: rand.Uint64()}) //nolint:gosec // nothing uses it
}

// take takes the peer's offer.
func (s *reconciliation) take(payload []byte) error {
	if !s.cfg.Reconcile {
		s.logf("sendtxrcncl from peer=%d ignored, as our node does not have txreconciliation enabled", s.cfg.ID)
		return nil
	}
	s.mu.Lock()
	silent := s.remote.Version.NoTransactions
	s.mu.Unlock()
	switch {
	case s.shake.established:
		return fmt.Errorf("%s %w", codec.CmdSendTxRcncl, ErrLate)
	case s.cfg.NoTransactions:
		return errReconcileNotAsked
	case silent:
		return errReconcileNoRelay
	}
	var m codec.SendTxRcncl
	if err := codec.Decode(&m, payload, s.version()); err != nil {
		return err
	}
	switch {
	case !s.offered:
		s.logf("Ignore unexpected txreconciliation signal from peer=%d", s.cfg.ID)
		return nil
	case s.agreed:
		return errReconcileTwice
	case m.Version < reconcileVersion:
		return errReconcileVersion
	}
	s.agreed = true
	s.log("Register peer=%d (inbound=%d)", s.cfg.ID, digit(s.cfg.Type == Inbound))
	return nil
}

// settle forgets the offers at the end of the handshake, where the peer has
// made none or does not announce transactions by the id that reconciling needs.
func (s *reconciliation) settle(r *Remote) {
	if !s.offered || s.agreed && r.WtxidRelay {
		return
	}
	s.offered, s.agreed = false, false
	s.log("Forget txreconciliation state of peer=%d", s.cfg.ID)
}

// log writes a line of Core's category txreconciliation.
func (s *reconciliation) log(format string, args ...any) {
	if s.cfg.LogReconciling != nil {
		s.cfg.LogReconciling(fmt.Sprintf(format, args...))
	}
}
