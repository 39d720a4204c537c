package txs

import (
	"slices"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/messages"
)

// owners joins addresses that were seen to have one owner: each leads to another of its
// group, and the last one to itself.
type owners struct {
	next    map[book.Destination]book.Destination
	scripts map[book.Destination][]byte
}

// of returns the address that stands for the group of an address, which is noted.
func (o *owners) of(p *payee) book.Destination {
	at := p.dest
	if _, known := o.next[at]; !known {
		o.next[at], o.scripts[at] = at, p.pkScript
	}
	for o.next[at] != at {
		o.next[at] = o.next[o.next[at]]
		at = o.next[at]
	}
	return at
}

// Groupings lists the addresses of the wallet in groups that have been seen to have one
// owner, in the order of their kinds and bytes.
func (rs *Reports) Groupings() [][]messages.GroupedAddress {
	o := owners{
		next: make(map[book.Destination]book.Destination), scripts: make(map[book.Destination][]byte),
	}
	payees := make(map[book.Destination]*payee)
	for _, t := range rs.ledger.txs {
		var first *payee
		for _, p := range rs.together(t) {
			payees[p.dest] = p
			if first == nil {
				first = p
			}
			o.next[o.of(p)] = o.of(first)
		}
		for _, out := range t.outs {
			if out.to.mine && out.to.dest != "" {
				payees[out.to.dest] = out.to
				o.of(out.to)
			}
		}
	}
	groups := make(map[book.Destination][]book.Destination)
	for dest, p := range payees {
		root := o.of(p)
		groups[root] = append(groups[root], dest)
	}
	ordered := make([][]book.Destination, 0, len(groups))
	for _, group := range groups {
		slices.Sort(group)
		ordered = append(ordered, group)
	}
	slices.SortFunc(ordered, slices.Compare[[]book.Destination])
	return rs.groups(ordered, o.scripts)
}

// together returns the addresses that a transaction shows to have one owner: those that
// it spends from, and those of its change.
func (rs *Reports) together(t *tx) (list []*payee) {
	fromMe := false
	for _, in := range t.record.Tx.TxIn {
		if out := rs.ledger.ownOutput(in.PreviousOutPoint); out != nil && out.to.dest != "" {
			list, fromMe = append(list, out.to), true
		}
	}
	if !fromMe {
		return nil
	}
	for _, out := range t.outs {
		if rs.change(out.to) && out.to.dest != "" {
			list = append(list, out.to)
		}
	}
	return list
}

// groups adds amounts and labels.
func (rs *Reports) groups(
	ordered [][]book.Destination, scripts map[book.Destination][]byte,
) [][]messages.GroupedAddress {
	amounts := rs.addressBalances()
	list := make([][]messages.GroupedAddress, 0, len(ordered))
	for _, group := range ordered {
		shown := make([]messages.GroupedAddress, 0, len(group))
		for _, dest := range group {
			a := messages.GroupedAddress{Amount: amounts[dest]}
			a.Address, _ = descriptor.AddressOf(scripts[dest], rs.net)
			if label := rs.labels.Label(dest); label != nil {
				a.Label, a.HasLabel = *label, true
			}
			shown = append(shown, a)
		}
		list = append(list, shown)
	}
	return list
}

// addressBalances returns what addresses have of coins that can be relied on: confirmed
// ones, and those of own transactions.
func (rs *Reports) addressBalances() map[book.Destination]btcutil.Amount {
	sums := make(map[book.Destination]btcutil.Amount)
	trust := newTrust(rs.ledger)
	for out := range rs.ledger.balances.coins {
		t := out.tx
		if out.to.dest == "" || !trust.trusted(t) || rs.ledger.at.immature(t) {
			continue
		}
		if rs.ledger.at.depth(t) > 0 || rs.ledger.fromMe(t.record.Tx) {
			sums[out.to.dest] += out.amount
		}
	}
	return sums
}
