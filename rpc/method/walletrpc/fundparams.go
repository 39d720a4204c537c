package walletrpc

import "github.com/seed61375155/trawl/rpc/command"

// Options of the methods that choose coins.
var (
	unsafeParam = command.Param{
		Name: "include_unsafe", Type: command.Bool, Default: "false",
		Help: "whether coins may be spent that are not safe: unconfirmed payments of others, and replacements.\n" +
			"Where one of them goes away, the transaction is worth nothing.",
	}
	minConfOptionParam = command.Param{
		Name: "minconf", Type: command.Number, Default: "0",
		Help: "least number of confirmations of coins that are added",
	}
	maxConfOptionParam = command.Param{
		Name: "maxconf", Type: command.Number, Optional: true,
		Help: "greatest number of confirmations of coins that are added",
	}
	changeTypeParam = command.Param{
		Name: "change_type", Type: command.String, Default: "set by -changetype",
		Help: "type of the address for change, where none is given: " + addressTypes,
	}
	inputWeightsParam = command.Param{
		Name: "input_weights", Type: command.Array, Optional: true, Help: "what inputs weigh when they are signed",
		Inner: []command.Param{{Type: command.Object, Optional: true, Inner: []command.Param{
			{Name: "txid", Type: command.Hex, Help: "id of the transaction with the output"},
			{Name: "vout", Type: command.Number, Help: "number of the output"},
			{Name: "weight", Type: command.Number, Help: "the most that the whole input weighs"},
		}}},
	}
	maxWeightParam = command.Param{
		Name: "max_tx_weight", Type: command.Number, Default: "400000",
		Help: "the most that the transaction may weigh; it is an error if that does not go",
	}
)

// fundParams are the options that all of them have.
var fundParams = []command.Param{
	confTargetParam, estimateModeParam, replaceableParam,
	{
		Name: "solving_data", Type: command.Object, Optional: true,
		Help: "how to spend inputs that are not the wallet's, to estimate their size",
		Inner: []command.Param{
			{
				Name: "pubkeys", Type: command.Array, Default: "[]", Help: "public keys",
				Inner: []command.Param{{Name: "pubkey", Type: command.Hex, Optional: true, Help: "a public key"}},
			},
			{
				Name: "scripts", Type: command.Array, Default: "[]",
				Help:  "scripts that outputs pay to by their hashes",
				Inner: []command.Param{{Name: "script", Type: command.Hex, Optional: true, Help: "a script"}},
			},
			{
				Name: "descriptors", Type: command.Array, Default: "[]", Help: "descriptors of the outputs",
				Inner: []command.Param{
					{Name: "descriptor", Type: command.String, Optional: true, Secret: true, Help: "a descriptor"},
				},
			},
		},
	},
}
