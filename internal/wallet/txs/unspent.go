package txs

import (
	"cmp"
	"slices"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// ListUnspent returns the coins of the wallet: by type of address, then in the
// order in which they came. Fields that concern the mempool are left out.
func (rs *Reports) ListUnspent(r messages.ListUnspent) []messages.Unspent {
	only := make(map[string]bool, len(r.Scripts))
	for _, pkScript := range r.Scripts {
		only[string(pkScript)] = true
	}
	trust := newTrust(rs.ledger)
	list := make([]messages.Unspent, 0, len(rs.ledger.balances.coins))
	var sum btcutil.Amount
	for _, out := range rs.sortedCoins() {
		if !rs.available(out, &r, trust) {
			continue
		}
		if len(only) == 0 || only[string(out.to.pkScript)] {
			list = append(list, rs.unspent(out, trust))
		}
		sum += out.amount
		if r.MinSum > 0 && sum >= r.MinSum || r.MaxCount > 0 && len(list) >= r.MaxCount {
			break
		}
	}
	return list
}

// sortedCoins returns the coins by the type of their address, then as they came.
func (rs *Reports) sortedCoins() []*output {
	types := make(map[*payee]walletfile.OutputType)
	coins := make([]*output, 0, len(rs.ledger.balances.coins))
	for out := range rs.ledger.balances.coins {
		coins = append(coins, out)
		if _, known := types[out.to]; !known {
			types[out.to] = rs.descriptors.OutputType(out.to.pkScript)
		}
	}
	slices.SortFunc(coins, func(a, b *output) int {
		return cmp.Or(
			cmp.Compare(types[a.to], types[b.to]),
			cmp.Compare(a.tx.record.OrderPos, b.tx.record.OrderPos),
			cmp.Compare(a.index, b.index),
		)
	})
	return coins
}

// available reports whether a coin is one of those asked for.
func (rs *Reports) available(out *output, r *messages.ListUnspent, trust *trust) bool {
	depth := rs.ledger.at.depth(out.tx)
	switch {
	case rs.ledger.locks.Has(out.point()), !r.IncludeImmature && rs.ledger.at.immature(out.tx):
		return false
	case depth < 0 || depth == 0 && out.tx.state.kind != inMempool:
		return false
	case depth < r.MinConf || depth > r.MaxConf:
		return false
	case out.amount < r.MinAmount || r.MaxAmount > 0 && out.amount > r.MaxAmount:
		return false
	}
	return r.IncludeUnsafe || rs.safe(out.tx, trust)
}

// safe reports whether the outputs of a transaction can be spent without fear
// that it is replaced.
func (rs *Reports) safe(t *tx, trust *trust) bool {
	_, replaces := t.record.Values[noteReplaces]
	_, replaced := t.record.Values[noteReplacedBy]
	return trust.trusted(t) && (rs.ledger.at.depth(t) > 0 || !replaces && !replaced)
}

func (rs *Reports) unspent(out *output, trust *trust) messages.Unspent {
	avoids := rs.flags.Has(walletfile.AvoidReuse)
	u := messages.Unspent{
		TxID:          out.tx.record.ID,
		Index:         out.index,
		Script:        out.to.pkScript,
		Amount:        out.amount,
		Confirmations: rs.ledger.at.depth(out.tx),
		Spendable:     true,
		ParentDescs:   rs.descriptors.Parents(out.to.pkScript),
		HasReused:     avoids,
		Reused:        avoids && rs.labels.Used(out.to.dest),
		Safe:          rs.safe(out.tx, trust),
	}
	if label := rs.labels.Label(out.to.dest); label != nil && out.to.dest != "" {
		u.Label, u.HasLabel = *label, true
	}
	if s := rs.descriptors.Solve(out.to.pkScript); s != nil {
		u.Solvable = s.Solvable
		if s.Solvable {
			u.Desc = s.Text
		}
		switch out.to.dest.Kind() {
		case book.ScriptHash:
			u.RedeemScript, u.WitnessScript = s.Redeem, s.Witness
		case book.WitnessScriptHash:
			u.WitnessScript = s.Redeem
		}
	}
	return u
}
