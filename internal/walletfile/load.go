package walletfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/cores"
)

// LoadOptions says what kind of wallets to load.
type LoadOptions struct {
	// Network says what descriptors look like.
	Network *descriptor.Network

	// MerkleRoots is set where there may be active descriptors for P2MR.
	MerkleRoots bool

	// Mixed is set where a descriptor may have private keys both in the clear and encrypted: the former count.
	Mixed bool
}

// legacyTypes are the record types of legacy wallets that must not be in a
// descriptor wallet.
var legacyTypes = []string{
	"ckey", "cscript", "defaultkey", "hdchain", "keymeta", "key", "wkey", "pool", "watchmeta", "watchs",
}

// Load puts the records of a wallet together, in the order and with the checks
// of Core's loader. The order in which the records come does not matter. They
// are kept while loading; memory grows with their size.
//
// With a severity up to [NonCritical] the error is nil and the wallet usable.
// Above it the wallet is nil and the error says which record is at fault.
// Records that Core would only die of, such as missing flags, are corruption.
// Load leaves to the caller what Core mends after a clean load: version, order
// of transactions, last hardened keys, master keys without use.
//
// Errors: ErrTooNew, ErrUnknownDescriptor, ErrUnexpectedLegacy, ErrLegacyWallet,
// ErrCorrupt, the cause of ctx once that has ended.
func Load(ctx context.Context, records iter.Seq[Record], opts LoadOptions) (*Wallet, Severity, error) {
	l := newLoader(ctx, opts)
	l.collect(records)
	l.load()
	if ctx.Err() != nil {
		l.wallet.Zero()
		return nil, LoadFail, context.Cause(ctx)
	}
	if reason := severityErrors[l.severity]; reason != nil {
		l.wallet.Zero()
		return nil, l.severity, fmt.Errorf("%w: %w", reason, l.cause)
	}
	return l.wallet, l.severity, nil
}

// loader holds the state of one load.
type loader struct {
	ctx      context.Context //nolint:containedctx // of the load
	opts     LoadOptions
	records  map[string][]Record // by type, in ascending order of keys
	wallet   *Wallet
	severity Severity
	cause    error // of the severity
}

func newLoader(ctx context.Context, opts LoadOptions) *loader {
	return &loader{ctx: ctx, opts: opts, records: make(map[string][]Record), wallet: &Wallet{
		Active: make(map[Slot]chainhash.Hash), Addresses: make(map[string]*Address),
		MasterKeys: make(map[uint32]MasterKey),
	}}
}

// found notes a finding; the worst counts.
func (l *loader) found(severity Severity, cause error) {
	if severity > l.severity {
		l.severity, l.cause = severity, cause
	}
}

func (l *loader) collect(records iter.Seq[Record]) {
	for r := range records {
		if name, ok := r.Type(); ok {
			l.records[name] = append(l.records[name], r)
		}
	}
	for _, same := range l.records {
		slices.SortFunc(same, func(a, b Record) int { return bytes.Compare(a.Key, b.Key) })
	}
}

func (l *loader) load() {
	if version, ok := single[Version](l, "version"); ok {
		l.wallet.Version = &version
	}
	if !l.loadFlags() {
		return
	}
	for _, name := range legacyTypes {
		if len(l.records[name]) > 0 {
			l.found(UnexpectedLegacy, fmt.Errorf("record of type %s", name))
		}
	}
	l.loadDescriptors()
	if l.severity == UnknownDescriptor {
		return // later records may name what was not read
	}
	each(l, annotationsType, OK, func(a Annotations) {
		if d := l.wallet.Descriptor(a.ID); d != nil {
			d.Annotations = a.Annotations
		}
	})
	l.loadAddresses()
	l.loadActive()
	l.loadMasterKeys()
	l.loadTxs()
	l.loadBestBlock()
	l.loadPubKeys()
}

// loadFlags reports whether to go on.
func (l *loader) loadFlags() bool {
	flags, ok := single[Flags](l, "flags")
	switch {
	case !ok:
		l.found(Corrupt, errors.New("flags are missing"))
	case !flags.Tolerable():
		l.found(TooNew, fmt.Errorf("flags %v", flags.Names()))
	case !flags.Has(Descriptors):
		l.found(LegacyWallet, fmt.Errorf("flags %v", flags.Names()))
	}
	l.wallet.Flags = flags
	return l.severity == OK
}

// single returns the record whose key is the type alone. It reports false if
// the record is missing or cannot be read.
func single[E Entry](l *loader, name string) (E, bool) {
	for _, r := range l.records[name] {
		if bytes.Equal(r.Key, KeyPrefix(name)) {
			entry, err := Parse(r)
			if err == nil {
				e, ok := entry.(E)
				return e, ok
			}
		}
	}
	var none E
	return none, false
}

