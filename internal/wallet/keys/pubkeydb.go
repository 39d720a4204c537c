package keys

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/vault"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// pubKeyPool are public keys of P2MR that were imported with their places.
type pubKeyPool struct {
	places map[slhdsa.PublicKey]pubKeyPlace
	chains map[pubKeyChain]map[int64]slhdsa.PublicKey
	next   map[pubKeyChain]int64 // indices below it are not given out any more
}

// pubKeyChain is a pool: the keys of an account for receiving, or for change.
type pubKeyChain struct {
	account  int64
	internal bool
}

// pubKeyPlace is the place of a key.
type pubKeyPlace struct {
	pubKeyChain

	index int64
}

func newPubKeyPool() pubKeyPool {
	return pubKeyPool{
		places: make(map[slhdsa.PublicKey]pubKeyPlace),
		chains: make(map[pubKeyChain]map[int64]slhdsa.PublicKey),
		next:   make(map[pubKeyChain]int64),
	}
}

func (pool *pubKeyPool) add(at pubKeyPlace, key slhdsa.PublicKey) {
	pool.places[key] = at
	if pool.chains[at.pubKeyChain] == nil {
		pool.chains[at.pubKeyChain] = make(map[int64]slhdsa.PublicKey)
	}
	pool.chains[at.pubKeyChain][at.index] = key
}

// PubKeys are public keys of P2MR that were imported into a wallet without private
// keys, in pools that addresses are given out of.
type PubKeys struct {
	set      *Set
	pool     *Pool
	vault    *vault.Vault
	log      *records.Log
	flags    *records.Flags
	payments Payments
	pubKeys  pubKeyPool
}

// NewPubKeys returns the imported keys of a wallet: none.
func NewPubKeys(pool *Pool, payments Payments) *PubKeys {
	return &PubKeys{
		set: pool.set, pool: pool, vault: pool.vault, log: pool.log, flags: pool.flags,
		payments: payments, pubKeys: newPubKeyPool(),
	}
}

// Load takes over the keys of the file.
func (p *PubKeys) Load(content *walletfile.Wallet) {
	for _, e := range content.PubKeys {
		p.pubKeys.add(pubKeyPlace{pubKeyChain{e.Account, e.Internal}, e.Index}, e.Public)
	}
	for _, c := range content.PubKeyCursors {
		p.pubKeys.next[pubKeyChain{c.Account, c.Internal}] = c.Next
	}
}

// PubKeysImported is what became of an import of public keys.
type PubKeysImported struct {
	Changed int // entries that changed the wallet

	// Rescan is set when there are new descriptors, born at From: see
	// [Imported].
	Rescan bool
	From   int64
}

// CheckImport refuses to import public keys into a wallet of private ones.
//
// Errors: [*messages.WalletError].
func (p *PubKeys) CheckImport() error {
	if !p.flags.Has(walletfile.DisablePrivateKeys) {
		return codes.Errorf(codes.Wallet, "importpubkeydb requires a wallet with private keys disabled")
	}
	return nil
}

// Import adds public keys, up to the first that is refused. median is the
// median time of the tip, which stands for now.
//
// Errors: [*messages.WalletError]; what was added before stays.
func (p *PubKeys) Import(r messages.ImportPubKeys, median int64) (PubKeysImported, error) {
	if r.BadTime != nil {
		return PubKeysImported{}, r.BadTime
	}
	done := PubKeysImported{From: r.Timestamp}
	if r.Timestamp == messages.NowTimestamp {
		done.From = median
	}
	done.From = max(done.From, 1)
	for i := range r.Entries {
		added, changed, err := p.importPubKey(&r.Entries[i], done.From)
		if err != nil {
			return done, err
		}
		done.Rescan = done.Rescan || added
		if changed {
			done.Changed++
		}
	}
	if r.Refused != nil {
		return done, r.Refused
	}
	return done, nil
}

// importPubKey adds one key; added tells of a new descriptor.
func (p *PubKeys) importPubKey(item *messages.PubKeyItem, created int64) (added, changed bool, err error) {
	if item.Refused != nil {
		return false, false, item.Refused
	}
	var at *pubKeyPlace
	if item.Index != nil {
		at = &pubKeyPlace{pubKeyChain{item.Account, item.Internal}, *item.Index}
		if err := p.checkPlace(at, item); err != nil {
			return false, false, err
		}
	}
	d, err := pubKeyDescriptor(item.Key, p.set.params.Network)
	if err != nil {
		return false, false, err
	}
	if p.set.byID[walletfile.DescriptorID(d)] == nil {
		if err := p.watch(d, created, item.Internal); err != nil {
			return false, false, err
		}
		added, changed = true, true
	}
	if _, there := p.pubKeys.places[item.Key]; at != nil && !there {
		p.pubKeys.add(*at, item.Key)
		p.log.Put(walletfile.PubKeyEntry{Account: at.account, Internal: at.internal, Index: at.index, Public: item.Key})
		changed = true
	}
	return added, changed, nil
}

