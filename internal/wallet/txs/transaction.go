package txs

import (
	"bytes"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// The names of texts that are kept with transactions.
const (
	noteComment    = "comment"
	noteTo         = "to"
	noteReplaces   = "replaces_txid"
	noteReplacedBy = "replaced_by_txid"
)

// Transaction returns one transaction of the wallet.
//
// Errors: [*messages.WalletError].
func (rs *Reports) Transaction(id *chainhash.Hash) (messages.TxDetails, error) {
	t := rs.ledger.txs[*id]
	if t == nil {
		return messages.TxDetails{}, codes.Errorf(codes.AddressOrKey, "Invalid or non-wallet transaction id")
	}
	trust := newTrust(rs.ledger)
	debit := rs.debit(t)
	details := messages.TxDetails{Tx: rs.txOf(t, trust), Last: rs.ledger.at.tip, HasFee: rs.ledger.fromMe(t.record.Tx)}
	if details.HasFee {
		details.Fee = t.value() - debit
	}
	if !rs.ledger.at.immature(t) {
		details.Amount = t.credit()
	}
	for _, out := range t.outs {
		details.Change = append(details.Change, rs.change(out.to))
	}
	details.Amount -= debit + details.Fee
	details.Details = rs.entries(t, listing{trust: trust, fees: rs.ledger.cfg.FeeEntries})
	return details, nil
}

// txOf returns the report of a transaction.
func (rs *Reports) txOf(t *tx, trust *trust) messages.WalletTx {
	record := t.record
	shown := messages.WalletTx{
		TxID:             record.ID,
		WTxID:            t.witnessHash(),
		Raw:              serialized(record.Tx),
		Confirmations:    rs.ledger.at.depth(t),
		Coinbase:         t.coinbase(),
		Time:             t.time(),
		TimeReceived:     int64(record.TimeReceived),
		Conflicts:        rs.ledger.spends.conflictsOf(t),
		MempoolConflicts: sortedHashes(t.conflicts),
		Replaceable:      rs.replaceable(t),
		Comment:          record.Values[noteComment],
		To:               record.Values[noteTo],
		Values:           record.Values,
		Replaces:         hashNote(record.Values[noteReplaces]),
		ReplacedBy:       hashNote(record.Values[noteReplacedBy]),
		Abandoned:        t.state.kind == abandoned,
	}
	if t.state.kind == confirmed {
		shown.BlockHash, shown.BlockHeight = t.state.block.Hash, t.state.block.Height
		shown.BlockIndex, shown.BlockTime = int(t.state.index), t.state.block.Time
	} else {
		shown.Trusted = trust.trusted(t)
	}
	return shown
}

func serialized(t *wire.MsgTx) []byte {
	raw := bytes.NewBuffer(make([]byte, 0, t.SerializeSize()))
	_ = t.Serialize(raw) // a buffer does not fail
	return raw.Bytes()
}

func hashNote(text string) *chainhash.Hash {
	h, err := chainhash.NewHashFromStr(text)
	if text == "" || err != nil {
		return nil
	}
	return h
}

// maxReplaceable is the highest sequence number of an input that asks for the
// transaction to be replaceable (BIP125).
const maxReplaceable = wire.MaxTxInSequenceNum - 2

// replaceable returns whether a transaction can be replaced: yes, no, or
// unknown. Of its ancestors only those of the wallet are looked at.
func (rs *Reports) replaceable(t *tx) string {
	switch {
	case rs.ledger.at.depth(t) > 0:
		return "no"
	case rs.signals(t, make(map[*tx]bool)):
		return "yes"
	case t.state.kind == inMempool:
		return "no"
	}
	return "unknown"
}

// signals reports whether a transaction, or one in the mempool that it descends
// from, asks to be replaceable.
func (rs *Reports) signals(t *tx, seen map[*tx]bool) bool {
	seen[t] = true
	for _, in := range t.record.Tx.TxIn {
		if in.Sequence <= maxReplaceable {
			return true
		}
	}
	if t.state.kind != inMempool {
		return false
	}
	for _, in := range t.record.Tx.TxIn {
		parent := rs.ledger.txs[in.PreviousOutPoint.Hash]
		if parent != nil && parent.state.kind == inMempool && !seen[parent] && rs.signals(parent, seen) {
			return true
		}
	}
	return false
}
