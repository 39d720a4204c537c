package migrate

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// ErrKey reports a private key that is missing or cannot be decrypted.
var ErrKey = errors.New("private key of legacy wallet is missing")

// Descriptor is a descriptor that stands for a part of a legacy wallet.
type Descriptor struct {
	Public  *descriptor.Descriptor
	Created uint64                  // Unix time in seconds; 0: not known
	End     int32                   // the first index after the range of a ranged one
	Keys    []descriptor.PrivateKey // none if it is only watched
}

// Plan is what becomes of the keys and scripts of a legacy wallet.
type Plan struct {
	Main     []Descriptor // of the wallet itself
	Watched  []Descriptor // of a wallet that watches
	Solvable []Descriptor // of a wallet that only knows how outputs are spent

	// Master is the root of the wallet's keys, if they are from a seed: its scalar is
	// to be wiped.
	Master *Master

	// NotMine are the scripts that were watched in vain.
	NotMine [][]byte
}

// Master is an extended private key.
type Master struct {
	Public descriptor.XPub
	Scalar [32]byte
}

// Wipe overwrites the private keys.
func (p *Plan) Wipe() {
	for _, d := range p.Main {
		clear(d.Keys)
	}
	if p.Master != nil {
		clear(p.Master.Scalar[:])
	}
}

// planner makes a plan.
type planner struct {
	*store

	old     *walletfile.LegacyContent
	secrets func(walletfile.KeyID) *walletfile.Secret
	plan    *Plan
	left    map[string]bool // scripts of the wallet that no descriptor has yet
}

// NewPlan plans the migration of a wallet whose private keys secrets returns: copies, nil
// where there is none.
//
// Errors: ErrKey.
func NewPlan(
	old *walletfile.LegacyContent, net *descriptor.Network, secrets func(walletfile.KeyID) *walletfile.Secret,
) (*Plan, error) {
	p := &planner{
		store: newStore(old, net), old: old, secrets: secrets, plan: new(Plan), left: make(map[string]bool),
	}
	candidates := p.candidates()
	for script := range candidates {
		if p.isMine([]byte(script)) {
			p.left[script] = true
		}
	}
	for _, step := range []func() error{p.singleKeys, p.chains, p.others} {
		if err := step(); err != nil {
			p.plan.Wipe()
			return nil, err
		}
	}
	p.solvable(candidates)
	for _, script := range old.Watched {
		if !p.isMine(script) {
			p.plan.NotMine = append(p.plan.NotMine, script)
		}
	}
	return p.plan, nil
}

// parse reads a descriptor that was made here.
func (p *planner) parse(text string) (*descriptor.Descriptor, error) {
	parsed, err := descriptor.Parse(text, p.net, descriptor.Options{})
	if err != nil {
		return nil, err
	}
	return parsed[0], nil
}

// add takes a descriptor into the wallet itself.
func (p *planner) add(text string, created uint64, end int32, keys ...descriptor.PrivateKey) error {
	d, err := p.parse(text)
	if err != nil {
		return fmt.Errorf("descriptor of a legacy key: %w", err)
	}
	p.plan.Main = append(p.plan.Main, Descriptor{Public: d, Created: created, End: end, Keys: keys})
	return nil
}

// private returns a private key.
func (p *planner) private(id walletfile.KeyID) (descriptor.PrivateKey, error) {
	secret := p.secrets(id)
	defer secret.Zero()
	public := p.keys[id]
	if secret == nil || public == nil {
		return descriptor.PrivateKey{}, ErrKey
	}
	return descriptor.PrivateKey{Compressed: public.Compressed(), Scalar: [32]byte(secret.Bytes())}, nil
}

// singleKeys makes a combo() of each key that is not from a seed, seeds included.
func (p *planner) singleKeys() error {
	ids := slices.SortedFunc(maps.Keys(p.keys), func(a, b walletfile.KeyID) int {
		return strings.Compare(string(a[:]), string(b[:]))
	})
	for _, id := range ids {
		meta, described := p.old.KeyMeta[id]
		if described && !meta.IsSeed() && p.isChain(meta.Seed) {
			continue
		}
		key, err := p.private(id)
		if err != nil {
			return err
		}
		text := hex.EncodeToString(p.keys[id])
		if described {
			fingerprint, steps := origin(id, &meta)
			text = descriptor.DerivedKey{PublicKey: p.keys[id], Fingerprint: fingerprint, Path: steps}.String()
		}
		if err := p.add("combo("+text+")", uint64(meta.Created), 0, key); err != nil {
			return err
		}
		wpkh := witnessKeyScript(id[:])
		delete(p.left, string(pubKeyScript(p.keys[id])))
		delete(p.left, string(pubKeyHashScript(id[:])))
		if p.keys[id].Compressed() {
			delete(p.left, string(wpkh))
			delete(p.left, string(scriptHashScript(wpkh)))
		}
	}
	return nil
}

// isChain reports whether there is a chain of the seed.
func (p *planner) isChain(seed walletfile.KeyID) bool {
	if seed == (walletfile.KeyID{}) {
		return false
	}
	return seed == p.old.Chain.Seed ||
		slices.ContainsFunc(p.old.Inactive, func(c walletfile.HDChain) bool { return c.Seed == seed })
}

// chains makes a combo() of the keys for receiving and one of those for change of
// each seed.
func (p *planner) chains() error {
	for _, chain := range append([]walletfile.HDChain{p.old.Chain}, p.old.Inactive...) {
		if chain.Seed == (walletfile.KeyID{}) {
			continue
		}
		master, err := p.master(chain.Seed)
		if err != nil {
			return err
		}
		counts := []uint32{chain.External}
		if p.old.Chain.Split() {
			counts = append(counts, chain.Internal)
		}
		for use, count := range counts {
			if err := p.addChain(master, use, count); err != nil {
				return err
			}
		}
		if chain.Seed == p.old.Chain.Seed {
			p.plan.Master = master
		} else {
			clear(master.Scalar[:])
		}
	}
	return nil
}

// master returns the root of the keys of a seed.
func (p *planner) master(seed walletfile.KeyID) (*Master, error) {
	key, err := p.private(seed)
	if err != nil {
		return nil, err
	}
	defer clear(key.Scalar[:])
	public, scalar, ok := descriptor.Master(key.Scalar[:])
	if !ok {
		return nil, ErrKey
	}
	return &Master{Public: public, Scalar: scalar}, nil
}

func (p *planner) addChain(master *Master, use int, count uint32) error {
	if int64(count) > int64(len(p.keys)) { // which are all in the file
		return fmt.Errorf("%w: %d keys of a seed in a wallet of %d", ErrKey, count, len(p.keys))
	}
	text := "combo(" + descriptor.EncodeXPub(master.Public, p.net) + "/0h/" + strconv.Itoa(use) + "h/*h)"
	key := descriptor.PrivateKey{Compressed: true, Scalar: master.Scalar}
	if err := p.add(text, 0, int32(count), key); err != nil {
		return err
	}
	for index := range count {
		step := []uint32{hardened, hardened | uint32(use), hardened | index}
		child, ok := descriptor.DeriveKey(&master.Public, &master.Scalar, step)
		if !ok {
			return ErrKey
		}
		public := child.PublicKey()
		clear(child.Scalar[:])
		id := walletfile.KeyIDOf(public)
		wpkh := witnessKeyScript(id[:])
		for _, script := range [][]byte{pubKeyScript(public), pubKeyHashScript(id[:]), wpkh, scriptHashScript(wpkh)} {
			delete(p.left, string(script))
		}
	}
	return nil
}

// hardened is the bit of hardened child numbers.
const hardened = 1 << 31
