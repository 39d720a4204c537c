package netrpc

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// maxCommand is how long the name of a message may be, in bytes.
const maxCommand = 12

func sendMsgToPeer(d *Deps) command.Command {
	return command.Command{
		Name:     "sendmsgtopeer",
		Category: command.Hidden,
		About:    command.State,
		Summary:  "Sends a peer a message, whatever it is, for tests.",
		Params: []command.Param{
			{Name: "peer_id", Type: command.Number, Help: "number of the peer, from getpeerinfo"},
			{Name: "msg_type", Type: command.String, Help: "name of the message, of at most 12 bytes"},
			{Name: "msg", Type: command.Hex, Help: "what follows the message's header"},
		},
		Results:  []command.Result{{Type: command.Object, Help: "empty"}},
		Examples: []string{`[0, "addr", "ffffff"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			peer, err := a.Int64(0)
			if err != nil {
				return nil, err
			}
			name, err := a.String(1)
			if err != nil {
				return nil, err
			}
			if len(name) > maxCommand {
				return nil, command.Errorf(command.InvalidParameter,
					"Error: msg_type too long, max length is %d", maxCommand)
			}
			text, err := a.String(2)
			if err != nil {
				return nil, err
			}
			payload, err := hex.DecodeString(text)
			if err != nil {
				return nil, command.Error{
					Code: command.InvalidParameter, Message: "Error parsing input for msg",
				}
			}
			_, err = tell(ctx, d, messages.SendToPeer{ID: peer, Command: name, Payload: payload})
			if errors.Is(err, messages.ErrPeerNotFound) {
				err = command.Error{Code: command.MiscError, Message: "Error: Could not send message to peer"}
			}
			return struct{}{}, err
		},
	}
}
