package dialect

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

	// BlocksBelowReserve says that a block may be made to be lighter than what is reserved in it: there is room for the
	// reserved part alone then. Options that are refused are called specified ones.
	BlocksBelowReserve bool

	// PlainPrunedData has the error about an index that needs deleted data not say that undo data is meant, too.
	PlainPrunedData bool
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
		UnnamedWallets: true, AnyWalletName: true, AsksWatchOnly: true, EndsRanges: true,
		BlocksBelowReserve: true, PlainPrunedData: true,
	}
}
