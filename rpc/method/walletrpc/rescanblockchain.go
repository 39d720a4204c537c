package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var (
	errStartHeight = command.Error{Code: command.InvalidParameter, Message: "Invalid start_height"}
	errStopHeight  = command.Error{Code: command.InvalidParameter, Message: "Invalid stop_height"}
	errStopBefore  = command.Error{
		Code: command.InvalidParameter, Message: "stop_height must be greater than start_height",
	}
)

func (m *methods) rescanBlockchain() command.Command {
	return command.Command{
		Name:     "rescanblockchain",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Looks through the chain for the wallet's transactions again.\n" +
			"With the block filter index this is much faster. Meanwhile getwalletinfo tells how far it is.",
		Params: []command.Param{
			{Name: "start_height", Type: command.Number, Default: "0", Help: "height of the first block"},
			{
				Name: "stop_height", Type: command.Number, Optional: true,
				Help: "height of the last block; without it blocks count that come meanwhile",
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Number, Key: "start_height", Help: "height of the first block"},
			{
				Type: command.Number, Key: "stop_height",
				Help: "height of the last block that was looked at, null where none was",
			},
		}}},
		Examples: []string{`[100000, 120000]`},
		Run:      m.on(rescan),
	}
}

func rescan(ctx context.Context, w chosen, a *command.Args) (any, error) {
	s, err := w.state(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.needIdle(); err != nil {
		return nil, err
	}
	q, err := readRescan(a, s.LastProcessedHeight)
	if err != nil {
		return nil, err
	}
	got, err := ask.Ask(ctx, w.ref, q)
	if err != nil {
		return nil, err
	}
	return struct {
		Start int32  `json:"start_height"`
		Stop  *int32 `json:"stop_height"`
	}(got), nil
}

// readRescan reads which blocks to look through, up to the wallet's last one.
func readRescan(a *command.Args, tip int32) (q messages.Rescan, err error) {
	if q.Start, err = a.Int32Or(0, 0); err != nil {
		return q, err
	}
	if a.Has(0) && (q.Start < 0 || q.Start > tip) {
		return q, errStartHeight
	}
	if !a.Has(1) {
		return q, nil
	}
	stop, err := a.Int32(1)
	if err != nil {
		return q, err
	}
	if stop < 0 || stop > tip {
		return q, errStopHeight
	}
	if stop < q.Start {
		return q, errStopBefore
	}
	q.Stop = &stop
	return q, nil
}
