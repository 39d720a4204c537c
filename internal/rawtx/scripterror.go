package rawtx

import (
	"errors"

	"github.com/btcsuite/btcd/txscript"
)

// Texts of Core's script errors (src/script/script_error.cpp).
const (
	textEvalFalse    = "Script evaluated without error but finished with a false/empty top stack element"
	textBadOpcode    = "Opcode missing or not understood"
	textSigDER       = "Non-canonical DER signature"
	textSchnorr      = "Invalid Schnorr signature"
	textMismatch     = "Witness program hash mismatch"
	textControlSize  = "Invalid Taproot control block size"
	textPubKeyType   = "Public key is neither compressed or uncompressed"
	textSchnorrSize  = "Invalid Schnorr signature size"
	textSchnorrType  = "Invalid Schnorr signature hash type"
	textUnknownError = "unknown error"

	textCleanStack     = "Stack size must be exactly one after execution"
	textWitnessEmpty   = "Witness program was passed an empty witness"
	textSignStack      = "Unable to sign input, invalid stack size (possibly missing key)"
	textSignNullFail   = "CHECK(MULTI)SIG failing with non-zero signature (possibly need more signatures)"
	textNullFail       = "Signature must be zero for failed CHECK(MULTI)SIG operation"
	textInvalidStack   = "Operation not valid with the current stack size"
	textWitnessVersion = "Witness version reserved for soft-fork upgrades"
)

