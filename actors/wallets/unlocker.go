package wallets

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// maxUnlock is the longest time that a wallet stays unlocked, as in Core.
const maxUnlock = 100_000_000 * time.Second

// locked is what an unlocker needs of its wallet.
type locked interface {
	open() *wallet.Wallet // nil: it is closed
	usesKeys() bool       // by an import or a rescan, which would be disturbed
	beside(c actor.Context, work func() (then func()))
	save(c actor.Context, then func(error))
	rewrite() // what is deleted must not stay in the file
}

// A lockView is a wallet as its unlocker sees it.
type lockView struct{ *Wallet }

// rewrite has the next write replace the file, so that nothing deleted is left in
// the file.
func (w lockView) rewrite() { w.writer.replace = true }

// unlocker locks and unlocks the keys of a wallet, and encrypts them.
type unlocker struct {
	*home
	of  locked
	ctx context.Context //nolint:containedctx // ends the workers when the actor stops

	until time.Time
	timer ask.Timer // of the lock
	late  bool      // the time is over, and a rescan needs the keys yet
}

// lockTimer says that the time of an unlocked wallet is over.
type lockTimer struct{}

func (u *unlocker) stop() {
	u.timer.Stop()
	u.until, u.late = time.Time{}, false
}

// start has the wallet locked after a time.
func (u *unlocker) start(c actor.Context, now time.Time, after time.Duration) {
	u.stop()
	u.until = now.Add(after)
	u.timer.Set(c, after, lockTimer{})
}

// lockTimer locks the wallet, unless a rescan needs its keys: then after that.
func (u *unlocker) lockTimer(c actor.Context) {
	if u.of.open() == nil {
		return
	}
	if u.of.usesKeys() {
		u.late = true
		return
	}
	u.stop()
	u.of.open().Vault().Lock()
	u.forgetSecrets(c, func() {})
}

// forgetSecrets has the memory of secrets that nobody uses any more made unreadable,
// and calls back.
func (u *unlocker) forgetSecrets(c actor.Context, then func()) {
	u.of.beside(c, func() func() {
		u.cfg.Forget()
		return then
	})
}

// lockLate locks the wallet if its time ended while a rescan or an import needed
// the keys, and both are done.
func (u *unlocker) lockLate(c actor.Context) {
	if u.late && !u.of.usesKeys() && u.of.open() != nil {
		u.stop()
		u.of.open().Vault().Lock()
		u.forgetSecrets(c, func() {})
	}
}

// unlock makes the keys available for a time, and calls back where they are.
func (u *unlocker) unlock(c actor.Context, m *ask.Call[messages.UnlockWallet, messages.Done], then func()) {
	defer m.Req.Passphrase.Wipe()
	switch {
	case !u.of.open().Vault().Encrypted():
		m.Answer(messages.Done{}, codes.Errorf(
			codes.WrongEncryption, "Error: running with an unencrypted wallet, but walletpassphrase was called.",
		))
		return
	case m.Req.For < 0:
		m.Answer(messages.Done{}, codes.Errorf(codes.Parameter, "Timeout cannot be negative."))
		return
	case len(m.Req.Passphrase) == 0:
		m.Answer(messages.Done{}, errEmptyPhrase)
		return
	}
	wrong := wrongPassphrase(m.Req.Passphrase,
		"Error: The wallet passphrase entered is incorrect. It contains a null character (ie - a zero byte). "+
			"If the passphrase was set with a version of this software prior to 25.0, "+
			"please try again with only the characters up to — but not including — the first null character. "+
			"If this is successful, please set a new passphrase to avoid this issue in the future.")
	u.masters(c, m.Req.Passphrase, nil, func(masters []candidate) {
		if _, err := u.unlockWith(masters); err != nil {
			m.Answer(messages.Done{}, passphraseError(err, wrong))
			return
		}
		u.start(c, u.cfg.Now(), min(m.Req.For, maxUnlock))
		if u.fault.present() { // signing needs no file
			m.Answer(messages.Done{}, nil)
			return
		}
		_ = u.of.open().Pool().Refill(0) // as far as it goes
		u.of.save(c, func(err error) { m.Answer(messages.Done{}, err) })
		then()
	})
}

