package wallets

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// serveFunds serves what changes by a word of the caller alone what the wallet counts.
func serveFunds(c actor.Context, w *Wallet, msg any) bool {
	switch m := msg.(type) {
	case *abandonTx:
		alter(c, w, m, func() error { return w.ledger.Spending().Abandon(m.Req.TxID) })
	case *importTx:
		alter(c, w, m, func() error { return takeTx(w, &m.Req) })
	case *removeTx:
		alter(c, w, m, func() error { return w.ledger.Spending().Remove(m.Req.TxID) })
	case *setWalletFlag:
		alter(c, w, m, func() error { return w.ledger.SetFlag(m.Req.Flag, m.Req.Value) })
	default:
		return false
	}
	return true
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

// alter carries out a change once the wallet has seen the tip and can be written, and
// answers when it is on disk.
func alter[Q messages.Request[messages.Done]](
	c actor.Context, w *Wallet, m *ask.Call[Q, messages.Done], change func() error,
) {
	current(c, w, m, func() {
		whenWritable(c, w, m, func() {
			changing(c, w, m, func() (messages.Done, error) { return messages.Done{}, change() })
		})
	})
}
