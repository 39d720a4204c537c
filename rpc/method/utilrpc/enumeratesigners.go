package utilrpc

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

// signer is a signing device.
type signer struct {
	Fingerprint string `json:"fingerprint"`
	Name        string `json:"name"`
}

func enumerateSigners(d Deps) command.Command {
	return command.Command{
		Name:     "enumeratesigners",
		Category: command.Signer,
		About:    command.Pure,
		Summary:  "Lists the signing devices that the program of -signer finds.",
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Array, Key: "signers", Help: "the devices", Inner: []command.Result{
				{Type: command.Object, Inner: []command.Result{
					{Type: command.Hex, Key: "fingerprint", Help: "fingerprint of the master key"},
					{Type: command.String, Key: "name", Help: "name of the device"},
				}},
			}},
		}}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			found, err := d.Signers(ctx)
			if err != nil {
				return nil, command.Error{Code: command.MiscError, Message: err.Error()}
			}
			shown := make([]signer, len(found))
			for i, s := range found {
				shown[i] = signer(s)
			}
			return struct {
				Signers []signer `json:"signers"`
			}{shown}, nil
		},
	}
}
