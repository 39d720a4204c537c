package chain

import (
	"context"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// Core's defaults for relaying (src/policy/policy.h, kernel/mempool_options.h),
// by which clients choose fees.
const (
	mempoolBytes      = 300_000_000
	minRelayFee       = 100     // per 1000 virtual bytes
	maxDataCarrierLen = 100_000 // bytes of OP_RETURN outputs
)

func getMempoolInfo() command.Command {
	return command.Command{
		Name:     "getmempoolinfo",
		Category: command.Blockchain,
		Summary:  "Returns the state of the memory pool. This node keeps no unconfirmed transactions: its pool is empty.",
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Bool, Key: "loaded", Help: "whether a stored pool was read"},
			{Type: command.Number, Key: "size", Help: "number of transactions"},
			{Type: command.Number, Key: "bytes", Help: "their virtual size"},
			{Type: command.Number, Key: "usage", Help: "bytes of memory used"},
			{Type: command.Amount, Key: "total_fee", Help: "their fees"},
			{Type: command.Number, Key: "maxmempool", Help: "bytes of memory that may be used"},
			{Type: command.Amount, Key: "mempoolminfee", Help: "least fee of a transaction for 1000 virtual bytes"},
			{Type: command.Amount, Key: "minrelaytxfee", Help: "least fee to be relayed for 1000 virtual bytes"},
			{Type: command.Amount, Key: "incrementalrelayfee", Help: "what a replacement must pay more for 1000 virtual bytes"},
			{Type: command.Number, Key: "unbroadcastcount", Help: "transactions that no peer has asked for yet"},
			{Type: command.Bool, Key: "fullrbf", Help: "whether any transaction may be replaced"},
			{Type: command.Bool, Key: "permitbaremultisig", Help: "whether bare multisig outputs are relayed"},
			{Type: command.Number, Key: "maxdatacarriersize", Help: "bytes of OP_RETURN outputs that are relayed"},
		}}},
		Examples: []string{`[]`},
		Run: func(context.Context, *command.Args) (any, error) {
			return mempoolInfo{
				Loaded:         true,
				MaxMempool:     mempoolBytes,
				MempoolMinFee:  minRelayFee,
				MinRelayFee:    minRelayFee,
				IncrementalFee: minRelayFee,
				FullRBF:        true,
				BareMultisig:   true,
				MaxDataCarrier: maxDataCarrierLen,
			}, nil
		},
	}
}

// mempoolInfo is what getmempoolinfo returns.
type mempoolInfo struct {
	Loaded         bool            `json:"loaded"`
	Size           int             `json:"size"`
	Bytes          int             `json:"bytes"`
	Usage          int             `json:"usage"`
	TotalFee       jsontree.Amount `json:"total_fee"`
	MaxMempool     int             `json:"maxmempool"`
	MempoolMinFee  jsontree.Amount `json:"mempoolminfee"`
	MinRelayFee    jsontree.Amount `json:"minrelaytxfee"`
	IncrementalFee jsontree.Amount `json:"incrementalrelayfee"`
	Unbroadcast    int             `json:"unbroadcastcount"`
	FullRBF        bool            `json:"fullrbf"`
	BareMultisig   bool            `json:"permitbaremultisig"`
	MaxDataCarrier int             `json:"maxdatacarriersize"`
}
