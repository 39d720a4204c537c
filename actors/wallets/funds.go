package wallets

import (
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

func (w *Wallet) abandonTx(q messages.AbandonTx) (messages.Done, error) {
	return messages.Done{}, w.ledger.Spending().Abandon(q.TxID)
}

func (w *Wallet) importTx(q messages.ImportTx) (messages.Done, error) {
	return messages.Done{}, takeTx(w, &q)
}

func (w *Wallet) removeTx(q messages.RemoveTx) (messages.Done, error) {
	return messages.Done{}, w.ledger.Spending().Remove(q.TxID)
}

func (w *Wallet) setFlag(q messages.SetWalletFlag) (messages.Done, error) {
	return messages.Done{}, w.ledger.SetFlag(q.Flag, q.Value)
}

// takeTx takes in a transaction of a block that the wallet has seen.
func takeTx(w *Wallet, r *messages.ImportTx) error {
	reader := w.cfg.Chain.Open()
	tip := w.at(reader)
	block := reader.Lookup(&r.Block)
	if block == nil || !tip.Ancestor(block.Height).Is(block) {
		return codes.Errorf(codes.AddressOrKey, "Block not found in chain")
	}
	if r.Index == nil {
		return codes.Errorf(codes.AddressOrKey, "Transaction given doesn't exist in proof")
	}
	return w.ledger.Spending().Import(r.Tx, blockRef(block), int32(*r.Index), w.cfg.now())
}
