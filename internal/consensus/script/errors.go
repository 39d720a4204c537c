package script

// An Error says why a spend is refused.
type Error uint8

// Error returns Bitcoin Core's words.
func (e Error) Error() string { return errorWords[e].words }

// Name returns the name that Bitcoin Core's test data has for the error.
func (e Error) Name() string { return errorWords[e.Coarse()].name }

// none is the success of what returns an Error.
const none Error = 0

// The reasons.
const (
	ErrUnknown Error = iota + 1
	ErrEvalFalse
	ErrReturn
	ErrScriptSize
	ErrPushSize
	ErrOpCount
	ErrStackSize
	ErrSigCount
	ErrPubKeyCount
	ErrVerify
	ErrEqualVerify
	ErrCheckMultiSigVerify
	ErrCheckSigVerify
	ErrNumEqualVerify
	ErrBadOpcode
	ErrDisabledOpcode
	ErrInvalidStackOperation
	ErrInvalidAltStackOperation
	ErrUnbalancedConditional
	ErrNegativeLockTime
	ErrUnsatisfiedLockTime
	ErrSigHashType
	ErrSigDER
	ErrMinimalData
	ErrSigPushOnly
	ErrSigHighS
	ErrSigNullDummy
	ErrPubKeyType
	ErrCleanStack
	ErrMinimalIf
	ErrNullFail
	ErrDiscourageUpgradableNOPs
	ErrDiscourageUpgradableWitnessProgram
	ErrDiscourageUpgradableTaprootVersion
	ErrDiscourageOpSuccess
	ErrDiscourageUpgradablePubKeyType
	ErrWitnessProgramWrongLength
	ErrWitnessProgramWitnessEmpty
	ErrWitnessProgramMismatch
	ErrWitnessMalleated
	ErrWitnessMalleatedP2SH
	ErrWitnessUnexpected
	ErrWitnessPubKeyType
	ErrSchnorrSigSize
	ErrSchnorrSigHashType
	ErrSchnorrSig
	ErrTaprootWrongControlSize
	ErrTapscriptValidationWeight
	ErrTapscriptCheckMultiSig
	ErrTapscriptMinimalIf
	ErrOpCodeSeparator
	ErrSigFindAndDelete

	// ErrEmptyPubKey and the next two are reasons that later versions of Bitcoin Core tell apart: see [Error.Coarse].
	ErrEmptyPubKey // in a tapscript
	ErrNumber      // too long, or not of the shortest form
	ErrNoCondition // OP_IF or OP_NOTIF finds nothing on the stack
)

// Coarse returns the reason that Bitcoin Core 30 has for the same failure.
func (e Error) Coarse() Error {
	switch e { //nolint:exhaustive // all others are the same
	case ErrEmptyPubKey:
		return ErrPubKeyType
	case ErrNumber:
		return ErrUnknown
	case ErrNoCondition:
		return ErrUnbalancedConditional
	}
	return e
}

