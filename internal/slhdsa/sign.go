package slhdsa

// Sign returns the signature of the message, [SignatureSize] bytes. It equals
// the reference signer's: the same message gives the same bytes. One signature
// of the reservation is used up first, even if signing fails.
//
// Errors: [ErrNotReserved], [ErrKeyMismatch], [ErrNoSalt], [ErrNoCounter].
func (k *PrivateKey) Sign(reserved *Reservation, message []byte) ([]byte, error) {
	if err := reserved.take(k.public); err != nil {
		return nil, err
	}
	return k.sign(message)
}

// sign signs without counting.
func (k *PrivateKey) sign(message []byte) ([]byte, error) {
	p := k.params
	salt, d, err := p.findSalt(k.saltOf(message), newSalted(&k.public, message))
	if err != nil {
		return nil, err
	}
	seed := k.public.seed()
	t := newTweak(&seed)
	defer t.clear()
	signature := make([]byte, p.signatureSize())
	copy(signature, salt[:])
	m := p.signFORS(t, &k.secret().seed, &d, signature[nodeSize:])
	at := place{tree: d.tree, leaf: d.leaf}
	for layer := range p.layers {
		if m, err = p.signLayer(t, &k.secret().seed, at, &m, p.layerOf(signature, layer)); err != nil {
			return nil, err
		}
		at = p.above(at)
	}
	// A signature under other seeds than the public key's would give away
	// values of this one's chains for nothing.
	if m != k.public.root() {
		return nil, ErrKeyMismatch
	}
	return signature, nil
}
