package descriptor

import "github.com/decred/dcrd/dcrec/secp256k1/v4"

// Known is keys and scripts by which outputs can be spent.
type Known struct {
	net   *Network
	known known
}

// NewKnown returns a Known of nothing.
func NewKnown(net *Network) *Known { return &Known{net: net.orMain()} }

// AddPublic adds a public key. It is false for bytes that are none.
func (k *Known) AddPublic(public []byte) bool {
	if _, err := secp256k1.ParsePubKey(public); err != nil {
		return false
	}
	k.known.addPublic(public, public)
	if scripts := wpkhScripts(public); len(public) == secp256k1.PubKeyBytesLenCompressed {
		k.known.addScript(scripts[0])
	}
	return true
}

// AddScript adds a script that outputs pay to by its hash.
func (k *Known) AddScript(script []byte) { k.known.addScript(script) }

// AddOrigin adds where a public key is from: see [DerivedKey].
func (k *Known) AddOrigin(public []byte, fingerprint [4]byte, path []uint32) {
	if k.known.origins == nil {
		k.known.origins = make(map[string]keyOrigin)
	}
	k.known.origins[string(public)] = keyOrigin{fingerprint: fingerprint, steps: path}
}

// Describe infers a descriptor of a script, with checksum. Solvable is false if the text
// only repeats the script or its address. As in Core not every text parses.
func (k *Known) Describe(script []byte) (text string, solvable bool) {
	text = k.known.describe(script, k.net)
	return text, isSolution(text)
}

// AddDescriptor adds what a descriptor tells of its scripts at an index.
//
// Errors: [ErrNeedsPrivateKey], [ErrNotDerivable].
func (k *Known) AddDescriptor(d *Descriptor, index uint32) error {
	s, err := d.solver(index)
	if err != nil {
		return err
	}
	return s.know(&k.known, d.root)
}

// InputSize returns the size of an input that spends a script, with signatures of any
// form. It is false where it is not known how to spend it.
func (k *Known) InputSize(script []byte) (InputSize, bool) {
	text := k.known.describe(script, k.net)
	if !isSolution(text) {
		return InputSize{}, false
	}
	parsed, err := Parse(text, k.net, Options{})
	if err != nil {
		return InputSize{}, false
	}
	return parsed[0].InputSize(0, script, true)
}
