package corepool_test

import (
	"encoding/json"
	"time"
)

// busy reports whether the pool is being listed.
func (n *core) busy() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.listing
}

// list lets the time pass that listing takes.
func (n *core) list() {
	n.mu.Lock()
	takes, listed := n.takes, n.listed
	if n.listing = true; listed != nil {
		listed()
	}
	n.mu.Unlock()
	time.Sleep(takes)
	n.set(func(n *core) { n.listing = false })
}

// spenderOf returns what spends an output in the pool, empty if nothing does.
func (n *core) spenderOf(txid string, vout uint32) string {
	for id, tx := range n.txs {
		for _, in := range tx.TxIn {
			if at := in.PreviousOutPoint; at.Hash.String() == txid && at.Index == vout {
				return id.String()
			}
		}
	}
	return ""
}

// spends answers gettxspendingprevout.
func (n *core) spends(outs any) (any, error) {
	text, err := json.Marshal(outs)
	if err != nil {
		return nil, err
	}
	var list []map[string]any
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	for _, out := range list {
		if by := n.spenderOf(out["txid"].(string), uint32(out["vout"].(float64))); by != "" {
			out["spendingtxid"] = by
		}
	}
	return list, n.failing
}