// errorWords are the words and names of the errors, by their numbers.
var errorWords = [256]struct{ name, words string }{
	none:       {"OK", "No error"},
	ErrUnknown: {"UNKNOWN_ERROR", "unknown error"},
	ErrEvalFalse: {
		"EVAL_FALSE", "Script evaluated without error but finished with a false/empty top stack element",
	},
	ErrReturn:              {"OP_RETURN", "OP_RETURN was encountered"},
	ErrScriptSize:          {"SCRIPT_SIZE", "Script is too big"},
	ErrPushSize:            {"PUSH_SIZE", "Push value size limit exceeded"},
	ErrOpCount:             {"OP_COUNT", "Operation limit exceeded"},
	ErrStackSize:           {"STACK_SIZE", "Stack size limit exceeded"},
	ErrSigCount:            {"SIG_COUNT", "Signature count negative or greater than pubkey count"},
	ErrPubKeyCount:         {"PUBKEY_COUNT", "Pubkey count negative or limit exceeded"},
	ErrVerify:              {"VERIFY", "Script failed an OP_VERIFY operation"},
	ErrEqualVerify:         {"EQUALVERIFY", "Script failed an OP_EQUALVERIFY operation"},
	ErrCheckMultiSigVerify: {"CHECKMULTISIGVERIFY", "Script failed an OP_CHECKMULTISIGVERIFY operation"},
	ErrCheckSigVerify:      {"CHECKSIGVERIFY", "Script failed an OP_CHECKSIGVERIFY operation"},
	ErrNumEqualVerify:      {"NUMEQUALVERIFY", "Script failed an OP_NUMEQUALVERIFY operation"},
	ErrBadOpcode:           {"BAD_OPCODE", "Opcode missing or not understood"},
	ErrDisabledOpcode:      {"DISABLED_OPCODE", "Attempted to use a disabled opcode"},
	ErrInvalidStackOperation: {
		"INVALID_STACK_OPERATION", "Operation not valid with the current stack size",
	},
	ErrInvalidAltStackOperation: {
		"INVALID_ALTSTACK_OPERATION", "Operation not valid with the current altstack size",
	},
	ErrUnbalancedConditional:    {"UNBALANCED_CONDITIONAL", "Invalid OP_IF construction"},
	ErrNegativeLockTime:         {"NEGATIVE_LOCKTIME", "Negative locktime"},
	ErrUnsatisfiedLockTime:      {"UNSATISFIED_LOCKTIME", "Locktime requirement not satisfied"},
	ErrSigHashType:              {"SIG_HASHTYPE", "Signature hash type missing or not understood"},
	ErrSigDER:                   {"SIG_DER", "Non-canonical DER signature"},
	ErrMinimalData:              {"MINIMALDATA", "Data push larger than necessary"},
	ErrSigPushOnly:              {"SIG_PUSHONLY", "Only push operators allowed in signatures"},
	ErrSigHighS:                 {"SIG_HIGH_S", "Non-canonical signature: S value is unnecessarily high"},
	ErrSigNullDummy:             {"SIG_NULLDUMMY", "Dummy CHECKMULTISIG argument must be zero"},
	ErrPubKeyType:               {"PUBKEYTYPE", "Public key is neither compressed or uncompressed"},
	ErrCleanStack:               {"CLEANSTACK", "Stack size must be exactly one after execution"},
	ErrMinimalIf:                {"MINIMALIF", "OP_IF/NOTIF argument must be minimal"},
	ErrNullFail:                 {"NULLFAIL", "Signature must be zero for failed CHECK(MULTI)SIG operation"},
	ErrDiscourageUpgradableNOPs: {"DISCOURAGE_UPGRADABLE_NOPS", "NOPx reserved for soft-fork upgrades"},
	ErrDiscourageUpgradableWitnessProgram: {
		"DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM", "Witness version reserved for soft-fork upgrades",
	},
	ErrDiscourageUpgradableTaprootVersion: {
		"DISCOURAGE_UPGRADABLE_TAPROOT_VERSION", "Taproot version reserved for soft-fork upgrades",
	},
	ErrDiscourageOpSuccess: {"DISCOURAGE_OP_SUCCESS", "OP_SUCCESSx reserved for soft-fork upgrades"},
	ErrDiscourageUpgradablePubKeyType: {
		"DISCOURAGE_UPGRADABLE_PUBKEYTYPE", "Public key version reserved for soft-fork upgrades",
	},
	ErrWitnessProgramWrongLength:  {"WITNESS_PROGRAM_WRONG_LENGTH", "Witness program has incorrect length"},
	ErrWitnessProgramWitnessEmpty: {"WITNESS_PROGRAM_WITNESS_EMPTY", "Witness program was passed an empty witness"},
	ErrWitnessProgramMismatch:     {"WITNESS_PROGRAM_MISMATCH", "Witness program hash mismatch"},
	ErrWitnessMalleated:           {"WITNESS_MALLEATED", "Witness requires empty scriptSig"},
	ErrWitnessMalleatedP2SH:       {"WITNESS_MALLEATED_P2SH", "Witness requires only-redeemscript scriptSig"},
	ErrWitnessUnexpected:          {"WITNESS_UNEXPECTED", "Witness provided for non-witness script"},
	ErrWitnessPubKeyType:          {"WITNESS_PUBKEYTYPE", "Using non-compressed keys in segwit"},
	ErrSchnorrSigSize:             {"SCHNORR_SIG_SIZE", "Invalid Schnorr signature size"},
	ErrSchnorrSigHashType:         {"SCHNORR_SIG_HASHTYPE", "Invalid Schnorr signature hash type"},
	ErrSchnorrSig:                 {"SCHNORR_SIG", "Invalid Schnorr signature"},
	ErrTaprootWrongControlSize:    {"TAPROOT_WRONG_CONTROL_SIZE", "Invalid Taproot control block size"},
	ErrTapscriptValidationWeight: {
		"TAPSCRIPT_VALIDATION_WEIGHT", "Too much signature validation relative to witness weight",
	},
	ErrTapscriptCheckMultiSig: {"TAPSCRIPT_CHECKMULTISIG", "OP_CHECKMULTISIG(VERIFY) is not available in tapscript"},
	ErrTapscriptMinimalIf:     {"TAPSCRIPT_MINIMALIF", "OP_IF/NOTIF argument must be minimal in tapscript"},
	ErrOpCodeSeparator:        {"OP_CODESEPARATOR", "Using OP_CODESEPARATOR in non-witness script"},
	ErrSigFindAndDelete:       {"SIG_FINDANDDELETE", "Signature is found in scriptCode"},

	ErrEmptyPubKey: {words: "Empty public key in tapscript"},
	ErrNumber:      {words: "Script number overflowed or is non-minimally encoded"},
	ErrNoCondition: {words: "Operation not valid with the current stack size"},
}
