package arg

import "github.com/seed61375155/trawl/rpc/command"

// SignedPacket is a partially signed transaction that was signed as far as possible.
type SignedPacket struct {
	PSBT     string `json:"psbt"`
	Complete bool   `json:"complete"`
	Hex      string `json:"hex,omitempty"` // if it is complete
}

// SignedPacketResults declares a [SignedPacket], with more members behind it.
func SignedPacketResults(more ...command.Result) []command.Result {
	return []command.Result{{Type: command.Object, Inner: append([]command.Result{
		{Type: command.String, Key: "psbt", Help: "the partially signed transaction in base64"},
		{Type: command.Bool, Key: "complete", Help: "whether it has all signatures"},
		{Type: command.Hex, Key: "hex", Optional: true, Help: "the transaction, if it is complete"},
	}, more...)}}
}

// SignPacketParams declares the arguments of a method that signs a partially signed transaction. The second is
// the method's own.
func SignPacketParams(second command.Param) []command.Param {
	return []command.Param{
		{Name: "psbt", Type: command.String, Help: "the partially signed transaction in base64"},
		second,
		HashTypeParam(),
		{
			Name: "bip32derivs", Type: command.Bool, Default: "true",
			Help: "whether it is told where keys come from (BIP32)",
		},
		{
			Name: "finalize", Type: command.Bool, Default: "true",
			Help: "whether inputs that have all signatures get their final scripts",
		},
	}
}

// SignOptions say how a partially signed transaction is signed.
type SignOptions struct {
	HashType     *int32 // nil: the default of each input
	HashTypeName string // "" for the default
	Derivations  bool   // tell where keys come from
	Finalize     bool   // make final scripts where all signatures are there
}

// ReadSignOptions reads the arguments behind the second of [SignPacketParams].
func ReadSignOptions(a *command.Args) (o SignOptions, err error) {
	const hashType, derivations, finalize = 2, 3, 4
	if o.HashType, err = wantedHashType(a.Value(hashType)); err != nil {
		return o, err
	}
	o.HashTypeName = a.Value(hashType).Text()
	if o.Derivations, err = a.BoolOr(derivations, true); err != nil {
		return o, err
	}
	o.Finalize, err = a.BoolOr(finalize, true)
	return o, err
}
