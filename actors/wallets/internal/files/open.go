package files

import (
	"context"
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// Opened is a wallet whose file is open and whose records are in memory.
type Opened struct {
	File      *walletdb.DB
	Ledger    *wallet.Wallet
	Warnings  []string
	CatchUp   rescan.CatchUp
	Unwritten []records.Change // that could not be written now
}

// Open opens the wallet's file and returns the wallet. It writes nothing if that is not possible now.
//
// Errors: *messages.WalletError.
func (s *Spec) Open(ctx context.Context, readOnly bool) (*Opened, error) {
	s.Step("Loading wallet…")
	began := time.Now()
	if err := s.checkPath(false); err != nil {
		return nil, err
	}
	file, err := walletdb.OpenDir(s.dir, s.cfg.options()) //nolint:contextcheck // files know no contexts
	if err != nil {
		return nil, refusedFile(err)
	}
	kept := false
	defer func() { // also if this panics: the next instance opens the file again
		if !kept {
			_ = file.Close()
		}
	}()
	o, err := s.Load(ctx, file, readOnly)
	if err != nil {
		return nil, err
	}
	kept = true
	s.logCompleted(began)
	return o, nil
}

// Load makes a wallet of an open file, as Open does.
//
// Errors: *messages.WalletError.
func (s *Spec) Load(ctx context.Context, file *walletdb.DB, readOnly bool) (*Opened, error) {
	records, err := file.Records()
	if err != nil {
		return nil, refusedFile(err)
	}
	params := s.params()
	content, severity, err := walletfile.Load(
		context.WithoutCancel(ctx), slices.Values(records), params.LoadOptions(),
	)
	if err != nil {
		s.cfg.Log.Warn("wallet refused", "wallet", s.Name, "err", err)
		return nil, s.refusedRecords(severity)
	}
	chain, err := s.cfg.chain(content.BestBlock)
	if err != nil {
		content.Zero()
		return nil, err
	}
	if content.Version != nil {
		s.Logf("Last client version = %d", *content.Version)
	}
	s.logContent(content)
	o := &Opened{File: file, Warnings: s.warnings(content, severity)}
	encrypted, active := len(content.MasterKeys) > 0, content.Active
	o.Ledger, err = wallet.Open(content, severity == walletfile.OK, params, chain) //nolint:contextcheck // as above
	if err != nil {
		content.Zero()
		s.cfg.Log.Warn("wallet refused", "wallet", s.Name, "err", err)
		return nil, s.refusedRecords(walletfile.Corrupt)
	}
	s.logSkipped(o.Ledger.Book().Skipped())
	s.logLoadedActive(active)
	if encrypted && !o.Ledger.Vault().Encrypted() {
		s.Logf("Detected extraneous encryption keys in this wallet without private keys. " +
			"Removing extraneous encryption keys.")
	}
	if err := s.prepare(ctx, o, chain, severity == walletfile.NeedRescan, readOnly); err != nil {
		o.Ledger.Close()
		return nil, err
	}
	return o, nil
}

// prepare completes a ledger that was read, and finds out what it has missed.
func (s *Spec) prepare(ctx context.Context, o *Opened, chain rescan.ActiveChain, everything, readOnly bool) error {
	if o.Ledger.FirstRun() {
		seed := NewSeed()
		defer seed.Zero()
		if err := o.Ledger.Importer().SetupWithKeys(ctx, seed, s.cfg.now()); err != nil {
			return codes.Errorf(codes.Wallet, "Wallet loading failed. %v", err)
		}
	}
	changes := o.Ledger.TakeChanges()
	if readOnly {
		o.Unwritten = changes
	} else if err := Write(o.File, changes); err != nil { //nolint:contextcheck // files know no contexts
		s.cfg.Log.Error("wallet not written", "wallet", s.Name, "err", err)
		return NotWritten(err)
	} else {
		s.LogChanges(changes)
	}
	var err error
	o.CatchUp, err = rescan.Missed(o.Ledger, chain, everything, s.MayLag)
	return err
}

// warnings returns Core's warnings about a wallet that is loaded all the same.
func (s *Spec) warnings(content *walletfile.Wallet, severity walletfile.Severity) []string {
	var texts []string
	if severity != walletfile.OK {
		texts = append(texts, severity.Message(s.file, s.cfg.Client))
	}
	if !content.Flags.Has(walletfile.DisablePrivateKeys) {
		return texts
	}
	for _, id := range content.Active {
		if d := content.Descriptor(id); d != nil && d.HasPrivateKeys() {
			return append(texts, "Warning: Private keys detected in wallet {"+s.file+"} with disabled private keys")
		}
	}
	return texts
}
