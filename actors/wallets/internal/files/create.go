package files

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
	"github.com/seed61375155/trawl/store/walletdir"
)

// A Creation makes a new wallet's file.
type Creation struct {
	*Spec

	req    messages.CreateWallet
	folder walletdir.Made
	made   bool // the file
}

// Create returns the creation of a wallet that is not there.
func (s *Spec) Create(req messages.CreateWallet) *Creation { return &Creation{Spec: s, req: req} }

// Run makes the file, and returns the wallet.
//
// Errors: *messages.WalletError.
func (n *Creation) Run(ctx context.Context) (*Opened, error) {
	n.Step("Creating wallet…")
	began := time.Now()
	defer n.req.Passphrase.Wipe()
	if err := n.checkNamed(); err != nil {
		return nil, err
	}
	if n.req.ExternalSigner && !n.req.DisablePrivateKeys {
		return nil, codes.Errorf(codes.Wallet, "Private keys must be disabled when using an external signer")
	}
	if len(n.req.Passphrase) > 0 && n.req.DisablePrivateKeys {
		return nil, codes.Errorf(codes.Wallet, "Passphrase provided but private keys are disabled. A passphrase is "+
			"only used to encrypt private keys, so cannot be used for wallets with private keys disabled.")
	}
	if err := n.checkPath(true); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(n.file); err == nil {
		return nil, codes.Errorf(
			codes.Wallet,
			"Wallet file verification failed. Failed to create database path '%s'. Database already exists.", n.dir,
		)
	}
	chain, err := n.cfg.chain(nil)
	if err != nil {
		return nil, err
	}
	if n.folder, err = walletdir.Make(n.dir); err != nil {
		return nil, codes.Errorf(codes.Wallet, "Wallet file verification failed. %s", codes.FileSystemText(
			"cannot create directories", err, n.dir,
		))
	}
	o, err := n.write(ctx, chain.Active.Tip())
	if err != nil {
		return nil, errors.Join(err, n.folder.Remove())
	}
	n.made = true
	n.logCompleted(began)
	return o, nil
}

// Undo takes back what Run did. The wallet is not open any more.
func (n *Creation) Undo() error {
	if !n.made {
		return nil
	}
	return errors.Join(n.discard(), n.folder.Remove())
}

// write makes the records and the file.
func (n *Creation) write(ctx context.Context, tip *chainview.Block) (*Opened, error) {
	ledger, err := n.ledger(ctx)
	if codes.IsAnswer(err) {
		return nil, err
	}
	if err != nil {
		return nil, codes.Errorf(codes.Wallet, "Wallet creation failed. %v", err)
	}
	ledger.Txs().SetTip(messages.Tip{Hash: tip.Hash, Height: tip.Height})
	ledger.Txs().SaveBestBlock(rescan.LocatorOf(tip))
	changes := ledger.TakeChanges()
	file, err := walletdb.Create(n.file, n.cfg.options(), Apply(changes)) //nolint:contextcheck // as all files
	if err != nil {
		ledger.Close()
		var refused *walletdb.Error
		if errors.As(err, &refused) {
			return nil, codes.Errorf(codes.Wallet, "Wallet file verification failed. %s", refused.Text)
		}
		return nil, codes.Errorf(codes.Wallet, "Wallet creation failed. %v", err)
	}
	n.logContent(&walletfile.Wallet{})
	n.LogChanges(changes)
	return &Opened{File: file, Ledger: ledger, CatchUp: rescan.CatchUp{Tip: tip}}, nil
}

func (n *Creation) ledger(ctx context.Context) (*wallet.Wallet, error) {
	p := wallet.CreateParams{
		Params:             n.params(),
		DisablePrivateKeys: n.req.DisablePrivateKeys, Blank: n.req.Blank, AvoidReuse: n.req.AvoidReuse,
		ExternalSigner: n.req.ExternalSigner, Now: n.cfg.now(),
	}
	if n.req.ExternalSigner {
		return n.ofDevice(ctx, p)
	}
	if !p.Blank && !p.DisablePrivateKeys {
		p.Seed = NewSeed()
		defer p.Seed.Zero()
	}
	if len(n.req.Passphrase) > 0 {
		passphrase := walletfile.NewSecret(n.req.Passphrase)
		defer passphrase.Zero()
		encryption, err := NewEncryption(ctx, passphrase)
		if err != nil {
			return nil, err
		}
		defer encryption.Master.Zero()
		p.Encryption = &encryption
	}
	return wallet.Create(ctx, p)
}

// ofDevice makes a wallet of the descriptors that a signing device tells.
//
// Errors: *messages.WalletError.
func (n *Creation) ofDevice(ctx context.Context, p wallet.CreateParams) (*wallet.Wallet, error) {
	d, err := n.cfg.Signer.Find(ctx)
	if err != nil {
		return nil, codes.DeviceError(err)
	}
	const account = 0
	receive, change, err := d.Descriptors(ctx, account)
	if err != nil {
		return nil, codes.DeviceError(err)
	}
	w, err := wallet.Create(ctx, p)
	if err != nil {
		return nil, err
	}
	for i, texts := range [][]string{receive, change} {
		if err := w.Importer().SetupOutside(texts, i == 1, p.Now); err != nil { //nolint:contextcheck // takes a moment
			w.Close()
			return nil, codes.DeviceError(err)
		}
	}
	w.Keys().ChooseDefaultTypes()
	w.Keys().NoteActive()
	return w, nil
}
