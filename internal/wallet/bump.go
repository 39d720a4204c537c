package wallet

import (
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/spend"
	"github.com/seed61375155/trawl/messages"
)

// anyDepth is more confirmations than any coin has.
const anyDepth = 9_999_999

// ToReplace returns the transaction that a request wants to be replaced.
//
// Errors: [*messages.WalletError].
func (w *Wallet) ToReplace(r *messages.BumpFee) (*wire.MsgTx, error) {
	if r.Payments != nil && r.ChangeIndex != nil {
		return nil, codes.Errorf(codes.Parameter, "The options 'outputs' and 'original_change_index' are "+
			"incompatible. You can only either specify a new set of outputs, or designate a change output to be "+
			"recycled.")
	}
	tx := w.spending.Transaction(r.TxID)
	if tx == nil {
		return nil, codes.Errorf(codes.AddressOrKey, "Invalid or non-wallet transaction id")
	}
	if r.ChangeIndex != nil && int64(*r.ChangeIndex) >= int64(len(tx.TxOut)) {
		return nil, codes.Errorf(codes.Parameter, "Change position is out of range")
	}
	return tx, nil
}

// MayReplace refuses to replace a transaction that is spent from or confirmed, or was
// replaced already. With mine, all that it spends must be the wallet's.
//
// Errors: [*messages.WalletError].
func (w *Wallet) MayReplace(id chainhash.Hash, pool []messages.ClusterTx, mine bool) error {
	tx := w.spending.Transaction(id)
	if tx == nil {
		return codes.Errorf(codes.AddressOrKey, "Invalid or non-wallet transaction id")
	}
	for i := range tx.TxOut {
		if w.spending.Spent(wire.OutPoint{Hash: id, Index: uint32(i)}) {
			return codes.Errorf(codes.Parameter, "Transaction has descendants in the wallet")
		}
	}
	if slices.ContainsFunc(pool, func(t messages.ClusterTx) bool { return slices.Contains(t.Depends, id) }) {
		return codes.Errorf(codes.Parameter, "Transaction has descendants in the mempool")
	}
	if w.spending.Depth(id) != 0 {
		return codes.Errorf(codes.Wallet, "Transaction has been mined, or is conflicted with a mined transaction")
	}
	if by, replaced := w.spending.ReplacedBy(id); replaced {
		return codes.Errorf(codes.Wallet,
			"Cannot bump transaction %v which was already bumped by transaction %s", id, by)
	}
	foreign := func(in *wire.TxIn) bool {
		_, own := w.spending.Output(in.PreviousOutPoint)
		return !own
	}
	if mine && slices.ContainsFunc(tx.TxIn, foreign) {
		return codes.Errorf(codes.Wallet, "Transaction contains inputs that don't belong to this wallet")
	}
	return nil
}

// Replacement returns the request to pay for the replacement of a transaction. The
// outputs that the transaction spends are in coins, as far as the chain or the memory
// pool has them. A virtual byte has scale units of weight.
//
// Errors: [*messages.WalletError].
func (w *Wallet) Replacement(
	r *messages.BumpFee, coins map[wire.OutPoint]*wire.TxOut, pool []messages.ClusterTx, scale int,
) (*messages.Spend, *spend.Replaced, error) {
	tx, err := w.ToReplace(r)
	if err != nil {
		return nil, nil, err
	}
	old := &spend.Replaced{ID: r.TxID, Tx: tx, Rate: r.FeeRate}
	q := &messages.Spend{
		Version: 2, MinConf: 1, MaxConf: anyDepth, AllowUsed: true, Replaceable: new(!r.Irreplaceable),
		ConfTarget: r.ConfTarget, Conservative: r.Conservative, Send: r.Send,
	}
	if r.Send {
		q.Sign = messages.SignAll
	}
	for _, in := range tx.TxIn {
		at := in.PreviousOutPoint
		coin := coins[at]
		if coin == nil {
			return nil, nil, codes.Errorf(codes.Misc, "%v:%d is already spent", at.Hash, at.Index)
		}
		old.Fee += coin.Value
		input := messages.SpendInput{At: at}
		if _, own := w.spending.Output(at); !own {
			input.Out, input.Weight = coin, spend.MaxInputWeight(in, scale)
		}
		q.Inputs = append(q.Inputs, input)
	}
	if err := w.MayReplace(r.TxID, pool, r.Send); err != nil {
		return nil, nil, err
	}
	for _, out := range tx.TxOut {
		old.Fee -= out.Value
	}
	old.Outs = tx.TxOut
	if r.Payments != nil {
		old.Outs = nil
		for _, to := range r.Payments {
			old.Outs = append(old.Outs, wire.NewTxOut(int64(to.Amount), to.Script))
		}
	}
	return q, old, w.payAgain(q, r, old.Outs)
}

// MayTakePlace looks again at a signed replacement, just before it is taken in. For each of its inputs, byPool has
// the transaction of the memory pool that spends the same output, nil if there is none. All else is in a.
//
// Errors: [*messages.WalletError], all with one code.
func (w *Wallet) MayTakePlace(a *spend.Again, byPool []*chainhash.Hash) error {
	if err := w.MayReplace(a.Old.ID, a.Pool.Txs, false); err != nil {
		return recoded(err, codes.Wallet)
	}
	a.Rivals = make(map[wire.OutPoint]chainhash.Hash)
	for i, in := range a.Tx.TxIn {
		at := in.PreviousOutPoint
		if id, there := w.spending.Rival(at, a.Old.ID); there {
			a.Rivals[at] = id
		} else if i < len(byPool) && byPool[i] != nil && !w.spending.Supersedes(a.Old.ID, *byPool[i]) {
			a.Rivals[at] = *byPool[i]
		}
	}
	return a.Check()
}

// payAgain makes a request pay what a transaction paid, with its change in the place of
// change. Where there is nothing but change that is paid, less the fee.
func (w *Wallet) payAgain(q *messages.Spend, r *messages.BumpFee, outs []*wire.TxOut) error {
	var sum btcutil.Amount
	for i, out := range outs {
		change := w.spending.IsChange(out.PkScript)
		if r.ChangeIndex != nil {
			change = int(*r.ChangeIndex) == i
		}
		if change {
			q.ChangeScript = out.PkScript
		} else {
			q.Payments = append(q.Payments, messages.Payment{Script: out.PkScript, Amount: btcutil.Amount(out.Value)})
		}
		sum += btcutil.Amount(out.Value)
	}
	if len(q.Payments) > 0 {
		return nil
	}
	if !w.spending.HasAddress(q.ChangeScript) {
		return codes.Errorf(codes.Parameter,
			"Unable to create transaction. Transaction must have at least one recipient")
	}
	q.Payments = []messages.Payment{{Script: q.ChangeScript, Amount: sum, SubtractFee: true}}
	q.ChangeScript = nil
	return nil
}
