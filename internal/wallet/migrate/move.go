package migrate

import (
	"maps"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// outputs are the outputs among the transactions that pay to a wallet.
type outputs map[wire.OutPoint]bool

// outputsOf finds the outputs that pay to a wallet, which may be nil.
func (m *migration) outputsOf(w *wallet.Wallet) outputs {
	own := make(outputs)
	if w == nil {
		return own
	}
	for _, tx := range m.old.Txs {
		for i, out := range tx.Tx.TxOut {
			if w.Keys().IsMine(out.PkScript) {
				own[wire.OutPoint{Hash: tx.ID, Index: uint32(i)}] = true
			}
		}
	}
	return own
}

// concerns reports whether a transaction pays to the wallet with these outputs, or
// spends such an output.
func (o outputs) concerns(tx *walletfile.Tx) bool {
	for i := range tx.Tx.TxOut {
		if o[wire.OutPoint{Hash: tx.ID, Index: uint32(i)}] {
			return true
		}
	}
	return slices.ContainsFunc(tx.Tx.TxIn, func(in *wire.TxIn) bool { return o[in.PreviousOutPoint] })
}

// moveTxs hands the transactions to the wallet that watches, and reports whether any
// stay in the old one. Transactions of both wallets are in both, transactions of
// neither in neither.
func (m *migration) moveTxs() (left bool) {
	own, watched := m.outputsOf(m.main), m.outputsOf(m.watched)
	for _, tx := range m.old.Txs {
		mine := own.concerns(tx)
		switch {
		case watched.concerns(tx):
			m.watchedFile.put(tx)
			if !mine {
				delete(m.mainFile.records, string(tx.Key()))
			}
		case !mine:
			m.strayTxs = append(m.strayTxs, tx.ID.String())
			delete(m.mainFile.records, string(tx.Key()))
		}
		left = left || mine
	}
	return left
}

// moveAddresses hands the address book over, and reports whether any of it stays in the
// old wallet. Addresses for receiving that are not its own any more go to the wallet
// whose they are, or nowhere; all others are noted in each.
func (m *migration) moveAddresses() (left bool) {
	vain := make(map[book.Destination]bool)
	for _, script := range m.plan.NotMine {
		if d := book.DestinationOf(m.params.Network, script); d != "" {
			vain[d] = true
		}
	}
	for _, text := range slices.Sorted(maps.Keys(m.old.Addresses)) {
		entry := m.old.Addresses[text]
		script, err := descriptor.ScriptOfAddress(text, m.params.Network)
		known := err == nil
		if entry.Purpose != book.PurposeReceive || known && m.main.Keys().IsMine(script) {
			copyAddress(m.watchedFile, text, entry)
			copyAddress(m.solvableFile, text, entry)
			left = true
			continue
		}
		switch {
		case known && m.watched != nil && m.watched.Keys().IsMine(script):
			copyAddress(m.watchedFile, text, entry)
		case known && m.solvable != nil && m.solvable.Keys().IsMine(script):
			copyAddress(m.solvableFile, text, entry)
		case known && vain[book.DestinationOf(m.params.Network, script)]:
		default:
			m.strayAddresses = append(m.strayAddresses, text)
		}
		removeAddress(m.mainFile, text, entry)
	}
	return left
}

// copyAddress writes what is noted of an address into a file, which may be nil.
func copyAddress(c *content, address string, entry *walletfile.Address) {
	if c == nil {
		return
	}
	if entry.Purpose != "" {
		c.put(walletfile.Purpose{Address: address, Purpose: entry.Purpose})
	}
	if entry.Label != nil {
		c.put(walletfile.Name{Address: address, Label: *entry.Label})
	}
	for name, text := range entry.Data {
		c.put(walletfile.DestData{Address: address, Name: name, Text: text})
	}
}

func removeAddress(c *content, address string, entry *walletfile.Address) {
	delete(c.records, string(walletfile.Purpose{Address: address}.Key()))
	delete(c.records, string(walletfile.Name{Address: address}.Key()))
	for name := range entry.Data {
		delete(c.records, string(walletfile.DestData{Address: address, Name: name}.Key()))
	}
}
