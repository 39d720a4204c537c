package txs

import (
	"maps"
	"math"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// tally sums up what was received.
type tally struct {
	amount btcutil.Amount
	depth  int32 // of the least deep transaction; math.MaxInt32: none
	count  int   // of payments
}

func newTally() tally { return tally{depth: math.MaxInt32} }

// confirmations is the depth, or 0 if nothing was received.
func (t *tally) confirmations() int32 {
	if t.depth == math.MaxInt32 {
		return 0
	}
	return t.depth
}

// receipts says which transactions count.
type receipts struct {
	minConf  int32
	immature bool // coinbases that cannot be spent yet count too
}

// counts reports whether what a transaction pays counts. A coinbase does only
// while it is in the chain.
func (rs *Reports) counts(t *tx, r receipts) bool {
	depth := rs.ledger.at.depth(t)
	if depth < r.minConf {
		return false
	}
	return !t.coinbase() || depth >= 1 && (r.immature || !rs.ledger.at.immature(t))
}

// tally sums up what a script received, and appends the ids of the transactions to
// those given, in their own order.
func (rs *Reports) tally(p *payee, r receipts, ids []chainhash.Hash) (tally, []chainhash.Hash) {
	sum := newTally()
	if p == nil || !p.mine {
		return sum, ids
	}
	for _, out := range p.outs {
		if rs.counts(out.tx, r) {
			sum.amount += out.amount
			sum.depth = min(sum.depth, rs.ledger.at.depth(out.tx))
			sum.count++
			ids = append(ids, out.tx.record.ID)
		}
	}
	slices.SortFunc(ids[len(ids)-sum.count:], compareIDs)
	return sum, ids
}

// compareIDs compares the texts of ids, which begin with the last byte.
func compareIDs(a, b chainhash.Hash) int {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return int(a[i]) - int(b[i])
		}
	}
	return 0
}

// ListReceived lists what addresses received that have a label: in the order of
// their kinds and bytes, or by label. The cost grows with the number of payments
// to them, and with that of addresses only if empty ones are listed too.
func (rs *Reports) ListReceived(r messages.ListReceived) []messages.Received {
	entries := rs.labels.Paid()
	switch {
	case r.Script != nil && !r.ByLabel:
		entries = nil
		if e := rs.labels.Find(book.DestinationOf(rs.net, r.Script)); e != nil {
			entries = []*book.Entry{e}
		}
	case r.IncludeEmpty:
		entries = rs.labels.Labelled()
	}
	counted := receipts{minConf: r.MinConf, immature: r.IncludeImmature}
	if r.ByLabel {
		return rs.receivedByLabel(entries, counted, r.IncludeEmpty)
	}
	list := make([]messages.Received, 0, len(entries))
	// Most addresses are paid to once: one allocation holds the ids of all.
	ids := make([]chainhash.Hash, 0, min(len(entries), len(rs.labels.Paid())))
	for _, e := range entries {
		var sum tally
		sum, ids = rs.tally(rs.ledger.payees.list[e.Payee()], counted, ids)
		if sum.count > 0 || r.IncludeEmpty {
			list = append(list, messages.Received{
				Address: e.Address(), Label: e.Label(), Amount: sum.amount,
				Confirmations: sum.confirmations(), TxIDs: slices.Clip(ids[len(ids)-sum.count:]),
			})
		}
	}
	return list
}

// receivedByLabel sums up by label, in the order of the labels.
func (rs *Reports) receivedByLabel(entries []*book.Entry, r receipts, includeEmpty bool) []messages.Received {
	sums := make(map[string]tally)
	var ids []chainhash.Hash // that nobody asks for
	for _, e := range entries {
		var sum tally
		sum, ids = rs.tally(rs.ledger.payees.list[e.Payee()], r, ids[:0])
		if sum.count == 0 && !includeEmpty {
			continue
		}
		label, ok := sums[e.Label()]
		if !ok {
			label = newTally()
		}
		label.amount += sum.amount
		label.depth = min(label.depth, sum.depth)
		sums[e.Label()] = label
	}
	list := make([]messages.Received, 0, len(sums))
	for _, label := range slices.Sorted(maps.Keys(sums)) {
		sum := sums[label]
		list = append(list, messages.Received{Label: label, Amount: sum.amount, Confirmations: sum.confirmations()})
	}
	return list
}

// payee returns what is known of a script; nil if the script was never paid.
func (rs *Reports) payee(pkScript []byte) *payee { return rs.ledger.payees.byScript[string(pkScript)] }

// Received returns what one address, or all with a label, received.
//
// Errors: [*messages.WalletError].
func (rs *Reports) Received(r messages.GetReceived) (btcutil.Amount, error) {
	scripts, err := rs.receivers(r)
	if err != nil {
		return 0, err
	}
	var total btcutil.Amount
	for _, pkScript := range scripts {
		sum, _ := rs.tally(rs.payee(pkScript), receipts{minConf: r.MinConf, immature: r.IncludeImmature}, nil)
		total += sum.amount
	}
	return total, nil
}

// receivers returns the own scripts that are asked for.
func (rs *Reports) receivers(r messages.GetReceived) ([][]byte, error) {
	scripts := [][]byte{r.Script}
	if r.Label != nil {
		if err := book.CheckLabel(*r.Label); err != nil {
			return nil, err
		}
		scripts = nil
		for _, e := range rs.labels.Labelled() {
			if e.Label() == *r.Label {
				scripts = append(scripts, e.Script())
			}
		}
		if len(scripts) == 0 {
			return nil, codes.Errorf(codes.Wallet, "Label not found in wallet")
		}
	}
	own := scripts[:0]
	for _, pkScript := range scripts {
		if rs.ledger.cfg.Owner.IsMine(pkScript) {
			own = append(own, pkScript)
		}
	}
	if len(own) == 0 {
		return nil, codes.Errorf(codes.Wallet, "Address not found in wallet")
	}
	return own, nil
}
