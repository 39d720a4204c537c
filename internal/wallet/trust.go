package wallet

// trust decides which transactions can be relied on, and remembers it.
type trust struct {
	wallet *Wallet
	known  map[*tx]bool
}

func (w *Wallet) newTrust() *trust { return &trust{wallet: w, known: make(map[*tx]bool)} }

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
	if !t.wallet.fromMe(subject.record.Tx) {
		return false
	}
	for _, in := range subject.record.Tx.TxIn {
		spent := t.wallet.ownOutput(in.PreviousOutPoint)
		if spent == nil || !t.trusted(spent.tx) {
			return false
		}
	}
	t.known[subject] = true
	return true
}
