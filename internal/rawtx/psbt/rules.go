package psbt

import (
	"bytes"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/seed61375155/trawl/internal/rawtx/internal/serial"
)

// ruleSet is what the entries of one kind of map must be.
type ruleSet struct {
	name  string // as errors call the map
	types map[uint64]rule
	qbit  map[byte]rule // of proprietary types, by the byte behind qbitName; nil: they have no meaning
}

// rule is what an entry must be. Texts are Core's.
type rule struct {
	sizes     []int  // of the key with its type, in bytes; nil: any
	size      string // error for any other size
	pubKey    bool   // the key must hold a public key
	key       func(data []byte) error
	duplicate string                  // error for a second entry with the key
	same      func(key []byte) []byte // what of a key is there once; nil: all of it

	// loose is how many public keys the key begins with that need not be any, and
	// that Core forgets then.
	loose int

	// meaning is the type that the field has in a [Map], without so many bytes at the begin of the data of
	// its key; 0: its own.
	meaning uint64
	head    int

	// At most one of these: a check of the value, which is taken whole, or what
	// reads it where it lies.
	value func(value []byte) error
	read  valueReader
}

// A valueReader takes a value off the data that it is a part of, of a size that
// was stated. As in Core it checks the content before it compares the sizes,
// and so reads past the end of a value whose stated size is too small. After a
// success it has read as much as was stated.
type valueReader func(r *serial.Reader, size uint64) error

// of returns the rule for an entry by its key. Unknown types may hold anything, once.
func (s *ruleSet) of(e *Entry) rule {
	if rest, named := bytes.CutPrefix(e.Data, qbitName); named && e.Type == Proprietary && len(rest) > 0 {
		if r, ok := s.qbit[rest[0]]; ok {
			return r
		}
	}
	if r, ok := s.types[e.Type]; ok {
		return r
	}
	return rule{duplicate: "Duplicate Key, key for unknown value already provided"}
}

func (r *rule) checkKey(e *Entry) error {
	if r.sizes != nil && !slices.Contains(r.sizes, len(e.Key)) {
		return serial.Error(r.size)
	}
	if r.pubKey {
		if _, err := btcec.ParsePubKey(e.Data); err != nil {
			return serial.Error("Invalid pubkey")
		}
	}
	if r.key != nil {
		return r.key(e.Data)
	}
	return nil
}

// identity returns what no two entries of a type may share.
func (r *rule) identity(key []byte) []byte {
	if r.same == nil {
		return key
	}
	return r.same(key)
}

// readValue reads a value behind its size. The returned slice has no spare capacity.
func (r *rule) readValue(from *serial.Reader) ([]byte, error) {
	if r.read == nil {
		value := from.VarBytes()
		if from.Err != nil {
			return nil, from.Err
		}
		if r.value == nil {
			return value, nil
		}
		return value, r.value(value)
	}
	size := from.CompactSize()
	if from.Err != nil {
		return nil, from.Err
	}
	value := from.Rest
	if err := r.read(from, size); err != nil {
		return nil, err
	}
	return value[:size:size], nil
}

var (
	onlyType = []int{1}
	withKey  = []int{34, 66} // compressed or not
	xOnlyKey = []int{33}
)

// single is the rule of a type that has nothing else in its key.
func single(duplicate, size string, value func([]byte) error) rule {
	return rule{
		sizes: onlyType, size: size, duplicate: "Duplicate Key, " + duplicate + " already provided", value: value,
	}
}

// singleRead is single, for a value that is read where it lies.
func singleRead(duplicate, size string, read valueReader) rule {
	r := single(duplicate, size, nil)
	r.read = read
	return r
}

// preimage is the rule of the preimage of a hash of so many bytes.
func preimage(name string, hashSize int) rule {
	return rule{
		sizes:     []int{hashSize + 1},
		size:      "Size of key was not the expected size for the type " + name + " preimage",
		duplicate: "Duplicate Key, input " + name + " preimage already provided",
	}
}

var proprietaryRule = rule{key: checkProprietary, duplicate: "Duplicate Key, proprietary key already found"}

var derivationRule = rule{
	sizes: withKey, size: "Size of key was not the expected size for the type BIP32 keypath", pubKey: true,
	duplicate: "Duplicate Key, pubkey derivation path already provided", read: readOrigin,
}

// maps says which of the maps a rule that two of them share is for.
func tapDerivation(maps string) rule {
	return rule{
		sizes: xOnlyKey, size: maps + " Taproot BIP32 keypath key is not at 33 bytes",
		duplicate: "Duplicate Key, " + lower(maps) + " Taproot BIP32 keypath already provided",
		read: func(r *serial.Reader, size uint64) error {
			return readTapDerivation(r, size, maps+" Taproot BIP32 keypath has an invalid length")
		},
	}
}

