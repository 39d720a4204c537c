package chainrpc

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/versionbits"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func getDeploymentInfo(d *Deps) command.Command {
	return command.Command{
		Name:     "getdeploymentinfo",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns the state of every change of the consensus rules at a block.",
		Params: []command.Param{
			{Name: "blockhash", Type: command.Hex, Default: "hash of the tip", Help: "hash of the block"},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Hex, Key: "hash", Help: "hash of the block"},
			{Type: command.Number, Key: "height", Help: "its height"},
			{
				Type: command.Array, Key: "script_flags", Since: 32, Help: "rules of its scripts",
				Inner: []command.Result{{Type: command.String, Help: "name of a rule, in the order of the names"}},
			},
			{Type: command.UserKeys, Key: "deployments", Inner: []command.Result{
				{Type: command.Object, Key: "name", Help: "name of a deployment", Inner: deploymentResults},
			}},
		}}},
		Examples: []string{`[]`},
		Run:      func(_ context.Context, a *command.Args) (any, error) { return d.deploymentInfo(a) },
	}
}

// deploymentResults documents a deployment.
var deploymentResults = []command.Result{
	{Type: command.String, Key: "type", Help: `"buried" or "bip9"`},
	{Type: command.Number, Key: "height", Optional: true, Help: "first block under the rules, if that is known"},
	{Type: command.Bool, Key: "active", Help: "whether the rules hold for the next block"},
	{
		Type: command.Object, Key: "bip9", Optional: true, Help: "of a change that miners decide (BIP9)",
		Inner: []command.Result{
			{
				Type: command.Number, Key: "bit", Optional: true,
				Help: "bit of the block version that signals, while that matters",
			},
			{Type: command.Timestamp, Key: "start_time", Help: "median time at which signalling begins"},
			{Type: command.Timestamp, Key: "timeout", Help: "median time at which the change fails"},
			{Type: command.Number, Key: "min_activation_height", Help: "least height at which the rules can hold"},
			{Type: command.String, Key: "status", Help: `at the block: "defined", "started", "locked_in", "active" or "failed"`},
			{Type: command.Number, Key: "since", Help: "first block with this status"},
			{Type: command.String, Key: "status_next", Help: "status at the next block"},
			{
				Type: command.Object, Key: "statistics", Optional: true, Help: "of signalling in the block's period",
				Inner: []command.Result{
					{Type: command.Number, Key: "period", Help: "blocks of a period"},
					{Type: command.Number, Key: "elapsed", Help: "blocks of the period so far"},
					{Type: command.Number, Key: "count", Help: "those that signal"},
					{Type: command.Number, Key: "threshold", Optional: true, Help: "how many must signal"},
					{Type: command.Bool, Key: "possible", Optional: true, Help: "whether enough still can"},
				},
			},
			{
				Type: command.String, Key: "signalling", Optional: true,
				Help: "a # for each block that signals, a - for others",
			},
		},
	},
}

// deploymentsResult is what getdeploymentinfo returns.
type deploymentsResult struct {
	Hash        chainhash.Hash   `json:"hash"`
	Height      int32            `json:"height"`
	Flags       []string         `json:"script_flags"`
	Deployments jsontree.Members `json:"deployments"`
}

func (d *Deps) deploymentInfo(a *command.Args) (any, error) {
	b, err := d.blockOrTip(a)
	if err != nil {
		return nil, err
	}
	result := deploymentsResult{Hash: b.Hash, Height: b.Height, Flags: d.Network.BlockFlags(b).Names()}
	for i := range d.Network.Deployments {
		deployment := &d.Network.Deployments[i]
		switch {
		case deployment.Buried:
			result.add(deployment.Name, newBuried(deployment, b))
		case deployment.Start != dialect.NeverActive:
			result.add(deployment.Name, newSignalled(deployment, b))
		}
	}
	return result, nil
}

