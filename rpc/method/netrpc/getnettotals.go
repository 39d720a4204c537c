package netrpc

import (
	"context"
	"time"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func getNetTotals(d *Deps) command.Command {
	return command.Command{
		Name:     "getnettotals",
		Category: command.Network,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns how many bytes went over the network, and the time.",
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Number, Key: "totalbytesrecv", Help: "bytes received"},
			{Type: command.Number, Key: "totalbytessent", Help: "bytes sent"},
			{Type: command.Number, Key: "timemillis", Help: "milliseconds since 1970"},
			{Type: command.Object, Key: "uploadtarget", Inner: []command.Result{
				{Type: command.Number, Key: "timeframe", Help: "seconds that the target is for"},
				{Type: command.Number, Key: "target", Help: "bytes to send at most; 0: no limit"},
				{Type: command.Bool, Key: "target_reached", Help: "whether that many were sent"},
				{Type: command.Bool, Key: "serve_historical_blocks", Help: "whether old blocks are still sent"},
				{Type: command.Number, Key: "bytes_left_in_cycle", Help: "bytes that may still be sent"},
				{Type: command.Number, Key: "time_left_in_cycle", Help: "seconds until the target begins anew"},
			}},
		}}},
		Examples: []string{`[]`},
		Run:      d.netTotals,
	}
}

type netTotals struct {
	Received uint64       `json:"totalbytesrecv"`
	Sent     uint64       `json:"totalbytessent"`
	Time     int64        `json:"timemillis"`
	Target   uploadTarget `json:"uploadtarget"`
}

// uploadTarget says how much may be sent.
type uploadTarget struct {
	Frame    int64  `json:"timeframe"`
	Target   uint64 `json:"target"`
	Reached  bool   `json:"target_reached"`
	Old      bool   `json:"serve_historical_blocks"`
	Bytes    uint64 `json:"bytes_left_in_cycle"`
	TimeLeft int64  `json:"time_left_in_cycle"`
}

// uploadFrame is the time that an upload target is for, in seconds.
const uploadFrame = 24 * 60 * 60

func (d *Deps) netTotals(ctx context.Context, _ *command.Args) (any, error) {
	state, err := tell(ctx, d, messages.GetNetwork{})
	if err != nil {
		return nil, err
	}
	return netTotals{
		Received: state.Received, Sent: state.Sent, Time: time.Now().UnixMilli(),
		Target: uploadTarget{
			Frame: uploadFrame, Target: state.Uploads.Limit, Reached: state.Uploads.Reached,
			Old: !state.Uploads.OldReached, Bytes: state.Uploads.Left,
			TimeLeft: int64(state.Uploads.Remains / time.Second),
		},
	}, nil
}
