package dialect

import (
	"errors"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/consensus/script"
)

// Answers are where versions of the reference answer the same call in different ways, and programs may rely on either.
// The zero value is those of the latest.
type Answers struct {
	// UnnamedWallets says that a new wallet may have an empty name: it lies in the directory of wallets itself.
	UnnamedWallets bool

	// AnyWalletName says that wallets are loaded by every name of their directory, as by ../w. New wallets never get a
	// name that leads out of the directory of wallets without being absolute.
	AnyWalletName bool

	// AsksWatchOnly says that a wallet that never has private keys looks at each of its descriptors when these are to
	// be listed with private keys. Else it refuses at once, before its passphrase is asked for.
	AsksWatchOnly bool

	// EndsRanges says that a wallet without private keys gives out no address beyond those that it has derived ahead,
	// even if it could derive more.
	EndsRanges bool

	// KeepsPolicyKeys says that descriptors are listed with keys inside of miniscript as they were given. Else these
	// keys are given at their last hardened steps, as all others.
	KeepsPolicyKeys bool

	// HidesOutputKeys says that packets are not told where the keys of taproot outputs come from, but for those that
	// several sign for.
	HidesOutputKeys bool

	// InternalUnlabelled says that no descriptor is imported with a label if the request says at all whether its
	// addresses are for change. Else those for change are not, and those with a range.
	InternalUnlabelled bool

	// FinalSweeps says that sendall without signal for replacement makes inputs that let no lock time count.
	FinalSweeps bool

	// SearchesByPlace says that the search for coins without change counts the places of its tree, and keeps apart
	// coins of one amount whose fees differ. Else it counts the coins that it adds.
	SearchesByPlace bool

	// PlainFeeErrors says that wallets do not tell which fee a balance did not cover. Nor do they name the options that
	// set the least fee rate.
	PlainFeeErrors bool

	// FeeReasons says that wallets tell by which threshold a fee rate was estimated.
	FeeReasons bool

	// BoolFunding says that fundrawtransaction takes true or false instead of options.
	BoolFunding bool

	// MixedKeys says that wallets are loaded that have keys of a descriptor both in the clear and encrypted.
	MixedKeys bool

	// SilentInputs says that the memory pool does not tell which input of a transaction is not standard.
	SilentInputs bool

	// FewScriptErrors says that reasons why a script failed are told as Bitcoin Core 30 has them.
	FewScriptErrors bool

	// FirstDevices says that the list of signing devices ends before a device that it has already, and that any text
	// may be a fingerprint.
	FirstDevices bool

	// OldLog says that the log has the lines of Bitcoin Core 30 that its users look for.
	OldLog bool

	// BlocksBelowReserve says that a block may be made to be lighter than what is reserved in it: there is room for the
	// reserved part alone then. Options that are refused are called specified ones.
	BlocksBelowReserve bool

	// PlainPrunedData has the error about an index that needs deleted data not say that undo data is meant, too.
	PlainPrunedData bool

	// ClockUptime has uptime say what the clock says, which may be set. Else it is the time that has passed.
	ClockUptime bool

	// StreamedProofs says that a proof that ends too early is refused in the words of another reader than Core's later
	// versions have.
	StreamedProofs bool
}

// UptimeClock returns the clock that uptime is read from, nil for none.
func (a Answers) UptimeClock(now func() time.Time) func() time.Time {
	if a.ClockUptime {
		return now
	}
	return nil
}

// ProofError returns why bytes are no proof of transactions.
func (a Answers) ProofError(err error) string {
	if a.StreamedProofs {
		return err.Error()
	}
	return strings.Replace(err.Error(), "DataStream", "SpanReader", 1)
}

// PrunedData is what that error adds to pruned data.
func (a Answers) PrunedData() string {
	if a.PlainPrunedData {
		return ""
	}
	return " (including undo data)"
}

// answers30 are those of Bitcoin Core 30.2 and of qbit.
func answers30() Answers {
	return Answers{
		UnnamedWallets: true, AnyWalletName: true, AsksWatchOnly: true, EndsRanges: true, KeepsPolicyKeys: true,
		HidesOutputKeys: true, InternalUnlabelled: true, FinalSweeps: true, SearchesByPlace: true,
		PlainFeeErrors: true, FeeReasons: true, BoolFunding: true, MixedKeys: true, SilentInputs: true,
		FewScriptErrors: true, FirstDevices: true, OldLog: true,
		BlocksBelowReserve: true, PlainPrunedData: true, ClockUptime: true, StreamedProofs: true,
	}
}

// ScriptError returns why a script failed in the words of the version spoken as.
func (n *Network) ScriptError(err error) error {
	if e, ok := errors.AsType[script.Error](err); ok && n.Answers.FewScriptErrors {
		return e.Coarse()
	}
	return err
}
