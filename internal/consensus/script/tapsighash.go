package script

// A TapPlace says where in a taproot input a signature is.
type TapPlace struct {
	Annex     []byte    // nil: there is none
	Leaf      *[32]byte // hash of the executed leaf; nil: the output's key signs
	Separator uint32    // number of the last OP_CODESEPARATOR that was executed, [NoSeparator] if none was
}

// NoSeparator says that no OP_CODESEPARATOR was executed.
const NoSeparator = 0xffffffff

// TaprootSigHash returns what a Schnorr signature of an input signs (BIP341,
// BIP342). It reports false for an undefined hash type, for an input without an
// output beside it where the hash type needs that output, and where a spent
// output is not known.
func (s *Spend) TaprootSigHash(i int, hashType byte, at *TapPlace) (hash [32]byte, ok bool) {
	place := tapPlace{leaf: at.Leaf, separator: at.Separator}
	if at.Annex != nil {
		place.annexed, place.annex = true, hashAnnex(at.Annex)
	}
	d := newDigest()
	defer d.release()
	return s.taprootHash(d, i, hashType, &place)
}

// A tapPlace is a [TapPlace] with the hashes of its annex and of the output
// beside the input.
type tapPlace struct {
	annexed   bool
	annex     [32]byte
	leaf      *[32]byte
	separator uint32

	hasOutput bool // output is the hash of the output beside the input
	output    [32]byte
}

func hashAnnex(annex []byte) [32]byte {
	d := newDigest()
	defer d.release()
	d.script(annex)
	return d.sum()
}

func (s *Spend) taprootHash(d *digest, i int, hashType byte, at *tapPlace) (hash [32]byte, ok bool) {
	s.onceTx.Do(s.hashTx)
	s.onceSpent.Do(s.hashSpent)
	output := hashType & outputMask
	if hashType == 0 {
		output = hashAll
	}
	defined := hashType <= hashSingle || hashType >= hashAnyone+hashAll && hashType <= hashAnyone+hashSingle
	if !s.allKnown || !defined || output == hashSingle && i >= len(s.tx.TxOut) {
		return hash, false
	}
	if output == hashSingle && !at.hasOutput {
		d.reset()
		d.output(s.tx.TxOut[i])
		at.hasOutput, at.output = true, d.sum()
	}
	d.reset()
	d.bytes(tagSigHash[:])
	d.byte(0) // epoch
	d.byte(hashType)
	d.put32(uint32(s.tx.Version))
	d.put32(s.tx.LockTime)
	if hashType&hashAnyone == 0 {
		d.bytes(s.tx1.prevouts[:])
		d.bytes(s.amounts[:])
		d.bytes(s.scripts[:])
		d.bytes(s.tx1.sequences[:])
	}
	if output == hashAll {
		d.bytes(s.tx1.outputs[:])
	}
	s.writeTapInput(d, i, hashType, at)
	if output == hashSingle {
		d.bytes(at.output[:])
	}
	if at.leaf != nil {
		d.bytes(at.leaf[:])
		d.byte(0) // version of the key
		d.put32(at.separator)
	}
	return d.sum(), true
}

// writeTapInput writes what a Schnorr signature signs of its own input.
func (s *Spend) writeTapInput(d *digest, i int, hashType byte, at *tapPlace) {
	kind := byte(0)
	if at.leaf != nil {
		kind = 2
	}
	if at.annexed {
		kind |= 1
	}
	d.byte(kind)
	if hashType&hashAnyone != 0 {
		in := s.tx.TxIn[i]
		d.outpoint(&in.PreviousOutPoint)
		d.output(s.output(i))
		d.put32(in.Sequence)
	} else {
		d.put32(uint32(i))
	}
	if at.annexed {
		d.bytes(at.annex[:])
	}
}

// newTag returns what the tagged hashes of BIP340 begin with.
func newTag(name string) (tag [64]byte) {
	d := newDigest()
	defer d.release()
	d.bytes([]byte(name))
	hash := d.sum()
	copy(tag[:32], hash[:])
	copy(tag[32:], hash[:])
	return tag
}

var (
	tagSigHash   = newTag("TapSighash")
	tagLeaf      = newTag("TapLeaf")
	tagBranch    = newTag("TapBranch")
	tagTweak     = newTag("TapTweak")
	tagChallenge = newTag("BIP0340/challenge")
)
