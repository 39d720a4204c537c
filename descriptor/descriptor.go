// Package descriptor reads output descriptors, prints them, and expands them to
// output scripts; it also knows addresses and the forms of output scripts.
//
// It speaks the language of Bitcoin Core: the same texts are accepted, the same
// canonical texts printed and the same errors given, in the same order,
// miniscript and musig() included. The differences between networks are handed
// in as a [Network].
//
// The package is pure: no files, no clock, no network, and no state but what a
// caller keeps in [Expansions]. All its functions and methods are safe for
// concurrent use. Texts may come from anyone: time and memory are bounded by
// [MaxTextLen] and [MaxRange].
//
// Source: BIP380 to BIP386, BIP389, BIP390; BIP32, BIP327, BIP328, BIP341,
// BIP360, BIP379.
package descriptor

import "slices"

const (
	// MaxTextLen is the length in bytes of the longest text that is parsed. The
	// largest multi_a() of extended keys takes a fifth of this length.
	MaxTextLen = 1 << 20

	// maxBranchesText bounds the sum of the texts of all branches, because
	// their number and their length can both grow with the length of a text.
	maxBranchesText = 64 << 20
)

// Options are the choices of a caller of [Parse].
type Options struct {
	RequireChecksum bool // refuse texts without checksum

	// PrivateKeys are used as if the text held them.
	PrivateKeys []PrivateKey

	// Annotations, if not nil, receives the text's annotations: see [CutAnnotations]. If nil, a text with annotations
	// is refused, as Core refuses it.
	Annotations *Annotations
}

// Descriptor is a parsed descriptor, or one branch of a multipath descriptor.
type Descriptor struct {
	root    script
	keys    []*key
	private bool // the text held a private key
	net     *Network
	branch  int
	cache   Cache // nil: none
}

// Parse reads a descriptor and returns its branches: one, or as many as its
// multipath specifiers have alternatives, in their order.
//
// Errors: [*ParseError], whose text is Core's and may be empty.
func Parse(text string, net *Network, opts Options) ([]*Descriptor, error) {
	net = net.orMain()
	if len(text) > MaxTextLen {
		return nil, failf("Descriptor is longer than %d characters", MaxTextLen)
	}
	body, err := checkChecksum(text, opts.RequireChecksum)
	if err != nil {
		return nil, err
	}
	if opts.Annotations != nil {
		if body, *opts.Annotations, err = cutAnnotations(body); err != nil {
			return nil, err
		}
	}
	p := &parser{net: net, functions: net.Dialect.functions(), secrets: keyring{}}
	root, err := p.parseWhole(body, inTop)
	if err != nil {
		return nil, err
	}
	n := root.branches()
	if n > 1 && n*len(body) > maxBranchesText {
		return nil, failf("Descriptor has too many branches for its length")
	}
	private := len(p.secrets) > 0
	for _, given := range opts.PrivateKeys {
		p.secrets.addGiven(given)
	}
	for _, k := range p.keys {
		k.resolve(p.secrets)
	}
	branches := make([]*Descriptor, n)
	for i := range branches {
		branches[i] = &Descriptor{root: root, keys: p.keys, private: private, net: net, branch: i}
	}
	return branches, nil
}

// String returns the canonical text with public keys only and with checksum.
func (d *Descriptor) String() string {
	return AddChecksum(string(d.root.appendText(nil, form{net: d.net, branch: d.branch})))
}

// PrivateText returns the canonical text with the private keys that the
// descriptor holds, and with checksum, for the caller to overwrite. private is
// [Descriptor.TextIsPrivate].
func (d *Descriptor) PrivateText() (text []byte, private bool) {
	// No private key is longer than twice the public one, so that there is one copy.
	public := d.root.appendText(nil, form{net: d.net, branch: d.branch})
	text = make([]byte, 0, 2*len(public)+checksumLen+1)
	return appendChecksum(d.root.appendText(text, form{net: d.net, branch: d.branch, private: true})), d.TextIsPrivate()
}

// TextIsPrivate reports whether any key expression of [Descriptor.PrivateText] has its
// private key. It is false for addr() and raw(), as in Core, and true for rawmr() and where
// there are only keys that have no private text, as in qbit.
func (d *Descriptor) TextIsPrivate() bool {
	if given, opaque := d.root.(*fixed); opaque {
		return given.name == "rawmr"
	}
	return len(d.keys) == 0 || slices.ContainsFunc(d.keys, func(k *key) bool { return k.private() })
}

// IsRanged reports whether the scripts depend on an index.
func (d *Descriptor) IsRanged() bool {
	for _, k := range d.keys {
		if k.ranged() {
			return true
		}
	}
	return false
}

// IsSolvable reports whether the descriptor says how to spend its scripts,
// which addr() and raw() do not.
func (d *Descriptor) IsSolvable() bool {
	_, opaque := d.root.(*fixed)
	return !opaque
}

// HasPrivateKeys reports whether the text held a private key.
func (d *Descriptor) HasPrivateKeys() bool { return d.private }

// IsSingleType reports whether all scripts have the same form; those of
// combo() do not.
func (d *Descriptor) IsSingleType() bool {
	s, ok := d.root.(*keyScript)
	return !ok || s.name != "combo"
}

// CheckAllowed returns an error if outputs of the network cannot pay to the
// scripts. what names the descriptor in the error, as in "Input".
//
// Errors: [*ParseError].
func (d *Descriptor) CheckAllowed(what string) error {
	if !d.net.Restricted || d.OutputType() == MerkleRoot {
		return nil
	}
	scripts, err := d.Expand(0)
	if err == nil && len(scripts) > 0 &&
		!slices.ContainsFunc(scripts, func(s []byte) bool { return !d.net.Allows(s) }) {
		return nil
	}
	return failf("%s descriptor is not supported on this chain; only p2mr descriptors are supported "+
		"except PayToAnchor and activated outer-reserved witness descriptors", what)
}

// OutputType returns the kind of address of the scripts.
func (d *Descriptor) OutputType() OutputType { return d.root.output() }