// checkPlace refuses a key that has another place, and a place that another key
// has.
func (p *PubKeys) checkPlace(at *pubKeyPlace, item *messages.PubKeyItem) error {
	if old, ok := p.pubKeys.places[item.Key]; ok && old != *at {
		return codes.Errorf(codes.Parameter, "Pubkey %s already mapped to account=%d internal=%d index=%d",
			item.Text, old.account, flag(old.internal), old.index)
	}
	if other, ok := p.pubKeys.chains[at.pubKeyChain][at.index]; ok && other != slhdsa.PublicKey(item.Key) {
		return codes.Errorf(codes.Parameter,
			"Pubkeydb pool account=%d internal=%d index=%d already assigned to another pubkey",
			at.account, flag(at.internal), at.index)
	}
	return nil
}

// flag prints a truth as a number.
func flag(set bool) int {
	if set {
		return 1
	}
	return 0
}

func pubKeyDescriptor(key slhdsa.PublicKey, net *descriptor.Network) (*descriptor.Descriptor, error) {
	branches, err := descriptor.Parse("mr(pk("+key.String()+"))", net, descriptor.Options{})
	if err != nil {
		return nil, err
	}
	return branches[0], nil
}

// watch adds the descriptor of one script.
func (p *PubKeys) watch(d *descriptor.Descriptor, created int64, internal bool) error {
	m := newManager(d, uint64(created))
	p.set.add(m)
	if err := p.pool.topUp(m, 0); err != nil {
		return errTopUp
	}
	if given := m.scripts[0]; given != nil && !internal {
		p.set.labels.SetLabel(given.bytes, "", book.PurposeReceive)
	}
	return nil
}

// poolOf looks at a pool: the first key that can be given out, and how many there
// are. highest is -1 if there is no pool.
func (p *PubKeys) poolOf(chain pubKeyChain) (next pubKeyPlace, found bool, highest int64, remaining int) {
	highest = -1
	keys := p.pubKeys.chains[chain]
	for _, index := range sortedKeys(keys) {
		highest = index
		if index < p.pubKeys.next[chain] || p.payments.PaysTo(pubKeyScript(keys[index])) {
			continue
		}
		if !found {
			next, found = pubKeyPlace{chain, index}, true
		}
		remaining++
	}
	return next, found, highest, remaining
}

// pubKeyScript returns the output script that a key alone spends.
func pubKeyScript(key slhdsa.PublicKey) []byte {
	return p2mr.OutputScript(p2mr.LeafHash(p2mr.ScriptVersion, p2mr.KeyScript(key)))
}

// Next takes the next key of a pool.
//
// Errors: [*messages.WalletError].
func (p *PubKeys) Next(r messages.NextPubKey) (messages.PubKeyAddress, error) {
	if r.Account < 0 {
		return messages.PubKeyAddress{}, codes.Errorf(codes.Parameter, "Account must be non-negative")
	}
	chain := pubKeyChain{r.Account, r.Internal}
	next, found, highest, remaining := p.poolOf(chain)
	switch {
	case highest < 0:
		return messages.PubKeyAddress{}, codes.Errorf(codes.Wallet,
			"No imported pubkey pool is available for account=%d internal=%d", r.Account, flag(r.Internal))
	case !found:
		p.moveCursor(chain, highest+1)
		return messages.PubKeyAddress{}, codes.Errorf(codes.Keypool,
			"Error: Imported pubkey pool exhausted for account=%d internal=%d", r.Account, flag(r.Internal))
	}
	p.moveCursor(chain, next.index+1)
	key := p.pubKeys.chains[chain][next.index]
	address, _ := descriptor.AddressOf(pubKeyScript(key), p.set.params.Network)
	return messages.PubKeyAddress{Address: address, Key: key, Index: next.index, Remaining: remaining - 1}, nil
}

// moveCursor notes up to where the keys of a pool were given out.
func (p *PubKeys) moveCursor(chain pubKeyChain, next int64) {
	if p.pubKeys.next[chain] >= next {
		return
	}
	p.pubKeys.next[chain] = next
	p.log.Put(walletfile.PubKeyCursor{Account: chain.account, Internal: chain.internal, Next: next})
}

// Pools lists the pools of imported keys.
func (p *PubKeys) Pools() []messages.PubKeyPool {
	chains := slices.SortedFunc(maps.Keys(p.pubKeys.chains), func(a, b pubKeyChain) int {
		return cmp.Or(cmp.Compare(a.account, b.account), cmp.Compare(flag(a.internal), flag(b.internal)))
	})
	pools := make([]messages.PubKeyPool, 0, len(chains))
	for _, chain := range chains {
		next, found, highest, remaining := p.poolOf(chain)
		if !found {
			next.index = highest + 1
		}
		pools = append(pools, messages.PubKeyPool{
			Account: chain.account, Internal: chain.internal, Next: next.index, Highest: highest, Remaining: remaining,
		})
	}
	return pools
}