// blockOrTip returns the block whose hash is the first argument, the tip when
// there is none.
func (d *Deps) blockOrTip(a *command.Args) (*chainview.Block, error) {
	reader, err := d.open()
	if err != nil {
		return nil, err
	}
	if !a.Has(0) {
		return reader.Active().Tip(), nil
	}
	hash, err := arg.Hash(a.Value(0), "blockhash")
	if err != nil {
		return nil, err
	}
	return lookup(reader, &hash)
}

func (r *deploymentsResult) add(name string, state any) {
	r.Deployments = append(r.Deployments, jsontree.Member{Key: name, Value: state})
}

// buried is a deployment whose height is part of the rules.
type buried struct {
	Type   string `json:"type"`
	Active bool   `json:"active"`
	Height int32  `json:"height"`
}

func newBuried(d *dialect.Deployment, b *chainview.Block) buried {
	return buried{Type: "buried", Active: b.Height+1 >= d.Height, Height: d.Height}
}

// signalled is a deployment that miners decide.
type signalled struct {
	Type   string `json:"type"`
	Height *int32 `json:"height,omitempty"`
	Active bool   `json:"active"`
	BIP9   bip9   `json:"bip9"`
}

type bip9 struct {
	Bit                 *uint8          `json:"bit,omitempty"`
	Start               int64           `json:"start_time"`
	Timeout             int64           `json:"timeout"`
	MinActivationHeight int32           `json:"min_activation_height"`
	Status              string          `json:"status"`
	Since               int32           `json:"since"`
	StatusNext          string          `json:"status_next"`
	Statistics          *bip9Statistics `json:"statistics,omitempty"`
	Signalling          string          `json:"signalling,omitempty"`
}

type bip9Statistics struct {
	Period    int32  `json:"period"`
	Elapsed   int32  `json:"elapsed"`
	Count     int32  `json:"count"`
	Threshold *int32 `json:"threshold,omitempty"`
	Possible  *bool  `json:"possible,omitempty"`
}

func newSignalled(d *dialect.Deployment, b *chainview.Block) signalled {
	now, next := versionbits.StateAfter(d, b.Parent), versionbits.StateAfter(d, b)
	s := signalled{Type: "bip9", BIP9: bip9{
		Start:               d.Start,
		Timeout:             d.Timeout,
		MinActivationHeight: d.MinActivationHeight,
		Status:              now.String(),
		Since:               versionbits.Since(d, b.Parent),
		StatusNext:          next.String(),
	}}
	switch {
	case now == versionbits.Active:
		s.Height, s.Active = &s.BIP9.Since, true
	case next == versionbits.Active:
		s.Height, s.Active = new(b.Height+1), true
	}
	if now == versionbits.Started || now == versionbits.LockedIn {
		s.BIP9.Bit = &d.Bit
		s.BIP9.Signalling = signalling(d, b)
		s.BIP9.Statistics = newStatistics(d, b, now)
	}
	return s
}

// newStatistics counts the signals of the period that b is in. Once the change
// is locked in they decide nothing any more.
func newStatistics(d *dialect.Deployment, b *chainview.Block, state versionbits.State) *bip9Statistics {
	elapsed := elapsed(d, b)
	s := &bip9Statistics{
		Period:  d.Period,
		Elapsed: elapsed,
		Count:   versionbits.Count(d, b, b.Height+1-elapsed),
	}
	if state == versionbits.Started {
		s.Threshold = &d.Threshold
		s.Possible = new(d.Period-d.Threshold >= s.Elapsed-s.Count)
	}
	return s
}

// elapsed returns how many blocks of its period there are up to b.
func elapsed(d *dialect.Deployment, b *chainview.Block) int32 { return b.Height%d.Period + 1 }

// signalling draws which blocks of the period up to b signal.
func signalling(d *dialect.Deployment, b *chainview.Block) string {
	marks := make([]byte, elapsed(d, b))
	for i := len(marks) - 1; i >= 0; i-- {
		marks[i] = '-'
		if versionbits.Signals(b.Version(), d.Bit) {
			marks[i] = '#'
		}
		b = b.Parent
	}
	return string(marks)
}
