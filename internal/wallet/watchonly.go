package wallet

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// WatchOnly returns the records, by ascending keys, of a wallet that watches what another has, without any private key:
// for a node that is online while the keys are not. It has the same flags, descriptors, transactions, persistent locks,
// address book and last block. Content must have been loaded, and is not changed.
//
// Descriptors are as listdescriptors shows them. A descriptor with keys behind hardened steps has the scripts that the
// other wallet has derived.
//
// Errors: [*messages.WalletError].
func WatchOnly(content *walletfile.Wallet, p Params) ([]walletfile.Record, error) {
	if len(content.Descriptors) == 0 {
		return nil, codes.Errorf(codes.Wallet, "Error: Wallet has no descriptors to export")
	}
	w := newWallet(p, 0)
	w.log.Put(p.Version)
	w.flags.Set(content.Flags | walletfile.DisablePrivateKeys | walletfile.LastHardenedXpubCached)
	for _, d := range content.Descriptors {
		added, err := w.importer.AddPublic(d)
		if err != nil {
			return nil, err
		}
		for slot, id := range content.Active {
			if id == d.ID {
				added.Activate(slot)
			}
		}
	}
	for _, at := range content.Locked {
		w.log.Put(walletfile.LockedOutput(at))
	}
	w.log.Put(walletfile.OrderPosNext(content.OrderPosNext))
	w.log.Put(walletfile.BestBlock(nil))
	w.log.Put(walletfile.BestBlockNoMerkle(content.BestBlock))
	for _, tx := range content.Txs {
		w.log.Put(tx)
	}
	for address, noted := range content.Addresses {
		copyAddress(w, address, noted)
	}
	return sortedRecords(w), nil
}

// copyAddress writes what the address book of another wallet notes of an address.
func copyAddress(w *Wallet, address string, noted *walletfile.Address) {
	if book.IsPurpose(noted.Purpose) {
		w.log.Put(walletfile.Purpose{Address: address, Purpose: noted.Purpose})
	}
	if noted.Label != nil {
		w.log.Put(walletfile.Name{Address: address, Label: *noted.Label})
	}
	for name, text := range noted.Data {
		switch {
		case name == walletfile.UsedName:
			w.log.Put(walletfile.DestData{Address: address, Name: name, Text: "1"})
		case strings.HasPrefix(name, walletfile.RequestPrefix):
			w.log.Put(walletfile.DestData{Address: address, Name: name, Text: text})
		}
	}
}

// sortedRecords returns all that is to be written into the file of a new wallet.
func sortedRecords(w *Wallet) []walletfile.Record {
	all := make(map[string][]byte)
	for _, change := range w.TakeChanges() {
		if !change.Delete {
			all[string(change.Key)] = change.Value
		}
	}
	records := make([]walletfile.Record, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		records = append(records, walletfile.Record{Key: []byte(key), Value: all[key]})
	}
	return records
}
