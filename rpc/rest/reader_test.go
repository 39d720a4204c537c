package rest_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/rest"
)

// read is a node whose headers, filters, transactions and outputs are read without calls.
type read struct{ answers }

// Do implements rest.Node.
func (r read) Do(ctx context.Context, method string, params []byte) ([]byte, error) {
	if method == "getblockheader" ||
		method == "getblockfilter" || method == "gettxout" ||
		method == "getrawtransaction" && strings.Contains(string(params), txid) {
		return nil, errors.New("a call for what is read: " + method)
	}
	return r.answers.Do(ctx, method, params)
}

// Reader implements rest.Node.
func (r read) Reader() command.Reader { return reader(r) }

type reader struct{ answers }

// Headers implements command.Reader.
func (reader) Headers(from *chainhash.Hash, count int) ([]byte, error) {
	headers := []byte{0xaa, 0xbb}
	if from.String() != tip {
		return nil, nil
	}
	return headers[:min(count, 2)], nil
}

// HeadersText implements command.Reader.
func (r reader) HeadersText(from *chainhash.Hash, count int) ([]byte, error) {
	var shown []string
	for _, hash := range []string{tip, next}[:min(count, 2)] {
		if from.String() == tip {
			shown = append(shown, r.answers[`getblockheader["`+hash+`"]`])
		}
	}
	return []byte("[" + strings.Join(shown, ",") + "]"), nil
}

// Filter implements command.Reader.
func (r reader) Filter(ctx context.Context, block *chainhash.Hash) ([]byte, error) {
	if text, ok := r.answers["!getblockfilter"]; ok {
		return nil, command.Error{Code: command.MiscError, Message: text}
	}
	result, err := r.Do(ctx, "getblockfilter", []byte(`["`+block.String()+`","basic"]`))
	if err != nil {
		return nil, err
	}
	digits, _, _ := strings.Cut(strings.TrimPrefix(string(result), `{"filter":"`), `"`)
	return hex.DecodeString(digits)
}

// FilterHeaders implements command.Reader.
func (r reader) FilterHeaders(_ context.Context, from *chainhash.Hash, count int) (list []chainhash.Hash, err error) {
	if text, ok := r.answers["!getblockfilter"]; ok {
		return nil, command.Error{Code: command.MiscError, Message: text}
	}
	if from.String() != tip {
		return nil, nil
	}
	for _, shown := range []string{txid, tip}[:min(count, 2)] {
		header, err := chainhash.NewHashFromStr(shown)
		if err != nil {
			return nil, err
		}
		list = append(list, *header)
	}
	return list, nil
}

// Spent implements command.Reader.
func (r reader) Spent(block *chainhash.Hash) ([]byte, error) {
	if err := r.noSpent(block); err != nil {
		return nil, err
	}
	return hex.DecodeString("02" + "00" + "01" + "0100000000000000" + "0151")
}

// Tx implements command.Reader.
func (reader) Tx(id *chainhash.Hash) ([]byte, error) {
	if id.String() != txid {
		return nil, nil
	}
	return []byte{1, 2}, nil
}

// TxText implements command.Reader.
func (reader) TxText(id *chainhash.Hash) ([]byte, error) {
	if id.String() != txid {
		return nil, nil
	}
	return []byte(`{"txid":"x","blockhash":"b","hex":"0102"}`), nil
}

// Unspent implements command.Reader.
func (r reader) Unspent(_ context.Context, q command.OutputQuery) (command.Unspent, error) {
	if text, ok := r.answers["!getmempoolinfo"]; ok && q.Pool {
		return command.Unspent{}, command.Error{Code: command.ClientMempoolDisabled, Message: text}
	}
	at, err := chainhash.NewHashFromStr(tip)
	found := command.Unspent{Tip: *at, Height: 7, Coins: make([]command.UnspentOutput, len(q.Outputs))}
	for i, out := range q.Outputs {
		if out.Hash.String() != txid || out.Index != 1 {
			continue
		}
		found.Coins[i].Height = 5
		if q.Pool {
			found.Coins[i].Height = 1<<31 - 1
		}
		if found.Coins[i].Output = []byte(hello + "}"); !q.Text {
			found.Coins[i].Output, err = hex.DecodeString("0100000000000000" + "0151")
		}
	}
	return found, err
}

// BlockText implements command.Reader.
func (reader) BlockText(block *chainhash.Hash, details bool) ([]byte, error) {
	return fmt.Appendf(nil, `{"hash":"%v","details":%v}`, block, details), nil
}

// A block without its witnesses is shown as it is stored where that can be read, and not at all elsewhere.
func TestStrippedBlock(t *testing.T) {
	t.Parallel()
	refused := answers{"!getblock": command.BlockStripped}
	for _, test := range []struct {
		node   rest.Node
		target string
		want   string
	}{
		{read{refused}, "block/" + tip + ".json", `{"hash":"` + tip + `","details":true}`},
		{read{refused}, "block/notxdetails/" + tip + ".json", `{"hash":"` + tip + `","details":false}`},
		{refused, "block/" + tip + ".json", tip + " not found"},
	} {
		reply := rest.Answer(t.Context(), test.node, "/rest/"+test.target, nil)
		if got := strings.TrimSpace(string(reply.Body)); got != test.want {
			t.Errorf("%s: %s", test.target, got)
		}
	}
}

// SpentText implements command.Reader.
func (r reader) SpentText(block *chainhash.Hash) ([]byte, error) {
	return []byte(`[[],[` + hello + `}]]`), r.noSpent(block)
}

func (r reader) noSpent(block *chainhash.Hash) error {
	if text, ok := r.answers["!getblock"]; ok {
		return command.Error{Code: command.MiscError, Message: text}
	}
	if block.String() != tip {
		return command.Error{Code: command.InvalidAddressOrKey, Message: "Block not found"}
	}
	return nil
}
