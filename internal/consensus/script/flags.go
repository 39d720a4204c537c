package script

// Flags are the rules that hold beside those that always did.
//
// [Witness] needs [P2SH], and [CleanStack] needs both: without them they do not
// make a soft fork.
type Flags uint32

// The rules, by the names and in the order of Bitcoin Core's.
const (
	P2SH                               Flags = 1 << iota // BIP16
	StrictEnc                                            // keys and signatures of defined forms, hash types included
	DERSig                                               // BIP66
	LowS                                                 // signatures with the smaller S
	NullDummy                                            // BIP147
	SigPushOnly                                          // scripts of inputs only push
	MinimalData                                          // pushes and numbers of the shortest form
	DiscourageUpgradableNOPs                             // NOPs without a meaning fail
	CleanStack                                           // one item is left
	CheckLockTimeVerify                                  // BIP65
	CheckSequenceVerify                                  // BIP112
	Witness                                              // BIP141 and BIP143
	DiscourageUpgradableWitnessProgram                   // witness programs without a meaning fail
	MinimalIf                                            // conditions in witness scripts of version 0 are empty or 1
	NullFail                                             // signatures that fail are empty
	WitnessPubKeyType                                    // keys in witness scripts of version 0 are compressed
	// ConstScriptCode: no OP_CODESEPARATOR, and nothing to delete, in legacy scripts.
	ConstScriptCode
	Taproot                            // BIP341 and BIP342
	DiscourageUpgradableTaprootVersion // leaf versions without a meaning fail
	DiscourageOpSuccess                // OP_SUCCESSx fails
	DiscourageUpgradablePubKeyType     // types of keys without a meaning fail in tapscripts
)

// blockFlags are the names of the rules that blocks keep to, in the order of the names.
var blockFlags = []struct {
	name string
	flag Flags
}{
	{"CHECKLOCKTIMEVERIFY", CheckLockTimeVerify},
	{"CHECKSEQUENCEVERIFY", CheckSequenceVerify},
	{"DERSIG", DERSig},
	{"NULLDUMMY", NullDummy},
	{"P2SH", P2SH},
	{"TAPROOT", Taproot},
	{"WITNESS", Witness},
}

// Names returns the names of those rules among f that blocks keep to, ascending.
func (f Flags) Names() []string {
	var names []string
	for _, one := range blockFlags {
		if f&one.flag != 0 {
			names = append(names, one.name)
		}
	}
	return names
}

// ReservedNOP4 makes OP_NOP4 fail outside of tapscripts. Chains that pay to P2MR
// outputs have given it a meaning there alone.
const ReservedNOP4 Flags = 1 << 31

// SignedMessage are the rules of signed messages that no transaction has to keep (BIP322): signatures are of the whole
// transaction, and no script has OP_CODESEPARATOR.
const SignedMessage Flags = 1 << 30

// Mandatory are the rules of blocks since all soft forks are active.
const Mandatory = P2SH | DERSig | NullDummy | CheckLockTimeVerify | CheckSequenceVerify | Witness | Taproot

// Standard are the rules of transactions that nodes relay.
const Standard = Mandatory | StrictEnc | MinimalData | DiscourageUpgradableNOPs | CleanStack | MinimalIf | NullFail |
	LowS | DiscourageUpgradableWitnessProgram | WitnessPubKeyType | ConstScriptCode |
	DiscourageUpgradableTaprootVersion | DiscourageOpSuccess | DiscourageUpgradablePubKeyType
