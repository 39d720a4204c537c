package migrate

import (
	"maps"
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// others describes the scripts that are left, which were imported: each by itself.
// Scripts for which private keys are missing are watched, by another wallet unless
// this wallet has no private keys at all.
func (p *planner) others() error {
	for _, script := range slices.Sorted(maps.Keys(p.left)) {
		text, _ := p.known.Describe([]byte(script))
		d, err := p.parse(text)
		if err != nil {
			continue // by errors of old, keys that are none
		}
		made := Descriptor{Public: d, Created: p.created([]byte(script))}
		keys, all, err := p.privateOf(d)
		if err != nil {
			return err
		}
		if all {
			made.Keys = keys
		} else {
			clear(keys)
		}
		if all || p.old.Flags.Has(walletfile.DisablePrivateKeys) {
			p.plan.Main = append(p.plan.Main, made)
		} else {
			p.plan.Watched = append(p.plan.Watched, made)
		}
	}
	return nil
}

// created returns the time from which a script is.
func (p *planner) created(script []byte) uint64 {
	return uint64(p.old.ScriptMeta[walletfile.KeyIDOf(script)].Created)
}

// privateOf returns the private keys of a descriptor, and whether these are all.
func (p *planner) privateOf(d *descriptor.Descriptor) (keys []descriptor.PrivateKey, all bool, err error) {
	public, err := d.KeysAt(0)
	if err != nil {
		return nil, false, err
	}
	all = len(public) > 0
	for _, key := range public {
		id := walletfile.KeyIDOf(key.PublicKey)
		if p.keys[id] == nil {
			all = false
			continue
		}
		private, err := p.private(id)
		if err != nil {
			return nil, false, err
		}
		keys = append(keys, private)
	}
	return keys, all, nil
}

// solvable describes the outputs to scripts' hashes that are not the wallet's but that
// it could help to spend.
func (p *planner) solvable(candidates map[string]bool) {
	for _, text := range slices.Sorted(maps.Keys(candidates)) {
		script := []byte(text)
		form := p.net.Template(script).Form
		if form != formScriptHash && form != formWitnessScript || p.isMine(script) {
			continue
		}
		inferred, solvable := p.known.Describe(script)
		if !solvable {
			continue
		}
		d, err := p.parse(inferred)
		if err != nil || !p.provides(script, d) {
			continue
		}
		p.plan.Solvable = append(p.plan.Solvable, Descriptor{Public: d, Created: p.created(script)})
	}
}

// provides reports whether the wallet knows the script behind a hash, or has a
// private key of this script.
func (p *planner) provides(script []byte, d *descriptor.Descriptor) bool {
	if c := p.claimOf(script, atTop, false); c == spendable || c == watching {
		return true
	}
	keys, err := d.KeysAt(0)
	return err == nil && slices.ContainsFunc(keys, func(k descriptor.DerivedKey) bool {
		return p.keys[walletfile.KeyIDOf(k.PublicKey)] != nil
	})
}
