package wallet

import "github.com/seed61375155/trawl/internal/rawtx/psbt"

// AddSpent puts into a partially signed transaction the own transactions whose outputs its inputs spend.
func (w *Wallet) AddSpent(p *psbt.Packet) {
	for i := range p.Inputs {
		if p.Final(i) || p.Inputs[i].Has(psbt.NonWitnessUTXO) {
			continue
		}
		if tx := w.spending.Transaction(p.Tx.TxIn[i].PreviousOutPoint.Hash); tx != nil {
			p.Inputs[i].Put(psbt.NonWitnessUTXO, nil, psbt.Serialize(tx, true))
		}
	}
}