func musigParticipants(maps string) rule {
	return rule{
		sizes: []int{34}, size: maps + " musig2 participants pubkeys aggregate key is not 34 bytes", loose: 1,
		duplicate: "Duplicate Key, " + lower(maps) + " participant pubkeys for an aggregate key already provided",
		value: func(value []byte) error {
			if len(value)%btcec.PubKeyBytesLenCompressed != 0 {
				return serial.Error(maps + " musig2 participants pubkeys value size is not a multiple of 33")
			}
			return nil
		},
	}
}

func tapInternalKey(maps string) rule {
	return singleRead(
		lower(maps)+" Taproot internal key", maps+" Taproot internal key key is more than one byte type", exactly(32),
	)
}

// lower is the name of a map inside a sentence.
func lower(maps string) string { return string(maps[0]|0x20) + maps[1:] }

// versionRule: there is one version, whatever stands behind the type in its key.
var versionRule = rule{
	sizes: onlyType, size: "Global version key is more than one byte type",
	duplicate: "Duplicate Key, version already provided", same: func(key []byte) []byte { return key[:1] },
	read: readVersion,
}

var globalRules = ruleSet{name: "the global map", types: map[uint64]rule{
	UnsignedTx: singleRead("unsigned tx", "Global unsigned tx key is more than one byte type", readUnsigned),
	XPub: {
		sizes: []int{79}, size: "Size of key was not the expected size for the type global xpub",
		key: checkXPub, duplicate: "Duplicate key, global xpub already provided", same: xpubIdentity, read: readOrigin,
	},
	Version:     versionRule,
	Proprietary: proprietaryRule,
}}

var inputRules = ruleSet{name: "an input map", types: map[uint64]rule{
	NonWitnessUTXO: singleRead("input non-witness utxo", "Non-witness utxo key is more than one byte type", readTx),
	WitnessUTXO:    singleRead("input witness utxo", "Witness utxo key is more than one byte type", readOutput),
	PartialSig: {
		sizes: withKey, size: "Size of key was not the expected size for the type partial signature pubkey",
		pubKey:    true,
		duplicate: "Duplicate Key, input partial signature for pubkey already provided", value: checkSigEncoding,
	},
	SigHash:        singleRead("input sighash type", "Sighash type key is more than one byte type", exactly(4)),
	RedeemScript:   single("input redeemScript", "Input redeemScript key is more than one byte type", nil),
	WitnessScript:  single("input witnessScript", "Input witnessScript key is more than one byte type", nil),
	Derivation:     derivationRule,
	FinalScriptSig: single("input final scriptSig", "Final scriptSig key is more than one byte type", nil),
	FinalWitness: singleRead(
		"input final scriptWitness", "Final scriptWitness key is more than one byte type", readWitness,
	),
	Ripemd160: preimage("ripemd160", 20),
	Sha256:    preimage("sha256", 32),
	Hash160:   preimage("hash160", 20),
	Hash256:   preimage("hash256", 32),
	TapKeySig: single("input Taproot key signature", "Input Taproot key signature key is more than one byte type",
		schnorrSize("Input Taproot key path signature")),
	TapScriptSig: {
		sizes: []int{65}, size: "Input Taproot script signature key is not 65 bytes",
		duplicate: "Duplicate Key, input Taproot script signature already provided",
		value:     schnorrSize("Input Taproot script path signature"),
	},
	TapLeaf: {
		key: checkControlBlock, duplicate: "Duplicate Key, input Taproot leaf script already provided",
		value: checkLeaf,
	},
	TapDerivation:  tapDerivation("Input"),
	TapInternalKey: tapInternalKey("Input"),
	TapMerkleRoot: singleRead("input Taproot merkle root", "Input Taproot merkle root key is more than one byte type",
		exactly(32)),
	MusigParticipants: musigParticipants("Input"),
	MusigPubNonce: {
		sizes: []int{67, 99}, size: "Input musig2 pubnonce key is not expected size of 67 or 99 bytes",
		duplicate: "Duplicate Key, input musig2 pubnonce already provided", loose: 2, value: checkPubNonce,
	},
	MusigPartialSig: {
		sizes: []int{67, 99}, size: "Input musig2 partial sig key is not expected size of 67 or 99 bytes",
		duplicate: "Duplicate Key, input musig2 partial sig already provided", loose: 2, read: exactly(32),
	},
	Proprietary: proprietaryRule,
}}

var outputRules = ruleSet{name: "an output map", types: map[uint64]rule{
	OutRedeemScript:   single("output redeemScript", "Output redeemScript key is more than one byte type", nil),
	OutWitnessScript:  single("output witnessScript", "Output witnessScript key is more than one byte type", nil),
	OutDerivation:     derivationRule,
	OutTapInternalKey: tapInternalKey("Output"),
	OutTapTree: single(
		"output Taproot tree", "Output Taproot tree key is more than one byte type", checkTapTree,
	),
	OutTapDerivation:     tapDerivation("Output"),
	OutMusigParticipants: musigParticipants("Output"),
	Proprietary:          proprietaryRule,
}}
