package walletfile

import (
	"errors"
	"fmt"
)

// Severity is the outcome of loading a wallet: the severity of its worst fault.
type Severity int

// The severities in ascending order. A wallet up to NonCritical can be used.
const (
	OK Severity = iota
	NeedRescan
	NeedRewrite
	ExternalSignerUnsupported
	NonCritical
	TooNew
	UnknownDescriptor
	LoadFail
	UnexpectedLegacy
	LegacyWallet
	Corrupt
)

// The reasons why a wallet cannot be used, one for each severity above
// NonCritical. [Severity.Message] has Core's words.
var (
	ErrTooNew            = errors.New("wallet needs a newer version")
	ErrUnknownDescriptor = errors.New("unrecognized descriptor")
	ErrLoadFail          = errors.New("wallet cannot be loaded")
	ErrUnexpectedLegacy  = errors.New("legacy record in a descriptor wallet")
	ErrLegacyWallet      = errors.New("legacy wallet")
	ErrCorrupt           = errors.New("wallet corrupted")
)

var severityErrors = map[Severity]error{
	TooNew:            ErrTooNew,
	UnknownDescriptor: ErrUnknownDescriptor,
	LoadFail:          ErrLoadFail,
	UnexpectedLegacy:  ErrUnexpectedLegacy,
	LegacyWallet:      ErrLegacyWallet,
	Corrupt:           ErrCorrupt,
}

// Message returns what Core says of the severity to its user, where file is the
// path of the wallet file and client the name of the program, as Bitcoin Core.
// For NeedRescan and NonCritical it is a warning, for OK it is empty.
func (s Severity) Message(file, client string) string {
	switch s {
	case OK:
		return ""
	case NeedRescan:
		return fmt.Sprintf("Error reading %s! Transaction data may be missing or incorrect. Rescanning wallet.", file)
	case NeedRewrite:
		return fmt.Sprintf("Wallet needed to be rewritten: restart %s to complete", client)
	case ExternalSignerUnsupported:
		return fmt.Sprintf(
			"Error loading %s: External signer wallet being loaded without external signer support compiled", file,
		)
	case NonCritical:
		return fmt.Sprintf("Error reading %s! All keys read correctly, but transaction data or address metadata may "+
			"be missing or incorrect.", file)
	case TooNew:
		return fmt.Sprintf("Error loading %s: Wallet requires newer version of %s", file, client)
	case UnknownDescriptor:
		return fmt.Sprintf("Unrecognized descriptor found. Loading wallet %s\n\nThe wallet might have been created "+
			"on a newer version.\nPlease try running the latest software version.\n", file)
	case UnexpectedLegacy:
		return fmt.Sprintf("Unexpected legacy entry in descriptor wallet found. Loading wallet %s\n\nThe wallet "+
			"might have been tampered with or created with malicious intent.\n", file)
	case LegacyWallet:
		return fmt.Sprintf("Error loading %s: Wallet is a legacy wallet. Please migrate to a descriptor wallet using "+
			"the migration tool (migratewallet RPC).", file)
	case Corrupt:
		return fmt.Sprintf("Error loading %s: Wallet corrupted", file)
	case LoadFail:
	}
	return "Error loading " + file
}
