package wallets

import (
	"bytes"
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// maxUnlock is the longest time that a wallet stays unlocked, as in Core.
const maxUnlock = 100_000_000 * time.Second

// keyring is how long the keys stay available.
type keyring struct {
	until time.Time
	timer *time.Timer // nil: none
	turn  int         // of the timer; one that fires for an earlier turn is late
	late  bool        // the time is over, and a rescan needs the keys yet
}

// relock says that the time of an unlocked wallet is over.
type relock struct{ turn int }

func (k *keyring) stop() {
	if k.timer != nil {
		k.timer.Stop()
	}
	k.turn++
	k.until, k.timer, k.late = time.Time{}, nil, false
}

// start has the wallet locked after a time.
func (k *keyring) start(c actor.Context, now time.Time, after time.Duration) {
	k.stop()
	root, self, turn := c.ActorSystem().Root, c.Self(), k.turn
	k.until = now.Add(after)
	k.timer = time.AfterFunc(after, func() { root.Send(self, relock{turn}) })
}

// relock locks the wallet, unless a rescan needs its keys: then after that.
func (w *Wallet) relock(c actor.Context, m relock) {
	if m.turn != w.keys.turn || w.ledger == nil {
		return
	}
	if w.usesKeys() {
		w.keys.late = true
		return
	}
	w.keys.stop()
	w.ledger.Vault().Lock()
	w.forgetSecrets(c, func() {})
}

// forgetSecrets has the memory of secrets that nobody uses any more made unreadable,
// and calls back.
func (w *Wallet) forgetSecrets(c actor.Context, then func()) {
	w.aside(c, func() func() {
		w.cfg.Forget()
		return then
	})
}

// usesKeys reports whether descriptors are being imported, or a rescan is running
// that tops up the key pool.
func (w *Wallet) usesKeys() bool {
	return w.importing != nil || w.rescan != nil && w.rescan.private
}

// lockLate locks the wallet if its time was over before what needed the keys was
// done.
func (w *Wallet) lockLate(c actor.Context) {
	if w.keys.late && !w.usesKeys() && w.ledger != nil {
		w.keys.stop()
		w.ledger.Vault().Lock()
		w.forgetSecrets(c, func() {})
	}
}

func (w *Wallet) unlock(c actor.Context, m *unlockWallet) {
	defer m.Req.Passphrase.Wipe()
	switch {
	case !w.ledger.Vault().Encrypted():
		m.Answer(messages.Done{}, failf(codeWrongEncryption, "Error: running with an unencrypted wallet, but walletpassphrase was called."))
		return
	case m.Req.For < 0:
		m.Answer(messages.Done{}, failf(codeParameter, "Timeout cannot be negative."))
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
	w.masters(c, m.Req.Passphrase, nil, func(masters []candidate) {
		if _, err := w.unlockWith(masters); err != nil {
			m.Answer(messages.Done{}, orWrong(err, wrong))
			return
		}
		w.keys.start(c, w.cfg.Now(), min(m.Req.For, maxUnlock))
		if w.fault.present() { // signing needs no file
			m.Answer(messages.Done{}, nil)
			return
		}
		_ = w.ledger.Pool().Refill(0) // as far as it goes
		w.save(c, func(err error) { m.Answer(messages.Done{}, err) })
		w.deferFill(c)
	})
}

// wrongPassphrase is the answer to a wrong passphrase. Old versions took one
// only up to a zero byte.
func wrongPassphrase(passphrase []byte, withZero string) error {
	if bytes.IndexByte(passphrase, 0) >= 0 {
		return failf(codePassphrase, "%s", withZero)
	}
	return errPassphrase
}

// orWrong is the answer when no master key opens the wallet.
func orWrong(err, wrong error) error {
	if errors.Is(err, walletfile.ErrSomeKeys) {
		return failf(codeMisc, "Error unlocking wallet: some keys decrypt but not all. Your wallet file may be corrupt.")
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
func (w *Wallet) masters(c actor.Context, passphrase []byte, look func(*candidate) error, then func([]candidate)) {
	records, phrase := w.ledger.Vault().MasterKeys(), walletfile.NewSecret(passphrase)
	w.aside(c, func() func() {
		defer phrase.Zero()
		var found []candidate
		for _, record := range records {
			master, err := record.Unlock(w.ctx, phrase)
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
func (w *Wallet) unlockWith(masters []candidate) (candidate, error) {
	err := walletfile.ErrPassphrase
	for _, k := range masters {
		if err = w.ledger.Unlock(k.master); err == nil {
			return k, nil
		}
		if errors.Is(err, walletfile.ErrSomeKeys) {
			break
		}
	}
	return candidate{}, err
}

func (w *Wallet) lock(c actor.Context, m *lockWallet) {
	switch {
	case !w.ledger.Vault().Encrypted():
		m.Answer(messages.Done{}, failf(codeWrongEncryption, "Error: running with an unencrypted wallet, but walletlock was called."))
	case w.usesKeys():
		m.Answer(messages.Done{}, inUse("locking the wallet"))
	default:
		w.keys.stop()
		w.ledger.Vault().Lock()
		w.forgetSecrets(c, func() { m.Answer(messages.Done{}, nil) })
	}
}

func inUse(doing string) error {
	return failf(codeWallet, "Error: the wallet is currently being used to rescan the blockchain for related transactions. Please call `abortrescan` before %s.", doing)
}

func (w *Wallet) encrypt(c actor.Context, m *encryptWallet) {
	defer m.Req.Passphrase.Wipe()
	err := w.ledger.CheckEncryptable()
	switch {
	case err != nil:
	case w.usesKeys():
		err = inUse("encrypting the wallet")
	default:
		err = w.ledger.Vault().CheckEncrypting()
	}
	if err == nil && len(m.Req.Passphrase) == 0 {
		err = errEmptyPhrase
	}
	seed := newSeed()
	var jobs []*keys.Job
	if err == nil && !w.ledger.Flags().Has(walletfile.Blank) {
		jobs, err = w.ledger.Importer().SetupJobs(seed)
	}
	if err != nil {
		seed.Zero()
		m.Answer(messages.Done{}, err)
		return
	}
	phrase := walletfile.NewSecret(m.Req.Passphrase)
	w.aside(c, func() func() {
		encryption, batches, err := w.encryptionOf(phrase, jobs)
		return func() {
			defer seed.Zero()
			w.encryptWith(c, m, encryption, seed, batches, err)
		}
	})
}

func (w *Wallet) encryptWith(
	c actor.Context, m *encryptWallet, e wallet.Encryption, seed *walletfile.Secret, batches []*keys.Batch, err error,
) {
	defer e.Master.Zero()
	defer w.ledger.Pool().Drop()
	if err == nil {
		err = w.ledger.CheckEncryptable() // another request may have been faster
	}
	if err == nil && w.usesKeys() {
		err = inUse("encrypting the wallet")
	}
	if err == nil {
		err = w.supply(batches)
	}
	if err == nil {
		err = w.ledger.Encrypt(e, seed, w.cfg.now())
		w.journal.replace = true
	}
	if err != nil && !isAnswer(err) {
		w.cfg.Log.Error("wallet not encrypted", "wallet", w.label(), "err", err)
		err = failf(codeEncryptionFailed, "Error: Failed to encrypt the wallet.")
	}
	w.save(c, func(failed error) { m.Answer(messages.Done{}, errors.Join(err, failed)) })
}

func (w *Wallet) changePassphrase(c actor.Context, m *changePassphrase) {
	defer m.Req.Old.Wipe()
	defer m.Req.New.Wipe()
	var err error
	switch {
	case !w.ledger.Vault().Encrypted():
		err = failf(codeWrongEncryption, "Error: running with an unencrypted wallet, but walletpassphrasechange was called.")
	case w.usesKeys():
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
		k.record, err = lockMaster(w.ctx, k.record, fresh, k.master)
		return err
	}
	w.masters(c, m.Req.Old, relabel, func(masters []candidate) {
		fresh.Zero()
		locked := w.ledger.Vault().Locked()
		right, err := w.unlockWith(masters)
		switch {
		case err != nil: // as in Core: a wrong passphrase locks
			w.keys.stop()
			w.ledger.Vault().Lock()
		case locked:
			w.ledger.Vault().Lock()
		}
		if err != nil {
			m.Answer(messages.Done{}, orWrong(err, wrong))
			return
		}
		w.ledger.Vault().SetMasterKey(right.record)
		w.journal.replace = true
		w.save(c, func(err error) { m.Answer(messages.Done{}, err) })
	})
}
