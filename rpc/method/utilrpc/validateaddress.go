package utilrpc

import (
	"context"
	"encoding/hex"
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

type validAddress struct {
	IsValid bool   `json:"isvalid"`
	Address string `json:"address"`
	Script  string `json:"scriptPubKey"`
	arg.AddressDetail
}

type invalidAddress struct {
	IsValid   bool   `json:"isvalid"`
	Locations []int  `json:"error_locations"`
	Error     string `json:"error"`
}

func validateAddress(d Deps) command.Command {
	return command.Command{
		Name:     "validateaddress",
		Category: command.Util,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Return information about the given bitcoin address.",
		Params: []command.Param{
			{Name: "address", Type: command.String, Help: "The address"},
		},
		Results: []command.Result{{Type: command.Object, Inner: slices.Concat([]command.Result{
			{Type: command.Bool, Key: "isvalid", Help: "Whether it is an address"},
			{Type: command.String, Key: "address", Optional: true, Help: "The address in its usual form"},
			{Type: command.Hex, Key: "scriptPubKey", Optional: true, Help: "The output script"},
		}, arg.AddressDetailResults, []command.Result{
			{
				Type: command.Array, Key: "error_locations", Optional: true,
				Help:  "Where a mistyped bech32 address is probably wrong",
				Inner: []command.Result{{Type: command.Number, Help: "An index into the text"}},
			},
			{Type: command.String, Key: "error", Optional: true, Help: "Why it is no address"},
		})}},
		Examples: []string{`["bc1q09vm5lfy0j5reeulh4x5752q25uqqvz34hufdl"]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			return describeAddress(text, d.Net), nil
		},
	}
}

// describeAddress returns a validAddress or an invalidAddress.
func describeAddress(text string, net *descriptor.Network) any {
	script, err := descriptor.ScriptOfAddress(text, net)
	if err != nil {
		f := arg.AddressFaultOf(text, net)
		return invalidAddress{Locations: f.Locations, Error: f.Text}
	}
	usual, _ := descriptor.AddressOf(script, net)
	return validAddress{true, usual, hex.EncodeToString(script), arg.AddressDetailOf(script, net)}
}
