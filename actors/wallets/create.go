package wallets

import (
	"context"
	"crypto/rand"
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

// creation makes a new wallet's file.
type creation struct {
	*home

	req    messages.CreateWallet
	folder walletdir.Made
	made   bool // the file
}

// run runs in the first worker of the wallet's actor.
//
// Errors: *messages.WalletError.
func (n *creation) run(ctx context.Context) (*opened, error) {
	n.step("Creating wallet…", 0)
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
	reader := n.cfg.Chain.Open()
	if reader == nil {
		return nil, codes.Unexpected(chainview.ErrNotReady)
	}
	var err error
	if n.folder, err = walletdir.Make(n.dir); err != nil {
		return nil, codes.Errorf(codes.Wallet, "Wallet file verification failed. %s", codes.FileSystemText(
			"cannot create directories", err, n.dir,
		))
	}
	o, err := n.write(ctx, reader.Active().Tip())
	if err != nil {
		return nil, errors.Join(err, n.folder.Remove())
	}
	n.made = true
	n.logCompleted(began)
	return o, nil
}

func (n *creation) undo() error {
	if !n.made {
		return nil
	}
	return errors.Join(n.discard(), n.folder.Remove())
}

// write makes the records and the file.
func (n *creation) write(ctx context.Context, tip *chainview.Block) (*opened, error) {
	ledger, err := n.ledger(ctx)
	if isAnswer(err) {
		return nil, err
	}
	if err != nil {
		return nil, codes.Errorf(codes.Wallet, "Wallet creation failed. %v", err)
	}
	ledger.Txs().SetTip(messages.Tip{Hash: tip.Hash, Height: tip.Height})
	ledger.Txs().SaveBestBlock(rescan.LocatorOf(tip))
	changes := ledger.TakeChanges()
	fill := func(b *walletdb.Batch) error { return apply(b, changes) } //nolint:contextcheck // as below
	file, err := walletdb.Create(n.file, n.cfg.fileOptions(), fill)    //nolint:contextcheck // files know no contexts
	if err != nil {
		ledger.Close()
		var refused *walletdb.Error
		if errors.As(err, &refused) {
			return nil, codes.Errorf(codes.Wallet, "Wallet file verification failed. %s", refused.Text)
		}
		return nil, codes.Errorf(codes.Wallet, "Wallet creation failed. %v", err)
	}
	n.logContent(&walletfile.Wallet{})
	n.logChanges(changes)
	return &opened{file: file, ledger: ledger, catchUp: rescan.CatchUp{Tip: tip}}, nil
}

func (n *creation) ledger(ctx context.Context) (*wallet.Wallet, error) {
	p := wallet.CreateParams{
		Params:             n.cfg.params(n.name),
		DisablePrivateKeys: n.req.DisablePrivateKeys, Blank: n.req.Blank, AvoidReuse: n.req.AvoidReuse,
		ExternalSigner: n.req.ExternalSigner, Now: n.cfg.now(),
	}
	if n.req.ExternalSigner {
		return n.ofDevice(ctx, p)
	}
	if !p.Blank && !p.DisablePrivateKeys {
		p.Seed = newSeed()
		defer p.Seed.Zero()
	}
	if len(n.req.Passphrase) > 0 {
		passphrase := walletfile.NewSecret(n.req.Passphrase)
		defer passphrase.Zero()
		encryption, err := newEncryption(ctx, passphrase)
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
func (n *creation) ofDevice(ctx context.Context, p wallet.CreateParams) (*wallet.Wallet, error) {
	d, err := n.cfg.Signer.Find(ctx)
	if err != nil {
		return nil, deviceError(err)
	}
	const account = 0
	receive, change, err := d.Descriptors(ctx, account)
	if err != nil {
		return nil, deviceError(err)
	}
	w, err := wallet.Create(ctx, p)
	if err != nil {
		return nil, err
	}
	for i, texts := range [][]string{receive, change} {
		if err := w.Importer().SetupOutside(texts, i == 1, p.Now); err != nil { //nolint:contextcheck // takes a moment
			w.Close()
			return nil, deviceError(err)
		}
	}
	w.Keys().ChooseDefaultTypes()
	w.Keys().NoteActive()
	return w, nil
}

// newEncryption makes a master key and puts it under a passphrase, which takes
// about 100 ms.
func newEncryption(ctx context.Context, passphrase *walletfile.Secret) (wallet.Encryption, error) {
	record := walletfile.MasterKey{ID: 1, Salt: make([]byte, walletfile.SaltSize)}
	_, _ = rand.Read(record.Salt) // never fails
	master := newSeed()
	record, err := lockMaster(ctx, record, passphrase, master)
	if err != nil {
		master.Zero()
		return wallet.Encryption{}, err
	}
	return wallet.Encryption{Record: record, Master: master}, nil
}

// lockMaster puts a master key under a passphrase, with as many iterations as
// this machine does in the time that Core allows.
func lockMaster(
	ctx context.Context, record walletfile.MasterKey, passphrase, master *walletfile.Secret,
) (walletfile.MasterKey, error) {
	var failed error
	record.Iterations = walletfile.TuneIterations(func(iterations uint32) time.Duration {
		trial := record
		trial.Iterations = iterations
		began := time.Now()
		_, err := trial.Lock(ctx, passphrase, master)
		failed = errors.Join(failed, err)
		return time.Since(began)
	})
	if failed != nil {
		return record, failed
	}
	return record.Lock(ctx, passphrase, master)
}
