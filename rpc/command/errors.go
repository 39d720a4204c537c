package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// A Code is an error code of JSON-RPC or of Bitcoin Core (src/rpc/protocol.h).
type Code int

// Codes of JSON-RPC 2.0.
const (
	InvalidRequest Code = -32600
	MethodNotFound Code = -32601
	InvalidParams  Code = -32602
	InternalError  Code = -32603
	ParseError     Code = -32700
)

// General codes.
const (
	MiscError             Code = -1 // an exception in Core; also a wrong number of arguments
	TypeError             Code = -3
	InvalidAddressOrKey   Code = -5
	OutOfMemory           Code = -7
	InvalidParameter      Code = -8
	DatabaseError         Code = -20
	DeserializationError  Code = -22
	VerifyError           Code = -25
	VerifyRejected        Code = -26
	VerifyAlreadyInUTXOs  Code = -27
	InWarmup              Code = -28
	MethodDeprecated      Code = -32
	ClientNotConnected    Code = -9 // also: shutting down
	ClientInInitialSync   Code = -10
	NodeAlreadyAdded      Code = -23
	NodeNotAdded          Code = -24
	NodeNotConnected      Code = -29
	InvalidIPOrSubnet     Code = -30
	P2PDisabled           Code = -31
	ClientMempoolDisabled Code = -33
	NodeCapacityReached   Code = -34
	LimitExceeded         Code = -37
)

// Codes of wallets.
const (
	WalletError               Code = -4
	WalletInsufficientFunds   Code = -6
	WalletInvalidLabelName    Code = -11
	WalletKeypoolRanOut       Code = -12
	WalletUnlockNeeded        Code = -13
	WalletPassphraseIncorrect Code = -14
	WalletWrongEncState       Code = -15
	WalletEncryptionFailed    Code = -16
	WalletAlreadyUnlocked     Code = -17
	WalletNotFound            Code = -18
	WalletNotSpecified        Code = -19
	WalletAlreadyLoaded       Code = -35
	WalletAlreadyExists       Code = -36
)

// Error is a failure that the client gets in these words.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Errorf returns an [Error] with a formatted message.
func Errorf(code Code, format string, args ...any) Error {
	return Error{code, fmt.Sprintf(format, args...)}
}

// Error implements error.
func (e Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// As has errors.As find the error as a pointer, too.
func (e Error) As(target any) bool {
	p, ok := target.(**Error)
	if ok {
		*p = &e
	}
	return ok
}

// Usage is an error that clients get as the help of the method that returns it, with this code.
type Usage Code

// Error implements error.
func (Usage) Error() string { return "the method was not used as its help says" }

// A KnownError says how clients get an error of another package.
type KnownError struct {
	Err error // compared with errors.Is
	As  Error // an empty message stands for the text of the error itself
}

// shuttingDown is what ends a call when the server's context does.
var shuttingDown = KnownError{context.Canceled, Error{ClientNotConnected, "Shutting down"}}

// Reveal returns the client's error for err. It is false when nobody
// wrote words for the error: the client then learns nothing, and the caller
// should log it.
func (t *Table) Reveal(err error) (Error, bool) {
	if e, ok := errors.AsType[Error](err); ok {
		return e, true
	}
	if r, ok := errors.AsType[Refused](err); ok {
		return r.InBatch(), true
	}
	for _, k := range t.known {
		if !errors.Is(err, k.Err) {
			continue
		}
		if k.As.Message == "" {
			return Error{k.As.Code, err.Error()}, true
		}
		return k.As, true
	}
	if e, ok := errors.AsType[jsontree.TypeError](err); ok {
		return Error{TypeError, e.Error()}, true
	}
	if e, ok := errors.AsType[jsontree.ConversionError](err); ok {
		return Error{conversionCode(e), e.Error()}, true
	}
	return Error{InternalError, "Internal error"}, false
}

// conversionCode returns the code Core sends for a value that does not
// convert: amounts are checked by its RPC code, other numbers by UniValue,
// whose exceptions become miscellaneous errors.
func conversionCode(e jsontree.ConversionError) Code {
	switch e {
	case jsontree.ErrAmountKind, jsontree.ErrAmountSyntax, jsontree.ErrAmountRange:
		return TypeError
	default:
		return MiscError
	}
}
