package txs

// trust decides which transactions can be relied on, and remembers it.
type trust struct {
	ledger *Ledger
	known  map[*tx]bool
}

func newTrust(l *Ledger) *trust { return &trust{ledger: l, known: make(map[*tx]bool)} }

// trusted reports whether a transaction is confirmed, or is the wallet's own, in
// the mempool, and spends only from such, where those are trusted at all.
func (t *trust) trusted(subject *tx) bool {
	switch subject.state.kind {
	case confirmed:
		return true
	case inMempool:
	default:
		return false
	}
	if t.ledger.cfg.OnlyConfirmed {
		return false
	}
	known, ok := t.known[subject]
	if !ok {
		known = t.spendsTrusted(subject)
		t.known[subject] = known
	}
	return known
}

// spendsTrusted reports whether all that a transaction spends is the wallet's, and
// can be relied on.
func (t *trust) spendsTrusted(subject *tx) bool {
	for _, in := range subject.record.Tx.TxIn {
		spent := t.ledger.ownOutput(in.PreviousOutPoint)
		if spent == nil || !t.trusted(spent.tx) {
			return false
		}
	}
	return true
}
