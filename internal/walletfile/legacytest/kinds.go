package legacytest

import (
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// Kinds are the names of the wallets of [Make].
var Kinds = []string{
	"hd", "unsplit", "rotated", "single", "mixed", "watching", "noprivate", "multisig", "encrypted", "blank", "empty",
}

// Make returns a wallet of a kind.
func Make(kind string, net *descriptor.Network, seen walletfile.Locator) *Wallet {
	switch kind {
	case "noprivate":
		w := New(kind, net, walletfile.DisablePrivateKeys, seen)
		w.watchAll()
		return w
	case "blank":
		return New(kind, net, walletfile.Blank, seen)
	case "single":
		w := New(kind, net, walletfile.AvoidReuse, seen)
		w.single()
		return w
	}
	w := New(kind, net, walletfile.KeyOriginMetadata, seen)
	switch kind {
	case "hd":
		w.AddSeed(12, 2, 6, 4)
		w.labels()
	case "unsplit":
		w.AddSeed(10, 1, 5, 0)
		w.Put(walletfile.DefaultKey{Public: w.AddKey(w.NewKey(true), nil)})
	case "rotated":
		w.AddSeed(12, 2, 3, 2)
		w.AddSeed(12, 2, 4, 1)
	case "mixed":
		w.AddSeed(12, 2, 3, 2)
		w.labels()
		w.watchAll()
		w.multisig()
		w.solvable()
	case "watching":
		w.watchAll()
	case "multisig":
		w.AddSeed(12, 2, 2, 2)
		w.multisig()
		w.solvable()
	case "encrypted":
		w.Encrypt(Passphrase)
		w.AddSeed(12, 2, 3, 3)
		w.AddKey(w.NewKey(false), &walletfile.KeyMetadata{Version: 1, Created: created + 5})
		w.labels()
		w.watchAll()
	case "empty":
		w.AddSeed(12, 2, 0, 0)
	}
	return w
}

// labels notes own addresses and one of somebody else.
func (w *Wallet) labels() {
	for i, script := range w.Own[1:] {
		if i%3 == 1 {
			w.Label(script, "label "+string(rune('a'+i)), "receive")
		}
	}
	foreign := w.NewKey(true)
	w.Label(w.Script("wpkh", foreign.PublicKey()), "a shop", "send")
}

func (w *Wallet) single() {
	for i := range 4 {
		meta := &walletfile.KeyMetadata{Version: 1, Created: int64(created + i)}
		if i == 3 {
			meta = nil
		}
		w.AddKey(w.NewKey(i != 1), meta)
	}
	w.Label(w.Own[0], "old", "receive")
	address, _ := descriptor.AddressOf(w.Own[0], w.Net)
	w.Put(walletfile.DestData{Address: address, Name: walletfile.UsedName, Text: "1"})
	w.Put(walletfile.DestData{Address: address, Name: "rr0", Text: "a request"})
}

// watchAll watches an address, all scripts of a public key, a bare script, and the hash
// of a script that is not known.
func (w *Wallet) watchAll() {
	address := w.NewKey(true)
	w.Watch(w.Script("pkh", address.PublicKey()))
	w.Label(w.Watched[0], "watched", "receive")
	key := w.NewKey(true)
	for _, function := range []string{"pk", "pkh", "wpkh", "sh(wpkh"} {
		w.Watch(w.Script(function, key.PublicKey()))
	}
	w.Watch([]byte{0x51, 0x52, 0x93}) // 1 2 ADD
	hash := number(1)
	w.Watch(append(append([]byte{0xa9, 20}, hash[:20]...), 0x87))
	uncompressed := w.NewKey(false)
	w.Watch(w.Script("pk", uncompressed.PublicKey()))
	first, second := w.NewKey(true), w.NewKey(true)
	bare := w.Multisig(1, first.PublicKey(), second.PublicKey())
	w.Watch(bare)
	w.AddScript(bare)
	w.Watch(Hashed(bare, false))
}

// multisig adds scripts of which the wallet has all keys, by all kinds of hashes.
func (w *Wallet) multisig() {
	meta := &walletfile.KeyMetadata{Version: 1, Created: created}
	first, second := w.AddKey(w.NewKey(true), meta), w.AddKey(w.NewKey(true), nil)
	script := w.Multisig(2, first, second)
	w.AddScript(script)
	w.Own = append(w.Own, Hashed(script, false))
	program := Hashed(w.Multisig(1, second, first), true)
	w.AddScript(w.Multisig(1, second, first))
	w.AddScript(program)
	w.Own = append(w.Own, program, Hashed(program, false))
}

// solvable adds scripts of which the wallet has a key, or none.
func (w *Wallet) solvable() {
	own := w.AddKey(w.NewKey(true), nil)
	other, third := w.NewKey(true), w.NewKey(true)
	w.AddScript(w.Multisig(2, own, other.PublicKey()))
	w.AddScript(w.Multisig(2, third.PublicKey(), other.PublicKey()))
	w.AddScript([]byte{0x51})
	w.AddScript(make([]byte, 600)) // larger than can be spent
}
