package chainrpc

import (
	"context"
	"slices"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/rpc/command"
)

// maxStaleWindow is the most events that getorphanmetrics looks at.
const maxStaleWindow = 10_000

func getOrphanMetrics(d *Deps) command.Command {
	return command.Command{
		Name:     "getorphanmetrics",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns how many blocks became stale since the start of the program: a better branch took their\n" +
			"place, or they came too late. Transactions without parents, also called orphans, have no part in it.",
		Params: []command.Param{{
			Name: "window", Type: command.Number, Default: "1000",
			Help: "how many of the latest events to look at, 1 to 10000: blocks that were connected or became stale",
		}},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Number, Key: "window_blocks", Help: "the window"},
			{Type: command.Number, Key: "window_total", Help: "events in it"},
			{Type: command.Number, Key: "window_stale", Help: "stale blocks among them"},
			{Type: command.Number, Key: "orphan_rate", Help: "their share, 0 without events"},
			{Type: command.Number, Key: "lifetime_blocks_connected", Help: "blocks connected"},
			{Type: command.Number, Key: "lifetime_stale_blocks", Help: "stale blocks"},
			{Type: command.Number, Key: "lifetime_reorgs", Help: "reorganisations"},
			{Type: command.Number, Key: "deepest_reorg", Help: "most blocks that a reorganisation took back"},
			{Type: command.Number, Key: "last_stale_height", Help: "height of the last stale block, -1 without any"},
			{Type: command.Timestamp, Key: "last_stale_time", Help: "when it was noticed, 0 without any"},
			{
				Type: command.Number, Key: "persistent_stale_tip_count",
				Help: "known branches beside the active chain: see getchaintips",
			},
			{
				Type: command.Bool, Key: "alert",
				Help: "whether more than a tenth of the latest 1000 events are stale blocks",
			},
		}}},
		Examples: []string{`[]`, `[500]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			window, err := a.Int64Or(0, 1000)
			if err != nil {
				return nil, err
			}
			if window < 1 || window > maxStaleWindow {
				return nil, command.Errorf(command.InvalidParameter, "window must be between 1 and %d", maxStaleWindow)
			}
			return d.orphanMetrics(ctx, int(window))
		},
	}
}

// orphanMetrics are numbers about stale blocks.
type orphanMetrics struct {
	Window     int     `json:"window_blocks"`
	Total      int     `json:"window_total"`
	Stale      int     `json:"window_stale"`
	Rate       float64 `json:"orphan_rate"`
	Connected  uint64  `json:"lifetime_blocks_connected"`
	AllStale   uint64  `json:"lifetime_stale_blocks"`
	Reorgs     uint64  `json:"lifetime_reorgs"`
	Deepest    int32   `json:"deepest_reorg"`
	LastHeight int32   `json:"last_stale_height"`
	LastTime   int64   `json:"last_stale_time"`
	Tips       int     `json:"persistent_stale_tip_count"`
	Alert      bool    `json:"alert"`
}

func (d *Deps) orphanMetrics(ctx context.Context, window int) (any, error) {
	s, err := ask.Ask(ctx, d.Stale, nodemsg.GetStaleStats{Window: window})
	if err != nil {
		return nil, err
	}
	reader, err := d.open()
	if err != nil {
		return nil, err
	}
	tips := slices.DeleteFunc(reader.Tips(), reader.Active().Contains)
	return &orphanMetrics{
		Window: s.Window, Total: s.Events, Stale: s.StaleEvents, Rate: s.Rate(),
		Connected: s.Connected, AllStale: s.Stale, Reorgs: s.Reorgs, Deepest: s.DeepestFork,
		LastHeight: s.LastHeight, LastTime: s.LastTime, Tips: len(tips), Alert: s.Alarm,
	}, nil
}
