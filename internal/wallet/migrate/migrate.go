// Package migrate makes descriptor wallets of a legacy wallet, as Bitcoin Core's
// migratewallet does. They are the wallet itself, a wallet for the scripts that it
// watched, and a wallet for the scripts that it could solve.
//
// The package is pure: it makes the records of the new files, and no file.
//
// Source: Bitcoin Core v30, wallet/wallet.cpp (DoMigration, ApplyMigrationData).
package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// Params say how a wallet is migrated.
type Params struct {
	wallet.Params

	Master *walletfile.Secret // of an encrypted wallet
	Seed   *walletfile.Secret // 32 random bytes, for a wallet whose keys are not from a seed
	Now    int64
}

// Files are the records of the new wallets by ascending keys; nil: there is no such
// wallet.
type Files struct {
	Main, Watched, Solvable []walletfile.Record

	// Warnings name what was left out, since it belongs to no new wallet.
	Warnings []string
}

// Errors of what cannot be migrated, in Core's words.
var (
	errDescriptors = codes.Errorf(codes.Wallet, "Error: Unable to produce descriptors for this legacy wallet. Make "+
		"sure to provide the wallet's passphrase if it is encrypted.")
	errAddressesLeft = codes.Errorf(codes.Wallet, "Error: Not all address book records were migrated")
	errTxsLeft       = codes.Errorf(codes.Wallet, "Error: Not all transaction records were migrated")
)

// Wallet makes the new wallets of a legacy wallet. It keeps no part of old.
//
// Errors: [*messages.WalletError], that of the context.
func Wallet(ctx context.Context, old *walletfile.LegacyContent, p Params) (*Files, error) {
	if !old.AnyKeys {
		main := newContent(old.Rest)
		main.put(old.Flags | walletfile.Descriptors)
		return &Files{Main: main.sorted()}, nil
	}
	plan, err := NewPlan(old, p.Network, secretsOf(old, p.Master))
	switch {
	case errors.Is(err, ErrKey):
		return nil, errDescriptors
	case err != nil:
		return nil, codes.Errorf(codes.Wallet, "%v", err)
	}
	defer plan.Wipe()
	m := &migration{params: p, old: old, plan: plan}
	defer m.close()
	if err := m.run(ctx); err != nil {
		return nil, err
	}
	return m.files(), nil
}

// secretsOf returns what finds the private keys of a wallet.
func secretsOf(
	old *walletfile.LegacyContent, master *walletfile.Secret,
) func(walletfile.KeyID) *walletfile.Secret {
	plain := make(map[walletfile.KeyID]*walletfile.Secret, len(old.Keys))
	for _, key := range old.Keys {
		plain[walletfile.KeyIDOf(key.Public)] = key.Secret
	}
	crypted := make(map[walletfile.KeyID]walletfile.LegacyCryptedKey, len(old.CryptedKeys))
	for _, key := range old.CryptedKeys {
		crypted[walletfile.KeyIDOf(key.Public)] = key
	}
	return func(id walletfile.KeyID) *walletfile.Secret {
		if secret := plain[id]; secret != nil {
			return secret.Clone()
		}
		key, ok := crypted[id]
		if !ok || master == nil {
			return nil
		}
		secret, err := key.Decrypt(master)
		if err != nil {
			return nil
		}
		return secret
	}
}

// migration is one wallet on its way.
type migration struct {
	params Params
	old    *walletfile.LegacyContent
	plan   *Plan

	main     *wallet.Wallet
	watched  *wallet.Wallet // nil: nothing is watched
	solvable *wallet.Wallet // nil: nothing is solvable

	mainFile, watchedFile, solvableFile *content

	strayTxs, strayAddresses []string // of none of the wallets
}

func (m *migration) close() {
	for _, w := range []*wallet.Wallet{m.main, m.watched, m.solvable} {
		if w != nil {
			w.Close()
		}
	}
}

func (m *migration) run(ctx context.Context) error {
	if err := m.setup(ctx); err != nil {
		return err
	}
	m.mainFile = newContent(m.old.Rest)
	m.mainFile.take(m.main)
	if !m.old.HasBestBlock { // of the first versions; the wallet is looked for from its birth on
		m.mainFile.put(walletfile.BestBlock(nil))
		m.mainFile.put(walletfile.BestBlockNoMerkle(nil))
	}
	m.watchedFile, m.solvableFile = m.emptyFile(m.watched), m.emptyFile(m.solvable)
	if m.watched != nil {
		m.watchedFile.put(walletfile.OrderPosNext(m.old.OrderPosNext))
	}
	txsLeft, addressesLeft := m.moveTxs(), m.moveAddresses()
	switch {
	case m.spendable():
		return nil
	case addressesLeft:
		return errAddressesLeft
	case txsLeft:
		return errTxsLeft
	}
	return nil
}

