package chainrpc

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func scanTxOutSet(d *Deps) command.Command {
	s := &coinScan{deps: d, net: d.Network.Descriptors()}
	return command.Command{
		Name:     "scantxoutset",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns the unspent outputs that pay to a set of output scripts.\n" +
			"Descriptors with a wildcard are derived up to index 1000 unless a range is given.",
		Params:  []command.Param{scanParams[0], scanParams[1]},
		Results: coinScanResults,
		Examples: []string{
			`["start", ["raw(76a91411b366edfc0a8b66feebae5c2e25a7b6a5d1cf3188ac)#fm24fxxy"]]`,
			`["status"]`,
			`["abort"]`,
		},
		Run: s.run,
		Control: func(a *command.Args) bool {
			action, _ := a.String(0)
			return action == scanStatus || action == scanAbort
		},
	}
}

var coinScanResults = []command.Result{
	{Type: command.Object, When: "when action=='start'", Inner: []command.Result{
		{Type: command.Bool, Key: "success", Help: "false when the scan was aborted"},
		{Type: command.Number, Key: "txouts", Help: "number of unspent outputs that were looked at"},
		{Type: command.Number, Key: "height", Help: "height of the tip at which the scan was made"},
		{Type: command.Hex, Key: "bestblock", Help: "hash of that tip"},
		{Type: command.Array, Key: "unspents", Help: "what was found", Inner: []command.Result{
			{Type: command.Object, Inner: []command.Result{
				{Type: command.Hex, Key: "txid", Help: "id of the transaction"},
				{Type: command.Number, Key: "vout", Help: "index of the output"},
				{Type: command.Hex, Key: "scriptPubKey", Help: "its script"},
				{Type: command.String, Key: "desc", Help: "descriptor of this script alone"},
				{Type: command.Amount, Key: "amount", Help: "its value"},
				{Type: command.Bool, Key: "coinbase", Help: "whether a coinbase created it"},
				{Type: command.Number, Key: "height", Help: "height of its block"},
				{Type: command.Hex, Key: "blockhash", Help: "hash of its block"},
				{Type: command.Number, Key: "confirmations", Help: "confirmations at the tip of the scan"},
			}},
		}},
		{Type: command.Amount, Key: "total_amount", Help: "sum of the values"},
	}},
	{Type: command.Object, When: "when action=='status' and a scan is running", Inner: []command.Result{
		{Type: command.Number, Key: "progress", Help: "percentage done, estimated; of the stage if there is one"},
	}},
	{Type: command.Null, When: "when action=='status' and no scan is running"},
	{Type: command.Bool, When: "when action=='abort'", Help: "whether there was a scan to end"},
}

// coinScan is the body of scantxoutset.
type coinScan struct {
	deps *Deps
	net  *descriptor.Network
}

func (s *coinScan) run(ctx context.Context, a *command.Args) (any, error) {
	action, err := a.String(0)
	if err != nil {
		return nil, err
	}
	switch action {
	case scanStart:
		return s.start(ctx, a)
	case scanStatus:
		status, err := ask.Ask(ctx, s.deps.Coins, messages.GetCoinScanStatus{})
		if err != nil || !status.Running {
			return nil, err
		}
		return struct {
			Progress int `json:"progress"`
		}{status.Progress}, nil
	case scanAbort:
		return ask.Ask(ctx, s.deps.Coins, messages.AbortCoinScan{})
	default:
		return nil, command.Errorf(command.InvalidParameter, "Invalid action '%s'", action)
	}
}

