package corepool

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/poolcopy"
	"github.com/seed61375155/trawl/messages"
)

// A listing is what the other pool has.
type listing struct {
	ids    []chainhash.Hash // parents first
	loaded bool             // that is all: after the other node was away it may still read its pool from disk
	tip    chainhash.Hash   // of the other chain then; zero: it may not be asked
	moved  bool             // the other chain has moved meanwhile
}

// list lists the other pool.
func list(ctx context.Context, node Node, wasAway bool) (*listing, error) {
	l := &listing{loaded: true}
	if wasAway {
		var info struct {
			Loaded *bool `json:"loaded"`
		}
		err := node.Call(ctx, &info, "getmempoolinfo")
		if err != nil && !errors.Is(err, corenode.ErrForbidden) {
			return nil, err
		}
		l.loaded = info.Loaded == nil || *info.Loaded
	}
	before, err := best(ctx, node)
	if err != nil {
		return nil, err
	}
	var pool struct {
		TxIDs idList `json:"txids"`
	}
	if err := node.Call(ctx, &pool, "getrawmempool", false, true); err != nil {
		return nil, err
	}
	l.ids = pool.TxIDs
	after, err := best(ctx, node)
	l.tip, l.moved = after, before != after
	return l, err
}

// An idList is read from a JSON array, and takes less room than its text.
type idList []chainhash.Hash

// UnmarshalJSON implements json.Unmarshaler.
func (l *idList) UnmarshalJSON(text []byte) error {
	const each = len(`"",`) + 2*chainhash.HashSize
	ids := make([]chainhash.Hash, 0, len(text)/each+1)
	d := json.NewDecoder(bytes.NewReader(text))
	if first, err := d.Token(); err != nil || first != json.Delim('[') {
		return errors.New("no list of transactions")
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		id, isText := token.(string)
		if !isText || len(id) != 2*chainhash.HashSize {
			return errors.New("no id of a transaction")
		}
		ids = append(ids, chainhash.Hash{})
		if err := chainhash.Decode(&ids[len(ids)-1], id); err != nil {
			return err
		}
	}
	*l = ids
	return nil
}

// best returns the tip of the other chain, zero where it may not be asked.
func best(ctx context.Context, node Node) (chainhash.Hash, error) {
	var tip corenode.Hash
	err := node.Call(ctx, &tip, "getbestblockhash")
	if errors.Is(err, corenode.ErrForbidden) {
		return chainhash.Hash{}, nil
	}
	return chainhash.Hash(tip), err
}

// A newTx is a transaction that has come, in the form for listeners.
type newTx struct {
	*poolcopy.Tx

	msg *wire.MsgTx
}

// fetch returns transactions of the other pool, without those that have left it.
func fetch(ctx context.Context, node Node, ids []chainhash.Hash) ([]newTx, error) {
	params := make([][]any, len(ids))
	for i := range ids {
		params[i] = []any{ids[i].String()}
	}
	raw, failed, err := node.Batch(ctx, "getrawtransaction", params)
	if err != nil {
		return nil, err
	}
	details, unknown, err := node.Batch(ctx, "getmempoolentry", params)
	if errors.Is(err, corenode.ErrForbidden) {
		details, unknown, err = make([]json.RawMessage, len(ids)), nil, nil
	}
	if err != nil {
		return nil, err
	}
	var got []newTx
	for i := range ids {
		if failed != nil && failed[i] != nil || unknown != nil && unknown[i] != nil {
			continue
		}
		of, err := readDetails(details[i])
		if err != nil {
			return nil, err
		}
		tx, err := parse(&ids[i], raw[i], of)
		if err != nil {
			return nil, err
		}
		got = append(got, tx)
	}
	return got, nil
}

func parse(id *chainhash.Hash, result json.RawMessage, of poolcopy.Details) (newTx, error) {
	var text string
	err := json.Unmarshal(result, &text)
	var raw []byte
	if err == nil {
		raw, err = hex.DecodeString(text)
	}
	if err != nil {
		return newTx{}, fmt.Errorf("getrawtransaction: %w", corenode.ErrReply)
	}
	tx, msg, err := poolcopy.Parse(raw, id, of)
	if err != nil {
		return newTx{}, fmt.Errorf("getrawtransaction: %w: %w", corenode.ErrReply, err)
	}
	return newTx{tx, msg}, nil
}

// readDetails reads what getmempoolentry answers; nothing where it was not asked.
func readDetails(result json.RawMessage) (poolcopy.Details, error) {
	if result == nil {
		return poolcopy.Details{}, nil
	}
	var entry struct {
		VSize  int64 `json:"vsize"`
		Time   int64 `json:"time"`
		Height int32 `json:"height"`
		Fees   struct {
			Base     corenode.Amount `json:"base"`
			Modified corenode.Amount `json:"modified"`
		} `json:"fees"`
	}
	if err := json.Unmarshal(result, &entry); err != nil || entry.VSize < 0 {
		return poolcopy.Details{}, fmt.Errorf("getmempoolentry: %w", corenode.ErrReply)
	}
	return poolcopy.Details{
		Fee: int64(entry.Fees.Base), ModifiedFee: int64(entry.Fees.Modified), VSize: entry.VSize,
		Time: entry.Time, Height: entry.Height,
	}, nil
}

// A refusal is an error about the other node. It implements [messages.Refusal], so that
// callers get the error.
type refusal struct{ error }

// AboutRequest implements [messages.Refusal].
func (refusal) AboutRequest() {}

// Unwrap returns the error.
func (r refusal) Unwrap() error { return r.error }

// refused is an error of the other node as callers get it.
func refused(err error) error {
	var known messages.Refusal
	switch {
	case errors.Is(err, corenode.ErrAway):
		return messages.ErrNodeAway
	case errors.As(err, &known):
		return err
	}
	return refusal{err}
}
