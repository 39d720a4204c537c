package psbt

// Types of the global map.
const (
	UnsignedTx uint64 = 0x00
	XPub       uint64 = 0x01
	Version    uint64 = 0xfb
)

// Proprietary is the type, in all maps, of fields that somebody invented.
const Proprietary uint64 = 0xfc

// Types of inputs (BIP174, BIP371, BIP373).
const (
	NonWitnessUTXO    uint64 = 0x00
	WitnessUTXO       uint64 = 0x01
	PartialSig        uint64 = 0x02
	SigHash           uint64 = 0x03
	RedeemScript      uint64 = 0x04
	WitnessScript     uint64 = 0x05
	Derivation        uint64 = 0x06
	FinalScriptSig    uint64 = 0x07
	FinalWitness      uint64 = 0x08
	Ripemd160         uint64 = 0x0a
	Sha256            uint64 = 0x0b
	Hash160           uint64 = 0x0c
	Hash256           uint64 = 0x0d
	TapKeySig         uint64 = 0x13
	TapScriptSig      uint64 = 0x14
	TapLeaf           uint64 = 0x15
	TapDerivation     uint64 = 0x16
	TapInternalKey    uint64 = 0x17
	TapMerkleRoot     uint64 = 0x18
	MusigParticipants uint64 = 0x1a
	MusigPubNonce     uint64 = 0x1b
	MusigPartialSig   uint64 = 0x1c
)

// Types of outputs (BIP174, BIP371, BIP373).
const (
	OutRedeemScript      uint64 = 0x00
	OutWitnessScript     uint64 = 0x01
	OutDerivation        uint64 = 0x02
	OutTapInternalKey    uint64 = 0x05
	OutTapTree           uint64 = 0x06
	OutTapDerivation     uint64 = 0x07
	OutMusigParticipants uint64 = 0x08
)
