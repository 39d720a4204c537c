package mempoolrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (d *Deps) infoResults() []command.Result {
	list := []command.Result{
		{Type: command.Bool, Key: "loaded", Help: "whether a stored pool was read"},
		{Type: command.Number, Key: "size", Help: "number of transactions"},
		{Type: command.Number, Key: "bytes", Help: "their virtual size"},
		{Type: command.Number, Key: "usage", Help: "bytes of memory used"},
		{Type: command.Amount, Key: "total_fee", Help: "their fees"},
		{Type: command.Number, Key: "maxmempool", Help: "bytes of memory that may be used"},
		{Type: command.Amount, Key: "mempoolminfee", Help: "least fee of a transaction for 1000 virtual bytes"},
		{Type: command.Amount, Key: "minrelaytxfee", Help: "least fee to be relayed for 1000 virtual bytes"},
		{
			Type: command.Amount, Key: "incrementalrelayfee",
			Help: "what a replacement must pay more for 1000 virtual bytes",
		},
		{Type: command.Number, Key: "unbroadcastcount", Help: "transactions that no peer has asked for yet"},
		{
			Type: command.Bool, Key: "fullrbf", Until: 32, Switch: "fullrbf",
			Help: "whether any transaction may be replaced",
		},
		{Type: command.Bool, Key: "permitbaremultisig", Help: "whether bare multisig outputs are relayed"},
		{Type: command.Number, Key: "maxdatacarriersize", Help: "bytes of OP_RETURN outputs that are relayed"},
	}
	if d.Network.Clusters() {
		list = append(list,
			command.Result{Type: command.Number, Key: "limitclustercount", Help: "most transactions of a cluster"},
			command.Result{Type: command.Number, Key: "limitclustersize", Help: "largest virtual size of a cluster"},
			command.Result{Type: command.Bool, Key: "optimal", Help: "whether their order is known to be the best"},
		)
	}
	return list
}

func getMempoolInfo(d *Deps) command.Command {
	return command.Command{
		Name:     "getmempoolinfo",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary:  "Returns the state of the memory pool.",
		Results:  []command.Result{{Type: command.Object, Inner: d.infoResults()}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			info, err := ask.Ask(ctx, d.Pool, messages.GetPoolInfo{})
			shown := mempoolInfo{
				Loaded: info.Loaded, Size: info.Size, Bytes: info.VSize, Usage: info.Usage,
				TotalFee: jsontree.Amount(info.Fees), MaxMempool: info.MaxBytes,
				MempoolMinFee: jsontree.Amount(info.MinFee), MinRelayFee: jsontree.Amount(info.MinRelayFee),
				IncrementalFee: jsontree.Amount(info.IncrementalFee), Unbroadcast: info.Unbroadcast,
				BareMultisig: info.BareMultisig, MaxDataCarrier: info.DataCarrier,
			}
			if d.Network.DeprecatedLast {
				shown.fullRBFLast = &fullRBFLast{true}
			} else {
				shown.fullRBF = &fullRBF{true}
			}
			if c := info.Clusters; c != nil {
				shown.clusterInfo = &clusterInfo{c.Count, c.VSize, c.Optimal}
			}
			return shown, err
		},
	}
}

// mempoolInfo is what getmempoolinfo returns.
type mempoolInfo struct {
	Loaded         bool            `json:"loaded"`
	Size           int             `json:"size"`
	Bytes          int64           `json:"bytes"`
	Usage          int64           `json:"usage"`
	TotalFee       jsontree.Amount `json:"total_fee"`
	MaxMempool     int64           `json:"maxmempool"`
	MempoolMinFee  jsontree.Amount `json:"mempoolminfee"`
	MinRelayFee    jsontree.Amount `json:"minrelaytxfee"`
	IncrementalFee jsontree.Amount `json:"incrementalrelayfee"`
	Unbroadcast    int             `json:"unbroadcastcount"`
	*fullRBF
	BareMultisig   bool `json:"permitbaremultisig"`
	MaxDataCarrier int  `json:"maxdatacarriersize"`
	*clusterInfo
	*fullRBFLast
}

// fullRBF is in the middle of it, or at its end.
type (
	fullRBF struct {
		On bool `json:"fullrbf"`
	}
	fullRBFLast fullRBF
)

type clusterInfo struct {
	Count   int   `json:"limitclustercount"`
	Size    int64 `json:"limitclustersize"`
	Optimal bool  `json:"optimal"`
}
