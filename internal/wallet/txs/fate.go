package txs

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// A Fate is what has become of a payment.
type Fate uint8

// The fates.
const (
	Stands      Fate = iota // it is confirmed, or nothing speaks against it
	Abandoned               // it was given up
	DoubleSpent             // another transaction, in a block or in the mempool, spends its coins
)

// Fate returns the fate of a payment of the wallet, and the transaction that it is now. Of
// the payment and its replacements this is the confirmed transaction, else the last that
// may yet be confirmed.
func (sp *Spending) Fate(id chainhash.Hash) (now chainhash.Hash, fate Fate) {
	line := sp.replacements(id)
	for _, t := range line {
		if t.state.kind == confirmed {
			return t.record.ID, Stands
		}
	}
	now, fate = id, DoubleSpent
	for i := len(line) - 1; i >= 0; i-- {
		switch t := line[i]; {
		case t.pending():
			return t.record.ID, Stands
		case i == len(line)-1:
			now = t.record.ID
			if t.state.kind == abandoned {
				fate = Abandoned
			}
		}
	}
	return now, fate
}

// replacements returns a transaction with those that replaced it, one after the other.
func (sp *Spending) replacements(id chainhash.Hash) (line []*tx) {
	seen := make(map[*tx]bool)
	for t := sp.ledger.txs[id]; t != nil && !seen[t]; {
		seen[t] = true
		line = append(line, t)
		by, err := chainhash.NewHashFromStr(t.record.Values[noteReplacedBy])
		if err != nil {
			break
		}
		t = sp.ledger.txs[*by]
	}
	return line
}