// scriptTexts are Core's words for txscript's errors. Where txscript has
// several for one of Core's, they share its words.
var scriptTexts = map[txscript.ErrorCode]string{
	txscript.ErrEarlyReturn:                         "OP_RETURN was encountered",
	txscript.ErrEmptyStack:                          textEvalFalse,
	txscript.ErrEvalFalse:                           textEvalFalse,
	txscript.ErrScriptTooBig:                        "Script is too big",
	txscript.ErrElementTooBig:                       "Push value size limit exceeded",
	txscript.ErrTooManyOperations:                   "Operation limit exceeded",
	txscript.ErrStackOverflow:                       "Stack size limit exceeded",
	txscript.ErrInvalidPubKeyCount:                  "Pubkey count negative or limit exceeded",
	txscript.ErrInvalidSignatureCount:               "Signature count negative or greater than pubkey count",
	txscript.ErrVerify:                              "Script failed an OP_VERIFY operation",
	txscript.ErrEqualVerify:                         "Script failed an OP_EQUALVERIFY operation",
	txscript.ErrNumEqualVerify:                      "Script failed an OP_NUMEQUALVERIFY operation",
	txscript.ErrCheckSigVerify:                      "Script failed an OP_CHECKSIGVERIFY operation",
	txscript.ErrCheckMultiSigVerify:                 "Script failed an OP_CHECKMULTISIGVERIFY operation",
	txscript.ErrDisabledOpcode:                      "Attempted to use a disabled opcode",
	txscript.ErrReservedOpcode:                      textBadOpcode,
	txscript.ErrMalformedPush:                       textBadOpcode,
	txscript.ErrInvalidStackOperation:               textSignStack,
	txscript.ErrUnbalancedConditional:               "Invalid OP_IF construction",
	txscript.ErrMinimalData:                         "Data push larger than necessary",
	txscript.ErrInvalidSigHashType:                  "Signature hash type missing or not understood",
	txscript.ErrSigTooShort:                         textSigDER,
	txscript.ErrSigTooLong:                          textSigDER,
	txscript.ErrSigInvalidSeqID:                     textSigDER,
	txscript.ErrSigInvalidDataLen:                   textSigDER,
	txscript.ErrSigMissingSTypeID:                   textSigDER,
	txscript.ErrSigMissingSLen:                      textSigDER,
	txscript.ErrSigInvalidSLen:                      textSigDER,
	txscript.ErrSigInvalidRIntID:                    textSigDER,
	txscript.ErrSigZeroRLen:                         textSigDER,
	txscript.ErrSigNegativeR:                        textSigDER,
	txscript.ErrSigTooMuchRPadding:                  textSigDER,
	txscript.ErrSigInvalidSIntID:                    textSigDER,
	txscript.ErrSigZeroSLen:                         textSigDER,
	txscript.ErrSigNegativeS:                        textSigDER,
	txscript.ErrSigTooMuchSPadding:                  textSigDER,
	txscript.ErrSigHighS:                            "Non-canonical signature: S value is unnecessarily high",
	txscript.ErrNotPushOnly:                         "Only push operators allowed in signatures",
	txscript.ErrSigNullDummy:                        "Dummy CHECKMULTISIG argument must be zero",
	txscript.ErrPubKeyType:                          textPubKeyType,
	txscript.ErrCleanStack:                          textCleanStack,
	txscript.ErrNullFail:                            textSignNullFail,
	txscript.ErrWitnessMalleated:                    "Witness requires empty scriptSig",
	txscript.ErrWitnessMalleatedP2SH:                "Witness requires only-redeemscript scriptSig",
	txscript.ErrDiscourageUpgradableNOPs:            "NOPx reserved for soft-fork upgrades",
	txscript.ErrNegativeLockTime:                    "Negative locktime",
	txscript.ErrUnsatisfiedLockTime:                 "Locktime requirement not satisfied",
	txscript.ErrMinimalIf:                           "OP_IF/NOTIF argument must be minimal",
	txscript.ErrDiscourageUpgradableWitnessProgram:  textWitnessVersion,
	txscript.ErrWitnessProgramEmpty:                 textWitnessEmpty,
	txscript.ErrWitnessProgramMismatch:              textMismatch,
	txscript.ErrWitnessProgramWrongLength:           "Witness program has incorrect length",
	txscript.ErrWitnessUnexpected:                   "Witness provided for non-witness script",
	txscript.ErrWitnessPubKeyType:                   "Using non-compressed keys in segwit",
	txscript.ErrDiscourageOpSuccess:                 "OP_SUCCESSx reserved for soft-fork upgrades",
	txscript.ErrDiscourageUpgradeableTaprootVersion: "Taproot version reserved for soft-fork upgrades",
	txscript.ErrTapscriptCheckMultisig:              "OP_CHECKMULTISIG(VERIFY) is not available in tapscript",
	txscript.ErrDiscourageUpgradeablePubKeyType:     "Public key version reserved for soft-fork upgrades",
	txscript.ErrTaprootSigInvalid:                   textSchnorr,
	txscript.ErrTaprootMerkleProofInvalid:           textMismatch,
	txscript.ErrTaprootOutputKeyParityMismatch:      textMismatch,
	txscript.ErrControlBlockTooSmall:                textControlSize,
	txscript.ErrControlBlockTooLarge:                textControlSize,
	txscript.ErrControlBlockInvalidLength:           textControlSize,
	txscript.ErrInvalidTaprootSigLen:                textSchnorrSize,
	txscript.ErrTaprootPubkeyIsEmpty:                textPubKeyType,
	txscript.ErrTaprootMaxSigOps:                    "Too much signature validation relative to witness weight",
	txscript.ErrNonConstScriptCode:                  "Signature is found in scriptCode",
	txscript.ErrCodeSeparator:                       "Using OP_CODESEPARATOR in non-witness script",
}

// A ScriptError is why an input's scripts fail, in Core's words.
type ScriptError string

// Error implements error.
func (e ScriptError) Error() string { return string(e) }

// uncleanWitness is how txscript describes a witness that leaves more than one
// item. It has no code of its own.
const uncleanWitness = "witness program must have clean stack"

// scriptError puts an error of txscript into Core's words.
func scriptError(err error) error {
	if failure, ok := errors.AsType[txscript.Error](err); ok {
		if failure.Description == uncleanWitness {
			return ScriptError(textCleanStack)
		}
		if text, known := scriptTexts[failure.ErrorCode]; known {
			return ScriptError(text)
		}
	}
	return ScriptError(textUnknownError)
}

// ScriptReason returns Core's text for an error of txscript.
func ScriptReason(err error) string {
	if failure, ok := errors.AsType[txscript.Error](err); ok && failure.ErrorCode == txscript.ErrInvalidStackOperation {
		return "Operation not valid with the current stack size" // who signs is told otherwise
	}
	return scriptError(err).Error()
}
