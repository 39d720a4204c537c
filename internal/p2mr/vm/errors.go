package vm

// An Error says why a spend is refused, in the reference's words.
type Error string

// Error implements error.
func (e Error) Error() string { return string(e) }

// The reasons that break a rule of consensus.
const (
	ErrMalleated        Error = "Witness requires empty scriptSig"
	ErrWitnessEmpty     Error = "Witness program was passed an empty witness"
	ErrControlSize      Error = "Invalid P2MR control block size"
	ErrControlBit       Error = "P2MR control byte bit 0 must be set"
	ErrMismatch         Error = "Witness program hash mismatch"
	ErrStackSize        Error = "Stack size limit exceeded"
	ErrPushSize         Error = "Push value size limit exceeded"
	ErrBadOpcode        Error = "Opcode missing or not understood"
	ErrCheckSig         Error = "OP_CHECKSIG(VERIFY) is not available in P2MR"
	ErrCheckMultiSig    Error = "OP_CHECKMULTISIG(VERIFY) is not available in tapscript"
	ErrValidationWeight Error = "Too much signature validation relative to witness weight"
	ErrPubKeyType       Error = "Public key is neither compressed or uncompressed"
	ErrSigSize          Error = "Invalid PQC signature size"
	ErrSigHashType      Error = "Invalid PQC signature hash type"
	ErrSig              Error = "PQC signature verification failed"
	ErrTemplate         Error = "Transaction template hash does not match"
	ErrStackOperation   Error = "Operation not valid with the current stack size"
	ErrAltStack         Error = "Operation not valid with the current altstack size"
	ErrMinimalIf        Error = "OP_IF/NOTIF argument must be minimal in tapscript"
	ErrCleanStack       Error = "Stack size must be exactly one after execution"
	ErrFalse            Error = "Script evaluated without error but finished with a false/empty top stack element"
	ErrNumber           Error = "unknown error"
	ErrNegativeLockTime Error = "Negative locktime"
	ErrLockTime         Error = "Locktime requirement not satisfied"
	ErrConditional      Error = "Invalid OP_IF construction"
	ErrVerify           Error = "Script failed an OP_VERIFY operation"
	ErrEqualVerify      Error = "Script failed an OP_EQUALVERIFY operation"
	ErrNumEqualVerify   Error = "Script failed an OP_NUMEQUALVERIFY operation"
	ErrReturn           Error = "OP_RETURN was encountered"
)

// The reasons of policy alone.
const (
	ErrUpgradableSuccess Error = "OP_SUCCESSx reserved for soft-fork upgrades"
	ErrUpgradableVersion Error = "Taproot version reserved for soft-fork upgrades"
	ErrUpgradableNOP     Error = "NOPx reserved for soft-fork upgrades"
	ErrMinimalData       Error = "Data push larger than necessary"
)
