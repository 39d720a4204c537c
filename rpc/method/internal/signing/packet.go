package signing

import (
	"github.com/seed61375155/trawl/rpc/command"
)

// Packet is a partially signed transaction that was signed as far as possible.
type Packet struct {
	PSBT     string `json:"psbt"`
	Complete bool   `json:"complete"`
	Hex      string `json:"hex,omitempty"` // if it is complete
}

// PacketResults declares a [Packet], with more members behind it.
func PacketResults(more ...command.Result) []command.Result {
	return []command.Result{{Type: command.Object, Inner: append([]command.Result{
		{Type: command.String, Key: "psbt", Help: "the partially signed transaction in base64"},
		{Type: command.Bool, Key: "complete", Help: "whether it has all signatures"},
		{Type: command.Hex, Key: "hex", Optional: true, Help: "the transaction, if it is complete"},
	}, more...)}}
}

// PacketParams declares the arguments of a method that signs a partially signed transaction. The second is
// the method's own.
func PacketParams(second command.Param) []command.Param {
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

// PacketOptions say how a partially signed transaction is signed.
type PacketOptions struct {
	HashType     *int32 // nil: the default of each input
	HashTypeName string // "" for the default
	Derivations  bool   // tell where keys come from
	Finalize     bool   // make final scripts where all signatures are there
}

// ReadPacketOptions reads the arguments behind the second of [PacketParams].
func ReadPacketOptions(a *command.Args) (o PacketOptions, err error) {
	const hashType, derivations, finalize = 2, 3, 4
	if o.HashType, err = WantedHashType(a.Value(hashType)); err != nil {
		return o, err
	}
	o.HashTypeName = a.Value(hashType).Text()
	if o.Derivations, err = a.BoolOr(derivations, true); err != nil {
		return o, err
	}
	o.Finalize, err = a.BoolOr(finalize, true)
	return o, err
}
