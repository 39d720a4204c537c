package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// create makes a wallet with new keys.
func (t *tool) create() error {
	if err := t.checkNamed(); err != nil {
		return err
	}
	if err := t.checkFree(); err != nil {
		return taken{err}
	}
	fmt.Fprintln(t.stdout, "Topping up keypool...")
	var seed [32]byte
	_, _ = rand.Read(seed[:]) // never fails
	secret := walletfile.NewSecret(seed[:])
	clear(seed[:])
	defer secret.Zero()
	w, err := wallet.Create(context.Background(), wallet.CreateParams{
		Params: t.params(), Seed: secret, Now: time.Now().Unix(),
	})
	if err != nil {
		return err
	}
	defer w.Close()
	err = t.make(func(b *walletdb.Batch) error {
		for _, c := range w.TakeChanges() {
			if err := b.Put(walletfile.Record{Key: c.Key, Value: c.Value}); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		t.show(w)
	}
	return err
}

// taken is a wallet in the place of the new one. Core's create says so, and ends as if all were well.
type taken struct{ error }

// checkNamed refuses to make a wallet without a name.
func (t *tool) checkNamed() error {
	if t.name == "" && !t.net.Answers.UnnamedWallets {
		return failf("Wallet name cannot be empty")
	}
	return nil
}
