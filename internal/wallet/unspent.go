package wallet

import (
	"cmp"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// ListUnspent returns the coins of the wallet: by type of address, then in the
// order in which they came. What concerns the mempool is left out.
func (w *Wallet) ListUnspent(r messages.ListUnspent) []messages.Unspent {
	only := make(map[string]bool, len(r.Scripts))
	for _, pkScript := range r.Scripts {
		only[string(pkScript)] = true
	}
	trust := w.newTrust()
	list := make([]messages.Unspent, 0, len(w.funds.coins))
	var sum btcutil.Amount
	for _, out := range slices.SortedFunc(maps.Keys(w.funds.coins), compareCoins) {
		if !w.available(out, &r, trust) {
			continue
		}
		if len(only) == 0 || only[string(out.script.bytes)] {
			list = append(list, w.unspent(out, trust))
		}
		sum += out.amount
		if r.MinSum > 0 && sum >= r.MinSum || r.MaxCount > 0 && len(list) >= r.MaxCount {
			break
		}
	}
	return list
}

// available reports whether a coin is one of those asked for.
func (w *Wallet) available(out *output, r *messages.ListUnspent, trust *trust) bool {
	depth := w.depth(out.tx)
	_, locked := w.locked[out.point()]
	switch {
	case locked, !r.IncludeImmature && w.immature(out.tx):
		return false
	case depth < 0 || depth == 0 && out.tx.state.kind != inMempool:
		return false
	case depth < r.MinConf || depth > r.MaxConf:
		return false
	case out.amount < r.MinAmount || r.MaxAmount > 0 && out.amount > r.MaxAmount:
		return false
	}
	return r.IncludeUnsafe || w.safe(out.tx, trust)
}

// safe reports whether the outputs of a transaction can be spent without fear
// that it is replaced.
func (w *Wallet) safe(t *tx, trust *trust) bool {
	_, replaces := t.record.Values[noteReplaces]
	_, replaced := t.record.Values[noteReplacedBy]
	return trust.trusted(t) && (w.depth(t) > 0 || !replaces && !replaced)
}

func (w *Wallet) unspent(out *output, trust *trust) messages.Unspent {
	avoids := w.flags.Has(walletfile.AvoidReuse)
	u := messages.Unspent{
		TxID:          out.tx.record.ID,
		Index:         out.index,
		Script:        out.script.bytes,
		Amount:        out.amount,
		Confirmations: w.depth(out.tx),
		Spendable:     true,
		ParentDescs:   w.parents(out.script),
		HasReused:     avoids,
		Reused:        avoids && w.book.Used(out.script.dest),
		Safe:          w.safe(out.tx, trust),
	}
	if label := w.book.Label(out.script.dest); label != nil && out.script.dest != "" {
		u.Label, u.HasLabel = *label, true
	}
	if s := out.script.solve(); s != nil {
		u.Solvable = s.Solvable
		if s.Solvable {
			u.Desc = s.Text
		}
		switch out.script.dest.Kind() {
		case book.ScriptHash:
			u.RedeemScript, u.WitnessScript = s.Redeem, s.Witness
		case book.WitnessScriptHash:
			u.WitnessScript = s.Redeem
		}
	}
	return u
}

// compareCoins orders coins by the type of their address, then as they came.
func compareCoins(a, b *output) int {
	return cmp.Or(
		cmp.Compare(a.script.outputType(), b.script.outputType()),
		cmp.Compare(a.tx.record.OrderPos, b.tx.record.OrderPos),
		cmp.Compare(a.index, b.index),
	)
}

// noType comes after all types of addresses.
const noType = walletfile.P2MR + 1

// outputType returns the type of address of an own script.
func (s *script) outputType() walletfile.OutputType {
	switch s.dest.Kind() {
	case book.PubKeyHash:
		return walletfile.Legacy
	case book.ScriptHash:
		if slot, ok := s.owners[0].source.slot(false); ok {
			return slot.Type
		}
		return walletfile.P2SHSegwit // of combo()
	case book.WitnessKeyHash, book.WitnessScriptHash:
		return walletfile.Bech32
	case book.Taproot:
		return walletfile.Bech32m
	case book.MerkleRoot:
		return walletfile.P2MR
	}
	return noType
}

// LockCoin keeps a coin from being listed as unspent. It is kept so in the file
// if persist is set.
func (w *Wallet) LockCoin(at wire.OutPoint, persist bool) {
	w.locked[at] = w.locked[at] || persist
	if persist {
		w.log.Put(walletfile.LockedOutput(at))
	}
}

// UnlockCoin undoes [Wallet.LockCoin].
func (w *Wallet) UnlockCoin(at wire.OutPoint) {
	if w.locked[at] {
		w.log.Remove(walletfile.LockedOutput(at).Key())
	}
	delete(w.locked, at)
}

// LockedCoins returns the coins that are locked, by transaction and index.
func (w *Wallet) LockedCoins() []wire.OutPoint {
	return slices.SortedFunc(maps.Keys(w.locked), func(a, b wire.OutPoint) int {
		return cmp.Or(slices.Compare(a.Hash[:], b.Hash[:]), cmp.Compare(a.Index, b.Index))
	})
}
