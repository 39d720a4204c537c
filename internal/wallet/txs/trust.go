package txs

// trust decides which transactions can be relied on, and remembers it.
type trust struct {
	ledger *Ledger
	known  map[*tx]bool
}

func newTrust(l *Ledger) *trust { return &trust{ledger: l, known: make(map[*tx]bool)} }

// trusted reports whether a transaction is confirmed, or is the wallet's own, in
// the mempool, and spends only from such.
func (t *trust) trusted(subject *tx) bool {
	switch subject.state.kind {
	case confirmed:
		return true
	case inMempool:
	default:
		return false
	}
	if known, ok := t.known[subject]; ok {
		return known
	}
	t.known[subject] = false
	if !t.ledger.fromMe(subject.record.Tx) {
		return false
	}
	for _, in := range subject.record.Tx.TxIn {
		spent := t.ledger.ownOutput(in.PreviousOutPoint)
		if spent == nil || !t.trusted(spent.tx) {
			return false
		}
	}
	t.known[subject] = true
	return true
}