// start runs a scan. It holds the node's one slot from before its arguments are
// looked at until it returns.
func (s *coinScan) start(ctx context.Context, a *command.Args) (any, error) {
	slot, err := ask.Ask(ctx, s.deps.Coins, messages.ReserveCoinScan{})
	if errors.Is(err, messages.ErrCoinScanBusy) {
		return nil, errScanBusy
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		// As for scanblocks, this must not end with the caller.
		_, _ = ask.Ask(context.WithoutCancel(ctx), s.deps.Coins, messages.ReleaseCoinScan{Slot: slot.ID})
	}()
	if a.Len() < 2 {
		return nil, command.Error{
			Code: command.MiscError, Message: "scanobjects argument is required for the start action",
		}
	}
	sought := soughtScripts{places: map[string]scriptPlace{}}
	holder := newHolder(slot.Aborted, func(percent int, _ messages.ScanStage) {
		_, _ = ask.Ask(ctx, s.deps.Coins, messages.ReportCoinScan{Slot: slot.ID, Progress: percent})
	})
	err = expandObjects(ctx, s.deps, holder, a, s.net, sought.add)
	if err != nil && !errors.Is(err, errAborted) {
		return nil, err
	}
	// The answer to an aborted slot is an empty result too.
	found, err := ask.Ask(ctx, s.deps.Coins, messages.RunCoinScan{Slot: slot.ID, Scripts: sought.list, Hold: true})
	if err != nil {
		return nil, err
	}
	return s.result(ctx, holder, found, &sought)
}

// soughtScripts are the scripts of a scan, with where they come from.
type soughtScripts struct {
	list   [][]byte
	places map[string]scriptPlace
}

// scriptPlace is the first descriptor and index that has a script.
type scriptPlace struct {
	branch *descriptor.Descriptor
	index  uint32
}

func (s *soughtScripts) add(branch *descriptor.Descriptor, index uint32, scripts [][]byte) {
	for _, script := range scripts {
		if _, ok := s.places[string(script)]; !ok {
			s.places[string(script)] = scriptPlace{branch, index}
			s.list = append(s.list, script)
		}
	}
}

// describe returns the descriptor of one script alone.
func (s *soughtScripts) describe(script []byte) (string, error) {
	place := s.places[string(script)]
	solution, err := place.branch.Solve(place.index, script)
	if err != nil {
		return "", err
	}
	return solution.Text, nil
}

// coinScanResult is what a scan returns.
type coinScanResult struct {
	Success   bool            `json:"success"`
	Visited   int64           `json:"txouts"`
	Height    int32           `json:"height"`
	BestBlock chainhash.Hash  `json:"bestblock"`
	Unspents  []unspentResult `json:"unspents"`
	Total     jsontree.Amount `json:"total_amount"`
}

type unspentResult struct {
	TxID          chainhash.Hash  `json:"txid"`
	Index         uint32          `json:"vout"`
	Script        string          `json:"scriptPubKey"`
	Desc          string          `json:"desc"`
	Amount        jsontree.Amount `json:"amount"`
	Coinbase      bool            `json:"coinbase"`
	Height        int32           `json:"height"`
	BlockHash     chainhash.Hash  `json:"blockhash"`
	Confirmations int32           `json:"confirmations"`
}

// result describes what was found, up to an abort.
func (s *coinScan) result(
	ctx context.Context, h *holder, found messages.CoinScanResult, sought *soughtScripts,
) (any, error) {
	reader, err := s.deps.open()
	if err != nil {
		return nil, err
	}
	tip := reader.Lookup(&found.Tip.Hash)
	if tip == nil { // aborted before the set was there
		tip = reader.Active().Tip()
	}
	result := coinScanResult{
		Success: found.Completed, Visited: found.Visited, Height: tip.Height, BestBlock: tip.Hash,
		Unspents: make([]unspentResult, 0, len(found.Coins)),
	}
	for i := range found.Coins {
		if err := h.ended(ctx); errors.Is(err, errAborted) {
			result.Success = false
			break
		} else if err != nil {
			return nil, err
		}
		u, err := unspent(&found.Coins[i], tip, sought) //nolint:contextcheck // derives a single index, in microseconds
		if err != nil {
			return nil, err
		}
		result.Unspents = append(result.Unspents, u)
		result.Total += u.Amount
		h.report(float64(i+1) / float64(len(found.Coins)))
	}
	return result, nil
}

func unspent(c *messages.FoundCoin, tip *chainview.Block, sought *soughtScripts) (u unspentResult, err error) {
	desc, err := sought.describe(c.Script)
	if err != nil {
		return u, err
	}
	return unspentResult{
		TxID: c.Out.Hash, Index: c.Out.Index, Script: hex.EncodeToString(c.Script), Desc: desc,
		Amount: jsontree.Amount(c.Amount), Coinbase: c.Coinbase, Height: c.Height,
		BlockHash: tip.Ancestor(c.Height).Hash, Confirmations: tip.Height - c.Height + 1,
	}, nil
}