// wrongPassphrase is the answer to a wrong passphrase. Old versions took one
// only up to a zero byte.
func wrongPassphrase(passphrase []byte, withZero string) error {
	if bytes.IndexByte(passphrase, 0) >= 0 {
		return codes.Errorf(codes.Passphrase, "%s", withZero)
	}
	return errPassphrase
}

// passphraseError is the answer when no master key opens the wallet.
func passphraseError(err, wrong error) error {
	if errors.Is(err, walletfile.ErrSomeKeys) {
		return codes.Errorf(
			codes.Misc, "Error unlocking wallet: some keys decrypt but not all. Your wallet file may be corrupt.",
		)
	}
	return wrong
}

// candidate is a master key as a passphrase opens it, right or wrong.
type candidate struct {
	record walletfile.MasterKey
	master *walletfile.Secret
}

// masters derives the wallet's master keys from a passphrase, which takes long,
// and has each looked at by the worker, unless look is nil. The keys are wiped
// when then has returned.
func (u *unlocker) masters(c actor.Context, passphrase []byte, look func(*candidate) error, then func([]candidate)) {
	records, phrase := u.of.open().Vault().MasterKeys(), walletfile.NewSecret(passphrase)
	u.of.beside(c, func() func() {
		defer phrase.Zero()
		var found []candidate
		for _, record := range records {
			master, err := record.Unlock(u.ctx, phrase)
			if err != nil {
				continue
			}
			k := candidate{record, master}
			if look != nil && look(&k) != nil {
				master.Zero()
				continue
			}
			found = append(found, k)
		}
		return func() {
			defer wipe(found)
			then(found)
		}
	})
}

func wipe(keys []candidate) {
	for _, k := range keys {
		k.master.Zero()
	}
}

// unlockWith unlocks the wallet with the master key that is right.
func (u *unlocker) unlockWith(masters []candidate) (candidate, error) {
	err := walletfile.ErrPassphrase
	for _, k := range masters {
		if err = u.of.open().Unlock(k.master); err == nil {
			return k, nil
		}
		if errors.Is(err, walletfile.ErrSomeKeys) {
			break
		}
	}
	return candidate{}, err
}

func (u *unlocker) lock(c actor.Context, m *ask.Call[messages.LockWallet, messages.Done]) {
	switch {
	case !u.of.open().Vault().Encrypted():
		m.Answer(messages.Done{}, codes.Errorf(
			codes.WrongEncryption, "Error: running with an unencrypted wallet, but walletlock was called.",
		))
	case u.of.usesKeys():
		m.Answer(messages.Done{}, inUse("locking the wallet"))
	default:
		u.stop()
		u.of.open().Vault().Lock()
		u.forgetSecrets(c, func() { m.Answer(messages.Done{}, nil) })
	}
}

func inUse(doing string) error {
	return codes.Errorf(codes.Wallet, "Error: the wallet is currently being used to rescan the blockchain for related "+
		"transactions. Please call `abortrescan` before %s.", doing)
}

func (u *unlocker) encrypt(c actor.Context, m *ask.Call[messages.EncryptWallet, messages.Done]) {
	defer m.Req.Passphrase.Wipe()
	err := u.of.open().CheckEncryptable()
	switch {
	case err != nil:
	case u.of.usesKeys():
		err = inUse("encrypting the wallet")
	default:
		err = u.of.open().Vault().CheckEncrypting()
	}
	if err == nil && len(m.Req.Passphrase) == 0 {
		err = errEmptyPhrase
	}
	seed := newSeed()
	var jobs []*keys.Job
	if err == nil && !u.of.open().Flags().Has(walletfile.Blank) {
		jobs, err = u.of.open().Importer().SetupJobs(seed)
	}
	if err != nil {
		seed.Zero()
		m.Answer(messages.Done{}, err)
		return
	}
	phrase := walletfile.NewSecret(m.Req.Passphrase)
	u.of.beside(c, func() func() {
		encryption, batches, err := encryptionOf(u.ctx, phrase, jobs)
		return func() {
			defer seed.Zero()
			u.encryptWith(c, m, encryption, seed, batches, err)
		}
	})
}

