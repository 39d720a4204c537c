package keys

import (
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/vault"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// Pool derives the scripts of a [Set] ahead of their use.
type Pool struct {
	set   *Set
	log   *records.Log
	vault *vault.Vault
	flags *records.Flags
	chain Chain
	gap   *Gap

	pendingKeys    map[chainhash.Hash][]*Batch // for descriptors that are to come
	pendingScripts map[chainhash.Hash]*Batch   // for the request that is carried out
}

// NewPool returns the pool of a set.
func NewPool(set *Set, flags *records.Flags, chain Chain) *Pool {
	p := &Pool{
		set: set, log: set.log, vault: set.vault, flags: flags, chain: chain,
		pendingKeys:    make(map[chainhash.Hash][]*Batch),
		pendingScripts: make(map[chainhash.Hash]*Batch),
	}
	p.gap = &Gap{pool: p}
	return p
}

// Load takes over the descriptors of the file, with the scripts of their ranges.
//
// Errors: [walletfile.ErrCorrupt].
func (p *Pool) Load(content *walletfile.Wallet) error {
	for _, d := range content.Descriptors {
		p.vault.Load(d)
		m := loadedManager(d)
		m.deferred = p.isDeferred(m)
		p.set.add(m)
		if m.record.RangeStart < m.record.RangeEnd {
			if err := p.derive(m, m.record.RangeStart, m.record.RangeEnd-1); err != nil {
				return fmt.Errorf("%w: descriptor %v: %w", walletfile.ErrCorrupt, m.id(), err)
			}
		}
		m.lastDerived = max(m.record.RangeStart, m.record.RangeEnd) - 1
	}
	for slot, id := range content.Active {
		if m := p.set.byID[id]; m != nil {
			p.set.active[slot] = m
		}
	}
	return nil
}

// TopUp tops up all active descriptors of a wallet that was loaded: as far as that
// goes, if it is locked.
func (p *Pool) TopUp() {
	for _, m := range p.set.activeManagers() {
		_ = p.topUp(m, 0)
	}
}

// CompleteCaches adds the last hardened keys to the caches of wallets of old
// versions, once the wallet is unlocked.
func (p *Pool) CompleteCaches() {
	if p.vault.Locked() || p.flags.Has(walletfile.LastHardenedXpubCached) {
		return
	}
	for _, m := range p.set.managers {
		if m.cache.lastHardened == 0 {
			_ = p.fillCache(m, 0, 0)
		}
	}
	p.flags.Set(p.flags.Value() | walletfile.LastHardenedXpubCached)
}
