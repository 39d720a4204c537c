package txs

import (
	"math"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// Balances returns what the wallet has. The cost grows with the number of
// transactions in the mempool, not with that of coins.
func (rs *Reports) Balances(r messages.GetBalances) messages.Balances {
	avoids := rs.flags.Has(walletfile.AvoidReuse)
	all := rs.balance(r.MinConf, true)
	b := all
	if avoids && r.AvoidReuse {
		b = rs.balance(r.MinConf, false)
	}
	b.Last, b.HasUsed = rs.ledger.at.tip, avoids
	if avoids {
		clean := rs.balance(0, false)
		all = rs.balance(0, true)
		b.Used = all.Trusted + all.Pending - clean.Trusted - clean.Pending
	}
	if r.Unsent {
		rs.addUnsent(&b, avoids && r.AvoidReuse)
	}
	return b
}

// addUnsent adds the coins that are spent only by transactions which are neither in a block nor in the mempool.
func (rs *Reports) addUnsent(b *messages.Balances, avoids bool) {
	trust, seen := newTrust(rs.ledger), make(map[*output]bool)
	for t := range rs.ledger.states.waiting {
		for _, in := range t.record.Tx.TxIn {
			out := rs.ledger.ownOutput(in.PreviousOutPoint)
			if out == nil || seen[out] || !t.pending() || rs.ledger.spends.spentInSight(out) {
				continue
			}
			seen[out] = true
			if to := rs.balanceOf(b, out, trust, avoids); to != nil {
				*to += out.amount
				b.Unsent -= out.amount
			}
		}
	}
}

// balanceOf returns the balance that an unspent output counts in, nil for none.
func (rs *Reports) balanceOf(b *messages.Balances, out *output, trust *trust, avoids bool) *btcutil.Amount {
	var to *btcutil.Amount
	switch {
	case out.tx.state.kind == confirmed && rs.ledger.at.immature(out.tx):
		to = &b.Immature
	case trust.trusted(out.tx):
		to = &b.Trusted
	case out.tx.state.kind == inMempool:
		to = &b.Pending
	default:
		return nil
	}
	if avoids && rs.labels.Used(out.to.dest) {
		return &b.Used
	}
	return to
}

// balance sums up coins, with or without those on addresses that were spent from.
func (rs *Reports) balance(minConf int32, withUsed bool) (b messages.Balances) {
	wanted := func(g group) bool { return withUsed || !g.used }
	confirmed, young := rs.confirmed(minConf)
	for g, amount := range confirmed {
		if wanted(g) {
			b.Trusted += amount
		}
	}
	for g, amount := range young {
		if wanted(g) {
			b.Immature += amount
		}
	}
	rs.addPool(&b, minConf, withUsed)
	return b
}

// confirmed returns the confirmed coins of at least the given depth, and those
// of coinbases that cannot be spent yet, whatever their depth.
func (rs *Reports) confirmed(minConf int32) (spendable, immature sums) {
	spendable, immature = make(sums), make(sums)
	spendable.addAll(rs.ledger.balances.total)
	awaited := rs.ledger.balances.above(rs.ledger.at.tip.Height) // a chain that is rebuilt has their blocks later
	for g, amount := range awaited {
		spendable[g] -= amount
	}
	young := rs.ledger.balances.above(rs.ledger.at.tip.Height - rs.ledger.at.maturity)
	for g, amount := range young {
		if g.coinbase {
			immature[g] = amount - awaited[g]
			spendable[g] -= immature[g]
		}
	}
	if minConf <= 1 {
		return spendable, immature
	}
	height := max(int64(rs.ledger.at.tip.Height)-int64(minConf)+1, math.MinInt32)
	for g, amount := range rs.ledger.balances.above(int32(height)) {
		amount -= awaited[g] // was taken away already
		if g.coinbase {
			amount -= immature[g] // was taken away already, as far as it is as young
			amount = max(amount, 0)
		}
		spendable[g] -= amount
	}
	return spendable, immature
}

// addPool adds the coins of transactions in the mempool.
func (rs *Reports) addPool(b *messages.Balances, minConf int32, withUsed bool) {
	trust := newTrust(rs.ledger)
	for t := range rs.ledger.states.pool {
		var sum btcutil.Amount
		for _, out := range t.outs {
			if rs.ledger.balances.coins[out] && (withUsed || !rs.labels.Used(out.to.dest)) {
				sum += out.amount
			}
		}
		switch {
		case !trust.trusted(t):
			b.Pending += sum
		case minConf <= 0:
			b.Trusted += sum
		}
	}
}
