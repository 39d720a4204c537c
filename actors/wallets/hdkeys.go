package wallets

import "github.com/seed61375155/trawl/messages"

func (w *Wallet) addHDKey(q messages.AddHDKey) (string, error) {
	random := newSeed()
	defer random.Zero()
	return w.ledger.Importer().AddHDKey(q, random, w.cfg.now())
}

func (w *Wallet) deriveHDKey(q messages.DeriveHDKey) (messages.DerivedHDKey, error) {
	return w.ledger.Importer().DeriveHDKey(q)
}
