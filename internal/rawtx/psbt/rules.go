package psbt

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/seed61375155/trawl/internal/rawtx/internal/serial"
)

// ruleSet is what the entries of one kind of map must be.
type ruleSet struct {
	kind  string // "global", "input" or "output"
	name  string // as errors call the map
	types map[uint64]rule
	qbit  map[byte]rule // of proprietary types, by the byte behind qbitName; nil: they have no meaning
}

// rule is what an entry must be. Texts are Core's. Core 32 has one text for all types whose key has one size, and
// one for all keys that are there twice; so have types that Core 30.2 does not know.
type rule struct {
	core32    bool   // texts and checks are those of Core 32
	sizes     []int  // of the key with its type, in bytes; nil: any
	size      string // error for any other size
	name      string // of the type in the text of Core 32; "": that is size
	pubKey    bool   // the key must hold a public key
	key       func(data []byte) error
	key32     func(data []byte) error // in place of key; nil: the same
	duplicate string                  // error for a second entry with the key
	same      func(key []byte) []byte // what of a key is there once, but in Core 32; nil: all of it

	// loose is how many public keys the key begins with that need not be any, and
	// that Core forgets then.
	loose int

	// meaning is the type that the field has in a [Map], without so many bytes at the begin of the data of
	// its key; 0: its own.
	meaning uint64
	head    int

	// At most one of these: a check of the value, which is taken whole, or what
	// reads it where it lies.
	value   func(value []byte) error
	value32 func(value []byte) error // in place of value; nil: the same
	read    valueReader
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
		if r.name != "" && (r.core32 || r.size == "") {
			return serial.Error(fmt.Sprintf("Size of key was not %d for the type %s", r.sizes[0], r.name))
		}
		return serial.Error(r.size)
	}
	if r.pubKey {
		if _, err := btcec.ParsePubKey(e.Data); err != nil {
			return serial.Error("Invalid pubkey")
		}
	}
	check := r.key
	if r.core32 && r.key32 != nil {
		check = r.key32
	}
	if check != nil {
		return check(e.Data)
	}
	return nil
}

// twice is the error for a second entry with a key.
func (r *rule) twice(of *ruleSet, key []byte) error {
	if r.core32 || r.duplicate == "" {
		return serial.Error(fmt.Sprintf("Duplicate Key, %s key \"%x\" already provided", of.kind, key))
	}
	return serial.Error(r.duplicate)
}

