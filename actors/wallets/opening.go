package wallets

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// seedSize is the size of the seed of a wallet's keys, in bytes.
const seedSize = 32

// opened is a wallet whose file is open and whose records are in memory.
type opened struct {
	file      *walletdb.DB
	ledger    *wallet.Wallet
	warnings  []string
	catchUp   rescan.CatchUp
	unwritten []records.Change // that could not be written now
}

// reopen makes a ledger of the file that an earlier instance kept open because
// it could not be written. If there is no such file, or it cannot be loaded,
// reopen opens the wallet's file.
//
// Errors: *messages.WalletError.
func (h *home) reopen(ctx context.Context) (*opened, error) {
	file := h.fault.take()
	if file == nil {
		return h.open(ctx)
	}
	o, err := h.load(ctx, file)
	if err != nil {
		h.cfg.Log.Warn("wallet file is opened again", "wallet", h.label(), "err", err)
		if err := file.Close(); err != nil {
			h.cfg.Log.Warn("wallet not closed cleanly", "wallet", h.label(), "err", err)
		}
		return h.open(ctx)
	}
	return o, nil
}

// open opens the wallet's file and returns its ledger. It runs in a worker.
//
// Errors: *messages.WalletError.
func (h *home) open(ctx context.Context) (*opened, error) {
	h.step("Loading wallet…", 0)
	began := time.Now()
	if err := h.checkPath(false); err != nil {
		return nil, err
	}
	file, err := walletdb.OpenDir(h.dir, h.cfg.fileOptions()) //nolint:contextcheck // files know no contexts
	if err != nil {
		return nil, refusedFile(err)
	}
	kept := false
	defer func() { // also if this panics: the next instance opens the file again
		if !kept {
			_ = file.Close()
		}
	}()
	o, err := h.load(ctx, file)
	if err != nil {
		return nil, err
	}
	kept = true
	h.logCompleted(began)
	return o, nil
}

// load makes a ledger of an open file.
func (h *home) load(ctx context.Context, file *walletdb.DB) (*opened, error) {
	records, err := file.Records()
	if err != nil {
		return nil, refusedFile(err)
	}
	net := h.cfg.params(h.name)
	options := net.LoadOptions()
	content, severity, err := walletfile.Load(context.WithoutCancel(ctx), slices.Values(records), options)
	if err != nil {
		h.cfg.Log.Warn("wallet refused", "wallet", h.name, "err", err)
		return nil, h.refusedRecords(severity)
	}
	reader := h.cfg.Chain.Open()
	if reader == nil {
		content.Zero()
		return nil, codes.Unexpected(chainview.ErrNotReady)
	}
	chain := rescan.ActiveChain{Reader: reader, Active: reader.Active()}
	if l := content.BestBlock; !h.cfg.AnyChain && len(l) > 0 && l[len(l)-1] != chain.Active.At(0).Hash {
		content.Zero()
		return nil, otherChain(h.cfg.Network.Software.Daemon)
	}
	if content.Version != nil {
		h.logf("Last client version = %d", *content.Version)
	}
	h.logContent(content)
	o := &opened{file: file, warnings: h.warnings(content, severity)}
	encrypted, active := len(content.MasterKeys) > 0, content.Active
	o.ledger, err = wallet.Open(content, severity == walletfile.OK, net, chain) //nolint:contextcheck // as above
	if err != nil {
		content.Zero()
		h.cfg.Log.Warn("wallet refused", "wallet", h.name, "err", err)
		return nil, h.refusedRecords(walletfile.Corrupt)
	}
	h.logSkipped(o.ledger.Book().Skipped())
	h.logLoadedActive(active)
	if encrypted && !o.ledger.Vault().Encrypted() {
		h.logf("Detected extraneous encryption keys in this wallet without private keys. " +
			"Removing extraneous encryption keys.")
	}
	if err := h.prepare(ctx, o, chain, severity == walletfile.NeedRescan); err != nil {
		o.ledger.Close()
		return nil, err
	}
	return o, nil
}

// prepare completes a ledger that was read, and finds out what it has missed.
func (h *home) prepare(ctx context.Context, o *opened, chain rescan.ActiveChain, everything bool) error {
	if o.ledger.FirstRun() {
		seed := newSeed()
		defer seed.Zero()
		if err := o.ledger.Importer().SetupWithKeys(ctx, seed, h.cfg.now()); err != nil {
			return codes.Errorf(codes.Wallet, "Wallet loading failed. %v", err)
		}
	}
	changes := o.ledger.TakeChanges()
	if h.fault.present() {
		o.unwritten = changes
	} else if err := write(o.file, changes); err != nil { //nolint:contextcheck // files know no contexts
		h.cfg.Log.Error("wallet not written", "wallet", h.name, "err", err)
		return notWritten(err)
	} else {
		h.logChanges(changes)
	}
	var err error
	o.catchUp, err = rescan.Missed(o.ledger, chain, everything, h.mayLag)
	return err
}

// warnings returns Core's warnings about a wallet that is loaded all the same.
func (h *home) warnings(content *walletfile.Wallet, severity walletfile.Severity) []string {
	var texts []string
	if severity != walletfile.OK {
		texts = append(texts, severity.Message(h.file, h.cfg.Client))
	}
	if !content.Flags.Has(walletfile.DisablePrivateKeys) {
		return texts
	}
	for _, id := range content.Active {
		if d := content.Descriptor(id); d != nil && d.HasPrivateKeys() {
			return append(texts, "Warning: Private keys detected in wallet {"+h.file+"} with disabled private keys")
		}
	}
	return texts
}

// newSeed returns fresh randomness for keys.
func newSeed() *walletfile.Secret {
	var seed [seedSize]byte
	_, _ = rand.Read(seed[:]) // never fails
	defer clear(seed[:])
	return walletfile.NewSecret(seed[:])
}

// write writes changes in one transaction.
func write(file *walletdb.DB, changes []records.Change) error {
	if len(changes) == 0 {
		return nil
	}
	return file.Update(func(b *walletdb.Batch) error { return apply(b, changes) })
}

func apply(b *walletdb.Batch, changes []records.Change) error {
	for _, c := range changes {
		var err error
		if c.Delete {
			err = b.Delete(c.Key)
		} else {
			err = b.Put(walletfile.Record{Key: c.Key, Value: c.Value})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
