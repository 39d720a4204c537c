package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
	"github.com/seed61375155/trawl/store/walletdir"
)

// unreadable is why a wallet cannot be read, which Core prints without ending the line.
type unreadable struct{ error }

// info shows what kind of wallet it is. Its file is not changed.
func (t *tool) info() error {
	db, err := walletdb.OpenDir(t.dir, t.fileOptions())
	if err != nil {
		return err
	}
	defer db.Close()
	records, err := db.Records()
	if err != nil {
		return failf("Error loading %s. Is wallet being used by another process?", t.name)
	}
	params := t.params()
	content, severity, err := walletfile.Load(context.Background(), slices.Values(records), params.LoadOptions())
	if err != nil {
		return t.unreadable(severity)
	}
	defer content.Zero()
	fmt.Fprint(t.stderr, severity.Message(walletdir.File(t.dir), t.client))
	w, err := wallet.Read(content, severity == walletfile.OK, params, txs.NoChain{})
	if err != nil {
		return t.unreadable(walletfile.Corrupt)
	}
	defer w.Close()
	t.show(w)
	return nil
}

func (t *tool) unreadable(severity walletfile.Severity) error {
	return unreadable{message(severity.Message(walletdir.File(t.dir), t.client))}
}

// show prints what kind of wallet it is.
func (t *tool) show(w *wallet.Wallet) {
	receiving, change := w.Keys().PoolSizes()
	fmt.Fprint(t.stdout, "Wallet info\n===========\n")
	for _, line := range []struct {
		name  string
		value any
	}{
		{"Name", t.name}, {"Format", "sqlite"}, {"Descriptors", "yes"}, {"Encrypted", yes(w.Vault().Encrypted())},
		{"HD (hd seed available)", yes(w.Keys().DerivesAll())}, {"Keypool Size", receiving + change},
		{"Transactions", w.Txs().Count()}, {"Address Book", w.Book().Len()},
	} {
		fmt.Fprintf(t.stdout, "%s: %v\n", line.name, line.value)
	}
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