// identity returns what no two entries of a type may share.
func (r *rule) identity(key []byte) []byte {
	if r.same == nil || r.core32 {
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
		check := r.value
		if r.core32 && r.value32 != nil {
			check = r.value32
		}
		if check == nil {
			return value, nil
		}
		return value, check(value)
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

// single is the rule of a type that has nothing else in its key. name is what Core 32 calls it.
func single(name, duplicate, size string, value func([]byte) error) rule {
	return rule{
		sizes: onlyType, size: size, duplicate: "Duplicate Key, " + duplicate + " already provided", value: value,
		name: name,
	}
}

// singleRead is single, for a value that is read where it lies.
func singleRead(name, duplicate, size string, read valueReader) rule {
	r := single(name, duplicate, size, nil)
	r.read = read
	return r
}

// preimage is the rule of the preimage of a hash of so many bytes.
func preimage(name, name32 string, hashSize int) rule {
	return rule{
		sizes:     []int{hashSize + 1},
		name:      "Input " + name32 + " Preimage",
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
		name:      maps + " Taproot BIP32 Keypath",
		duplicate: "Duplicate Key, " + lower(maps) + " Taproot BIP32 keypath already provided",
		read: func(r *serial.Reader, size uint64) error {
			return readTapDerivation(r, size, maps+" Taproot BIP32 keypath has an invalid length")
		},
	}
}

func musigParticipants(maps string) rule {
	return rule{
		sizes: []int{34}, size: maps + " musig2 participants pubkeys aggregate key is not 34 bytes", loose: 1,
		name:      maps + " MuSig2 Participants Pubkeys",
		duplicate: "Duplicate Key, " + lower(maps) + " participant pubkeys for an aggregate key already provided",
		value: func(value []byte) error {
			if len(value)%btcec.PubKeyBytesLenCompressed != 0 {
				return serial.Error(maps + " musig2 participants pubkeys value size is not a multiple of 33")
			}
			return nil
		},
		key32: func(data []byte) error { return checkMusigKey(data, maps+" musig2 aggregate") },
		value32: func(value []byte) error {
			for ; len(value) >= btcec.PubKeyBytesLenCompressed; value = value[btcec.PubKeyBytesLenCompressed:] {
				err := checkMusigKey(value[:btcec.PubKeyBytesLenCompressed], maps+" musig2 participant")
				if err != nil {
					return err
				}
			}
			if len(value) > 0 {
				return serial.Error(maps + " musig2 participants pubkeys value size is not a multiple of 33")
			}
			return nil
		},
	}
}

func tapInternalKey(maps string) rule {
	return singleRead(
		maps+" Taproot Internal Key", lower(maps)+" Taproot internal key",
		maps+" Taproot internal key key is more than one byte type", exactly(32),
	)
}

// lower is the name of a map inside a sentence.
func lower(maps string) string { return string(maps[0]|0x20) + maps[1:] }

const errVersion = serial.Error("Unsupported version number")

// versionRule: there is one version, whatever stands behind the type in its key.
func versionRule(read ...uint32) rule {
	return rule{
		sizes: onlyType, size: "Global version key is more than one byte type", name: "Global PSBT Version",
		duplicate: "Duplicate Key, version already provided", same: func(key []byte) []byte { return key[:1] },
		read: checked((*serial.Reader).Uint32, func(version uint32) error {
			if !slices.Contains(read, version) {
				return errVersion
			}
			return nil
		}),
	}
}

// reads returns a set of rules where packets may have some versions.
func (s *ruleSet) reads(versions ...uint32) *ruleSet {
	set := s.with(nil, false)
	set.types[Version] = versionRule(versions...)
	return set
}

var globalRules = ruleSet{kind: "global", name: "the global map", types: map[uint64]rule{
	UnsignedTx: singleRead(
		"Global Unsigned TX", "unsigned tx", "Global unsigned tx key is more than one byte type", readUnsigned,
	),
	XPub: {
		sizes: []int{79}, size: "Size of key was not the expected size for the type global xpub", name: "Global XPUB",
		key: checkXPub, duplicate: "Duplicate key, global xpub already provided", same: xpubIdentity, read: readOrigin,
	},
	Version:     versionRule(0),
	Proprietary: proprietaryRule,
}}

var inputRules = ruleSet{kind: "input", name: "an input map", types: map[uint64]rule{
	NonWitnessUTXO: singleRead("Input Non-witness UTXO", "input non-witness utxo",
		"Non-witness utxo key is more than one byte type", readTx),
	WitnessUTXO: singleRead("Input Witness UTXO", "input witness utxo",
		"Witness utxo key is more than one byte type", readOutput),
	PartialSig: {
		sizes: withKey, size: "Size of key was not the expected size for the type partial signature pubkey",
		pubKey:    true,
		duplicate: "Duplicate Key, input partial signature for pubkey already provided", value: checkSigEncoding,
	},
	SigHash: singleRead("Input Sighash Type", "input sighash type",
		"Sighash type key is more than one byte type", exactly(4)),
	RedeemScript: single("Input redeemScript", "input redeemScript",
		"Input redeemScript key is more than one byte type", nil),
	WitnessScript: single("Input witnessScript", "input witnessScript",
		"Input witnessScript key is more than one byte type", nil),
	Derivation: derivationRule,
	FinalScriptSig: single("Input Final scriptSig", "input final scriptSig",
		"Final scriptSig key is more than one byte type", nil),
	FinalWitness: singleRead("Input Final scriptWitness", "input final scriptWitness",
		"Final scriptWitness key is more than one byte type", readWitness),
	Ripemd160: preimage("ripemd160", "RIPEMD160", 20),
	Sha256:    preimage("sha256", "SHA256", 32),
	Hash160:   preimage("hash160", "Hash160", 20),
	Hash256:   preimage("hash256", "Hash256", 32),
	TapKeySig: single("Input Taproot Key Path Signature", "input Taproot key signature",
		"Input Taproot key signature key is more than one byte type",
		schnorrSize("Input Taproot key path signature")),
	TapScriptSig: {
		sizes: []int{65}, size: "Input Taproot script signature key is not 65 bytes",
		name:      "Input Taproot Script Path Signature",
		duplicate: "Duplicate Key, input Taproot script signature already provided",
		value:     schnorrSize("Input Taproot script path signature"),
	},
	TapLeaf: {
		key: checkControlBlock(""), key32: checkControlBlock("Input "),
		duplicate: "Duplicate Key, input Taproot leaf script already provided", value: checkLeaf,
	},
	TapDerivation:  tapDerivation("Input"),
	TapInternalKey: tapInternalKey("Input"),
	TapMerkleRoot: singleRead("Input Taproot Merkle Root", "input Taproot merkle root",
		"Input Taproot merkle root key is more than one byte type", exactly(32)),
	MusigParticipants: musigParticipants("Input"),
	MusigPubNonce: {
		sizes: []int{67, 99}, size: "Input musig2 pubnonce key is not expected size of 67 or 99 bytes",
		duplicate: "Duplicate Key, input musig2 pubnonce already provided", loose: 2, value: checkPubNonce,
		key32: checkMusigKeys,
	},
	MusigPartialSig: {
		sizes: []int{67, 99}, size: "Input musig2 partial sig key is not expected size of 67 or 99 bytes",
		duplicate: "Duplicate Key, input musig2 partial sig already provided", loose: 2, read: exactly(32),
		key32: checkMusigKeys,
	},
	Proprietary: proprietaryRule,
}}

var outputRules = ruleSet{kind: "output", name: "an output map", types: map[uint64]rule{
	OutRedeemScript: single("Output redeemScript", "output redeemScript",
		"Output redeemScript key is more than one byte type", nil),
	OutWitnessScript: single("Output witnessScript", "output witnessScript",
		"Output witnessScript key is more than one byte type", nil),
	OutDerivation:     derivationRule,
	OutTapInternalKey: tapInternalKey("Output"),
	OutTapTree: single("Output Taproot Tree Key", "output Taproot tree",
		"Output Taproot tree key is more than one byte type", checkTapTree),
	OutTapDerivation:     tapDerivation("Output"),
	OutMusigParticipants: musigParticipants("Output"),
	Proprietary:          proprietaryRule,
}}