func (u *unlocker) encryptWith(
	c actor.Context, m *ask.Call[messages.EncryptWallet, messages.Done], e wallet.Encryption, seed *walletfile.Secret,
	batches []*keys.Batch, err error,
) {
	defer e.Master.Zero()
	defer u.of.open().Pool().Drop()
	if err == nil {
		err = u.of.open().CheckEncryptable() // another request may have been faster
	}
	if err == nil && u.of.usesKeys() {
		err = inUse("encrypting the wallet")
	}
	if err == nil {
		err = supply(u.of.open().Pool(), batches)
	}
	if err == nil {
		err = u.of.open().Encrypt(e, seed, u.cfg.now())
		u.of.rewrite()
	}
	if err != nil && !isAnswer(err) {
		u.cfg.Log.Error("wallet not encrypted", "wallet", u.label(), "err", err)
		err = codes.Errorf(codes.EncryptionFailed, "Error: Failed to encrypt the wallet.")
	}
	u.of.save(c, func(failed error) { m.Answer(messages.Done{}, errors.Join(err, failed)) })
}

func (u *unlocker) changePassphrase(c actor.Context, m *ask.Call[messages.ChangePassphrase, messages.Done]) {
	defer m.Req.Old.Wipe()
	defer m.Req.New.Wipe()
	var err error
	switch {
	case !u.of.open().Vault().Encrypted():
		err = codes.Errorf(
			codes.WrongEncryption, "Error: running with an unencrypted wallet, but walletpassphrasechange was called.",
		)
	case u.of.usesKeys():
		err = inUse("changing the passphrase")
	case len(m.Req.Old) == 0 || len(m.Req.New) == 0:
		err = errEmptyPhrase
	}
	if err != nil {
		m.Answer(messages.Done{}, err)
		return
	}
	wrong := wrongPassphrase(m.Req.Old,
		"Error: The old wallet passphrase entered is incorrect. It contains a null character (ie - a zero byte). "+
			"If the old passphrase was set with a version of this software prior to 25.0, "+
			"please try again with only the characters up to — but not including — the first null character.")
	fresh := walletfile.NewSecret(m.Req.New)
	relabel := func(k *candidate) (err error) {
		k.record, err = lockMaster(u.ctx, k.record, fresh, k.master)
		return err
	}
	u.masters(c, m.Req.Old, relabel, func(masters []candidate) {
		fresh.Zero()
		locked := u.of.open().Vault().Locked()
		right, err := u.unlockWith(masters)
		switch {
		case err != nil: // as in Core: a wrong passphrase locks
			u.stop()
			u.of.open().Vault().Lock()
		case locked:
			u.of.open().Vault().Lock()
		}
		if err != nil {
			m.Answer(messages.Done{}, passphraseError(err, wrong))
			return
		}
		u.of.open().Vault().SetMasterKey(right.record)
		u.of.rewrite()
		u.of.save(c, func(err error) { m.Answer(messages.Done{}, err) })
	})
}

// encryptionOf makes a master key, and the keys of the descriptors that an
// encrypted wallet gets, in a worker.
func encryptionOf(
	ctx context.Context, phrase *walletfile.Secret, jobs []*keys.Job,
) (wallet.Encryption, []*keys.Batch, error) {
	defer phrase.Zero()
	encryption, err := newEncryption(ctx, phrase)
	if err != nil {
		return encryption, nil, err
	}
	batches, err := makeAll(ctx, jobs)
	return encryption, batches, err
}