// each calls visit with the records of a type. A record that cannot be read has
// the given severity.
func each[E Entry](l *loader, name string, unreadable Severity, visit func(E)) {
	for _, p := range parseAll(l.ctx, l.records[name]) {
		if p.err != nil {
			l.found(unreadable, p.err)
			continue
		}
		if e, ok := p.entry.(E); ok {
			visit(e)
		}
	}
}

// parsed is what Parse says of a record.
type parsed struct {
	entry Entry
	err   error
}

// parseAll parses records on all processors, where that pays. Once ctx has ended nobody looks at
// what it returns.
func parseAll(ctx context.Context, records []Record) []parsed {
	const share = 1_000 // records that a core takes at a time
	all := make([]parsed, len(records))
	_ = cores.DoIn(ctx, nil, len(records), share, func(from, to int) error {
		for i := from; i < to; i++ {
			all[i].entry, all[i].err = Parse(records[i])
		}
		return nil
	})
	return all
}

func (l *loader) loadActive() {
	for _, name := range []string{"activeexternalspk", "activeinternalspk"} {
		each(l, name, Corrupt, func(a Active) {
			_, duplicate := l.wallet.Active[a.Slot]
			switch {
			case duplicate:
				l.found(Corrupt, fmt.Errorf("two active descriptors of type %d", a.Type))
			case a.Type > MerkleRoot || a.Type == MerkleRoot && !l.opts.MerkleRoots:
				l.found(Corrupt, fmt.Errorf("active descriptor of unknown type %d", a.Type))
			case l.wallet.Descriptor(a.ID) == nil:
				l.found(Corrupt, fmt.Errorf("active descriptor %v is missing", a.ID))
			}
			l.wallet.Active[a.Slot] = a.ID
		})
	}
	l.settleActive()
}

// settleActive takes descriptors that are active for both uses as internal.
func (l *loader) settleActive() {
	for slot, id := range l.wallet.Active {
		internal := Slot{Type: slot.Type, Internal: true}
		if other, ok := l.wallet.Active[internal]; ok && !slot.Internal && other == id {
			delete(l.wallet.Active, slot)
		}
	}
}

func (l *loader) loadMasterKeys() {
	each(l, "mkey", Corrupt, func(m MasterKey) {
		if _, duplicate := l.wallet.MasterKeys[m.ID]; duplicate {
			l.found(Corrupt, fmt.Errorf("two master keys with id %d", m.ID))
		}
		l.wallet.MasterKeys[m.ID] = m
	})
}

func (l *loader) loadTxs() {
	var last *Tx
	notes := make(map[chainhash.Hash]TxNotes)
	each(l, txNotesType, OK, func(n TxNotes) { notes[n.ID] = n })
	each(l, "tx", Corrupt, func(t *Tx) {
		if last != nil && last.ID == t.ID {
			l.found(Corrupt, fmt.Errorf("two transactions with id %v", t.ID))
		}
		last = t
		if t.Tx.TxHash() != t.ID {
			l.found(NeedRescan, fmt.Errorf("transaction filed as %v is another", t.ID))
			l.wallet.WrongIDs++
			return
		}
		if t.State.Kind() == Inactive && consensus.IsCoinbase(t.Tx) {
			t.State = AbandonedState() // its block is gone for good
		}
		t.addNotes(notes[t.ID])
		l.wallet.Txs = append(l.wallet.Txs, t)
	})
	each(l, "lockedutxo", Corrupt, func(o LockedOutput) {
		l.wallet.Locked = append(l.wallet.Locked, wire.OutPoint(o))
	})
	each(l, "orderposnext", NonCritical, func(n OrderPosNext) { l.wallet.OrderPosNext = int64(n) })
}

// loadBestBlock takes a locator that cannot be read for none.
func (l *loader) loadBestBlock() {
	merkle, _ := single[BestBlock](l, "bestblock")
	plain, _ := single[BestBlockNoMerkle](l, "bestblock_nomerkle")
	l.wallet.BestBlock = Locator(merkle)
	if len(merkle) == 0 {
		l.wallet.BestBlock = Locator(plain)
	}
}

func (l *loader) loadPubKeys() {
	each(l, "pubkeydbentry", OK, func(e PubKeyEntry) { l.wallet.PubKeys = append(l.wallet.PubKeys, e) })
	each(l, "pubkeydbcursor", OK, func(c PubKeyCursor) { l.wallet.PubKeyCursors = append(l.wallet.PubKeyCursors, c) })
	slices.SortFunc(l.wallet.PubKeys, func(a, b PubKeyEntry) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Index, b.Index))
	})
}