// spendable reports whether there is anything that the wallet itself has.
func (m *migration) spendable() bool { return len(m.plan.Main) > 0 || m.plan.Master != nil }

// setup makes the wallets with their descriptors.
func (m *migration) setup(ctx context.Context) (err error) {
	flags := m.old.Flags | walletfile.Descriptors
	m.main, err = wallet.Migrated(m.params.Params, flags, m.old.MasterKeys, m.params.Master)
	if err != nil {
		return errDescriptors
	}
	for _, d := range m.plan.Main {
		if err := m.main.Importer().AddMigrated(keys.Migrated(d)); err != nil { //nolint:contextcheck // takes moments
			return err
		}
	}
	if m.watched, err = m.watching(ctx, m.plan.Watched); err != nil {
		return err
	}
	if m.solvable, err = m.watching(ctx, m.plan.Solvable); err != nil {
		return err
	}
	if !m.spendable() || m.old.Flags.Has(walletfile.DisablePrivateKeys) {
		return nil
	}
	if master := m.plan.Master; master != nil {
		secret := walletfile.NewSecret(master.Scalar[:])
		defer secret.Zero()
		err = m.main.Importer().SetupFrom(master.Public, secret, m.params.Now) //nolint:contextcheck // takes a moment
	} else {
		err = m.main.Importer().SetupWithKeys(ctx, m.params.Seed, m.params.Now)
	}
	if err != nil {
		return codes.Errorf(codes.Wallet, "%v", err)
	}
	return nil
}

// watching makes a wallet without private keys of descriptors. It is nil for none.
func (m *migration) watching(ctx context.Context, descriptors []Descriptor) (*wallet.Wallet, error) {
	if len(descriptors) == 0 {
		return nil, nil
	}
	w, err := wallet.Create(ctx, wallet.CreateParams{
		Params: m.params.Params, DisablePrivateKeys: true, Blank: true,
		AvoidReuse: m.old.Flags.Has(walletfile.AvoidReuse), Now: m.params.Now,
	})
	if err != nil {
		return nil, err
	}
	if m.old.Flags.Has(walletfile.KeyOriginMetadata) {
		w.AddFlags(walletfile.KeyOriginMetadata)
	}
	for _, d := range descriptors {
		if err := w.Importer().AddWatched(keys.Migrated(d)); err != nil { //nolint:contextcheck // one script
			return nil, err
		}
	}
	return w, nil
}

// emptyFile is the file of a wallet that was made, without transactions.
func (m *migration) emptyFile(w *wallet.Wallet) *content {
	if w == nil {
		return nil
	}
	c := newContent(nil)
	c.take(w)
	c.put(walletfile.BestBlock(nil))
	c.put(walletfile.BestBlockNoMerkle(m.old.BestBlock))
	return c
}

// files returns the records of the wallets. A wallet in which nothing is left is none.
func (m *migration) files() *Files {
	f := &Files{Watched: m.watchedFile.sorted(), Solvable: m.solvableFile.sorted()}
	f.warn("transactions", m.strayTxs)
	f.warn("addresses for receiving", m.strayAddresses)
	if m.main.Keys().Len() > 0 {
		f.Main = m.mainFile.sorted()
	}
	return f
}

const (
	// maxNamed bounds what a warning names.
	maxNamed = 10

	leftOut = "Left out since they belong to none of the migrated wallets: "
)

// warn adds a warning with the names of left out entries.
func (f *Files) warn(what string, names []string) {
	if len(names) == 0 {
		return
	}
	list := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	f.Warnings = append(f.Warnings, leftOut+what+" "+list)
}

// content is the records of a file by their keys.
type content struct{ records map[string][]byte }

func newContent(records []walletfile.Record) *content {
	c := &content{make(map[string][]byte, len(records))}
	for _, r := range records {
		c.records[string(r.Key)] = r.Value
	}
	return c
}

// put writes a record.
func (c *content) put(e walletfile.Entry) { c.records[string(e.Key())] = e.Value() }

// take writes what is new in a wallet.
func (c *content) take(w *wallet.Wallet) {
	for _, change := range w.TakeChanges() {
		if change.Delete {
			delete(c.records, string(change.Key))
		} else {
			c.records[string(change.Key)] = change.Value
		}
	}
}

func (c *content) sorted() []walletfile.Record {
	if c == nil {
		return nil
	}
	records := make([]walletfile.Record, 0, len(c.records))
	for _, key := range slices.Sorted(maps.Keys(c.records)) {
		records = append(records, walletfile.Record{Key: []byte(key), Value: c.records[key]})
	}
	return records
}
