package rest

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

func chainInfo(ctx context.Context, r *request) (Reply, error) {
	if r.format != jsonText {
		return Reply{}, errJSONFormat
	}
	text, err := r.raw(ctx, "getblockchaininfo")
	return document(text), err
}

func deployments(ctx context.Context, r *request) (Reply, error) {
	if r.format != jsonText {
		return Reply{}, errJSONFormat
	}
	var params []*jsontree.Value
	if r.part != "" {
		if err := checkHash(r.part); err != nil {
			return Reply{}, err
		}
		params = append(params, jsontree.NewString(r.part))
	}
	text, err := r.raw(ctx, "getdeploymentinfo", params...)
	if clientText(err) == "Block not found" {
		return Reply{}, refuse(statusBadRequest, "Block not found")
	}
	return document(text), err
}

// errNoPool answers where there is no memory pool.
var errNoPool = refuse(statusNotFound, "Mempool disabled or instance not found")

func mempool(ctx context.Context, r *request) (Reply, error) {
	if r.part != "contents" && r.part != "info" {
		return Reply{}, refuse(statusBadRequest, "Invalid URI format. Expected /rest/mempool/<info|contents>.json")
	}
	if r.format != jsonText {
		return Reply{}, errJSONFormat
	}
	method, params := "getmempoolinfo", []*jsontree.Value(nil)
	if r.part == "contents" {
		verbose, err := r.flag("verbose", "true")
		if err != nil {
			return Reply{}, err
		}
		sequence, err := r.flag("mempool_sequence", "false")
		if err != nil {
			return Reply{}, err
		}
		if verbose && sequence {
			return Reply{}, refuse(statusBadRequest,
				`Verbose results cannot contain mempool sequence values. (hint: set "verbose=false")`)
		}
		method = "getrawmempool"
		params = []*jsontree.Value{jsontree.NewBool(verbose), jsontree.NewBool(sequence)}
	}
	text, err := r.raw(ctx, method, params...)
	return document(text), noPool(err)
}

// noPool reports a missing memory pool in the words of this door.
func noPool(err error) error {
	if clientCode(err) == command.ClientMempoolDisabled {
		return errNoPool
	}
	return err
}

// flag reads a parameter of the query that is true or false.
func (r *request) flag(key, other string) (bool, error) {
	text, err := r.query(key, other)
	if err == nil && text != "true" && text != "false" {
		err = refuse(statusBadRequest, `The "`+key+`" query parameter must be either "true" or "false".`)
	}
	return text == "true", err
}

func transaction(ctx context.Context, r *request) (Reply, error) {
	if err := checkHash(r.part); err != nil {
		return Reply{}, err
	}
	if reply, err := r.connectedTx(); reply.Body != nil || err != nil {
		return reply, noTx(r.part, err)
	}
	id := jsontree.NewString(r.part)
	if r.format != jsonText {
		data, err := r.bytes(ctx, "getrawtransaction", id, jsontree.NewInt(0))
		if err != nil {
			return Reply{}, noTx(r.part, err)
		}
		return inFormat(r.format, data)
	}
	tx, err := r.call(ctx, "getrawtransaction", id, jsontree.NewInt(1))
	if err != nil {
		return Reply{}, noTx(r.part, err)
	}
	return document(withoutChain(tx).AppendJSON(nil)), nil
}

// connectedTx answers with a transaction that is known to be in the active chain; the body is nil
// where calls have to answer.
func (r *request) connectedTx() (Reply, error) {
	reader := r.node.Reader()
	if reader == nil || r.format == none {
		return Reply{}, nil
	}
	id, err := chainhash.NewHashFromStr(r.part)
	if err != nil {
		return Reply{}, err
	}
	if r.format == jsonText {
		text, err := reader.TxText(id)
		if text == nil || err != nil {
			return Reply{}, err
		}
		return document(text), nil
	}
	raw, err := reader.Tx(id)
	if raw == nil || err != nil {
		return Reply{}, err
	}
	return inFormat(r.format, raw)
}

// noTx says of a transaction by its id that it cannot be had.
func noTx(id string, err error) error {
	if clientCode(err) == command.InvalidAddressOrKey {
		return refuse(statusNotFound, id+" not found")
	}
	return err
}

// withoutChain returns a transaction without what the chain says of it, but with its block.
func withoutChain(tx *jsontree.Value) *jsontree.Value {
	shown := jsontree.NewObject()
	for key, member := range tx.Members() {
		switch key {
		case "in_active_chain", "confirmations", "time", "blocktime", "blockhash":
			continue
		case "hex":
			if block := tx.Get("blockhash"); block.Kind() == jsontree.String {
				shown.Add("blockhash", block)
			}
		}
		shown.Add(key, member)
	}
	return shown
}
