package keys

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/vault"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// rig is the keys of a wallet with the parts that they need, and a listener that
// counts.
type rig struct {
	log      *records.Log
	flags    *records.Flags
	vault    *vault.Vault
	book     *book.Book
	set      *Set
	pool     *Pool
	importer *Importer
	owned    [][]byte
	height   int32
}

// Tip implements [Chain].
func (r *rig) Tip() messages.Tip { return messages.Tip{Height: r.height} }

// Owned implements [Listener].
func (r *rig) Owned(pkScript []byte) { r.owned = append(r.owned, pkScript) }

// testParams are those of a wallet with a key pool of 100.
func testParams() Params {
	return Params{
		Network: descriptor.NetworkOf(&chaincfg.RegressionNetParams), Kinds: dialect.BitcoinWallet(),
		CoinType: 1, KeyPool: 100,
	}
}

// newRig makes the keys of a wallet that has none yet.
func newRig(private bool) *rig { return rigOf(testParams(), private) }

func rigOf(p Params, private bool) *rig {
	r := &rig{log: new(records.Log)}
	flags := walletfile.LastHardenedXpubCached
	if !private {
		flags |= walletfile.DisablePrivateKeys
	}
	r.flags = records.NewFlags(flags, r.log)
	r.vault = vault.New(r.log)
	r.book = book.New(p.Network, r.log)
	r.set = NewSet(p, r.flags, r.log, r.vault, r.book, r)
	r.pool = NewPool(r.set, r.flags, r)
	r.importer = NewImporter(r.pool)
	return r
}

// setUp makes the keys of a wallet with or without private keys. With them, it has
// the standard descriptors.
func setUp(tb testing.TB, private bool) *rig {
	tb.Helper()
	r := newRig(private)
	if private {
		seed := walletfile.NewSecret(bytes.Repeat([]byte{7}, 32))
		if err := r.importer.SetupWithKeys(tb.Context(), seed, 5); err != nil {
			tb.Fatal(err)
		}
	}
	r.set.ChooseDefaultTypes()
	r.set.NoteActive()
	return r
}
