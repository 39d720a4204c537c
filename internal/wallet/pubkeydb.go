package wallet

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
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

func (p *pubKeyPool) add(at pubKeyPlace, key slhdsa.PublicKey) {
	p.places[key] = at
	if p.chains[at.pubKeyChain] == nil {
		p.chains[at.pubKeyChain] = make(map[int64]slhdsa.PublicKey)
	}
	p.chains[at.pubKeyChain][at.index] = key
}

// loadPubKeys takes over the keys of the file.
func (w *Wallet) loadPubKeys(content *walletfile.Wallet) {
	for _, e := range content.PubKeys {
		w.pubKeys.add(pubKeyPlace{pubKeyChain{e.Account, e.Internal}, e.Index}, e.Public)
	}
	for _, c := range content.PubKeyCursors {
		w.pubKeys.next[pubKeyChain{c.Account, c.Internal}] = c.Next
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

// CheckPubKeyImport refuses to import public keys into a wallet of private ones.
//
// Errors: [*messages.WalletError].
func (w *Wallet) CheckPubKeyImport() error {
	if !w.flags.Has(walletfile.DisablePrivateKeys) {
		return codes.Errorf(codes.Wallet, "importpubkeydb requires a wallet with private keys disabled")
	}
	return nil
}

// ImportPubKeys adds public keys, up to the first that is refused. median is the
// median time of the tip, which stands for now.
//
// Errors: [*messages.WalletError]; what was added before stays.
func (w *Wallet) ImportPubKeys(r messages.ImportPubKeys, median int64) (PubKeysImported, error) {
	if r.BadTime != nil {
		return PubKeysImported{}, r.BadTime
	}
	done := PubKeysImported{From: r.Timestamp}
	if r.Timestamp == messages.NowTimestamp {
		done.From = median
	}
	done.From = max(done.From, 1)
	for i := range r.Entries {
		added, changed, err := w.importPubKey(&r.Entries[i], done.From)
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
func (w *Wallet) importPubKey(item *messages.PubKeyItem, created int64) (added, changed bool, err error) {
	if item.Refused != nil {
		return false, false, item.Refused
	}
	var at *pubKeyPlace
	if item.Index != nil {
		at = &pubKeyPlace{pubKeyChain{item.Account, item.Internal}, *item.Index}
		if err := w.checkPlace(at, item); err != nil {
			return false, false, err
		}
	}
	d, err := pubKeyDescriptor(item.Key, w.params.Network)
	if err != nil {
		return false, false, err
	}
	if w.byID[walletfile.DescriptorID(d)] == nil {
		if err := w.watch(d, created, item.Internal); err != nil {
			return false, false, err
		}
		added, changed = true, true
	}
	if _, there := w.pubKeys.places[item.Key]; at != nil && !there {
		w.pubKeys.add(*at, item.Key)
		w.log.Put(walletfile.PubKeyEntry{Account: at.account, Internal: at.internal, Index: at.index, Public: item.Key})
		changed = true
	}
	return added, changed, nil
}

// checkPlace refuses a key that has another place, and a place that another key
// has.
func (w *Wallet) checkPlace(at *pubKeyPlace, item *messages.PubKeyItem) error {
	if old, ok := w.pubKeys.places[item.Key]; ok && old != *at {
		return codes.Errorf(codes.Parameter, "Pubkey %s already mapped to account=%d internal=%d index=%d",
			item.Text, old.account, flag(old.internal), old.index)
	}
	if other, ok := w.pubKeys.chains[at.pubKeyChain][at.index]; ok && other != slhdsa.PublicKey(item.Key) {
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
func (w *Wallet) watch(d *descriptor.Descriptor, created int64, internal bool) error {
	s := newSource(d, uint64(created))
	w.addSource(s)
	if err := w.topUp(s, 0); err != nil {
		return errTopUp
	}
	if given := s.scripts[0]; given != nil && !internal {
		w.book.SetLabel(given.bytes, "", book.PurposeReceive)
	}
	return nil
}

// poolOf looks at a pool: the first key that can be given out, and how many there
// are. highest is -1 if there is no pool.
func (w *Wallet) poolOf(chain pubKeyChain) (next pubKeyPlace, found bool, highest int64, remaining int) {
	highest = -1
	keys := w.pubKeys.chains[chain]
	for _, index := range sortedKeys(keys) {
		highest = index
		if index < w.pubKeys.next[chain] || w.paid(keys[index]) {
			continue
		}
		if !found {
			next, found = pubKeyPlace{chain, index}, true
		}
		remaining++
	}
	return next, found, highest, remaining
}

// paid reports whether a transaction of the wallet pays to the address of a key.
func (w *Wallet) paid(key slhdsa.PublicKey) bool {
	s := w.scripts[string(pubKeyScript(key))]
	return s != nil && len(s.outs) > 0
}

// pubKeyScript returns the output script that a key alone spends.
func pubKeyScript(key slhdsa.PublicKey) []byte {
	return p2mr.OutputScript(p2mr.LeafHash(p2mr.ScriptVersion, p2mr.KeyScript(key)))
}

// NextPubKey takes the next key of a pool.
//
// Errors: [*messages.WalletError].
func (w *Wallet) NextPubKey(r messages.NextPubKey) (messages.PubKeyAddress, error) {
	if r.Account < 0 {
		return messages.PubKeyAddress{}, codes.Errorf(codes.Parameter, "Account must be non-negative")
	}
	chain := pubKeyChain{r.Account, r.Internal}
	next, found, highest, remaining := w.poolOf(chain)
	switch {
	case highest < 0:
		return messages.PubKeyAddress{}, codes.Errorf(codes.Wallet,
			"No imported pubkey pool is available for account=%d internal=%d", r.Account, flag(r.Internal))
	case !found:
		w.moveCursor(chain, highest+1)
		return messages.PubKeyAddress{}, codes.Errorf(codes.Keypool,
			"Error: Imported pubkey pool exhausted for account=%d internal=%d", r.Account, flag(r.Internal))
	}
	w.moveCursor(chain, next.index+1)
	key := w.pubKeys.chains[chain][next.index]
	address, _ := descriptor.AddressOf(pubKeyScript(key), w.params.Network)
	return messages.PubKeyAddress{Address: address, Key: key, Index: next.index, Remaining: remaining - 1}, nil
}

// moveCursor notes up to where the keys of a pool were given out.
func (w *Wallet) moveCursor(chain pubKeyChain, next int64) {
	if w.pubKeys.next[chain] >= next {
		return
	}
	w.pubKeys.next[chain] = next
	w.log.Put(walletfile.PubKeyCursor{Account: chain.account, Internal: chain.internal, Next: next})
}

// PubKeyPools lists the pools of imported keys.
func (w *Wallet) PubKeyPools() []messages.PubKeyPool {
	chains := slices.SortedFunc(maps.Keys(w.pubKeys.chains), func(a, b pubKeyChain) int {
		return cmp.Or(cmp.Compare(a.account, b.account), cmp.Compare(flag(a.internal), flag(b.internal)))
	})
	pools := make([]messages.PubKeyPool, 0, len(chains))
	for _, chain := range chains {
		next, found, highest, remaining := w.poolOf(chain)
		if !found {
			next.index = highest + 1
		}
		pools = append(pools, messages.PubKeyPool{
			Account: chain.account, Internal: chain.internal, Next: next.index, Highest: highest, Remaining: remaining,
		})
	}
	return pools
}
