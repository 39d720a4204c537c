package corenode

import (
	"context"
	"errors"
	"fmt"
)

// ChainInfo is a part of getblockchaininfo.
type ChainInfo struct {
	Chain                string  `json:"chain"`
	Blocks               int32   `json:"blocks"`
	Headers              int32   `json:"headers"`
	BestBlockHash        Hash    `json:"bestblockhash"`
	VerificationProgress float64 `json:"verificationprogress"`
	InitialBlockDownload bool    `json:"initialblockdownload"`
	ChainWork            string  `json:"chainwork"`
	Pruned               bool    `json:"pruned"`
	PruneHeight          *int32  `json:"pruneheight"` // first block that is complete; nil: not pruned
}

// maxName bounds the names that a Core gives itself and its chain.
const maxName = 256

// FilterIndex is the name of Core's filter index in getindexinfo.
const FilterIndex = "basic block filter index"

// An IndexState is one of getindexinfo.
type IndexState struct {
	Synced bool  `json:"synced"`
	Height int32 `json:"best_block_height"`
}

// Info is what a Core is and can do.
type Info struct {
	Version    int // 300200 is 30.2; 0: the login may not ask
	Subversion string
	Chain      ChainInfo
	Indexes    map[string]IndexState // nil: the login may not ask, or Core knows no such call
	REST       bool
	SpentREST  bool // REST has spenttxouts
	LongPoll   bool // waitfornewblock takes the tip that the caller knows
}

// codeNoMethod is what Core says of a method that it does not know.
const codeNoMethod = -32601

// Info asks Core for its version, chain and indexes. Fields that the login may not ask
// for stay empty, but the state of the chain is required.
func (c *Client) Info(ctx context.Context) (Info, error) {
	var info Info
	if err := c.Call(ctx, &info.Chain, "getblockchaininfo"); err != nil {
		return Info{}, err
	}
	var err error
	if info.Version, info.Subversion, err = c.Version(ctx); err != nil {
		return Info{}, err
	}
	if len(info.Chain.Chain) > maxName {
		return Info{}, fmt.Errorf("%w: names", ErrReply)
	}
	if err := c.Call(ctx, &info.Indexes, "getindexinfo"); err != nil && !unknown(err) {
		return Info{}, err
	}
	has := featuresOf(info.Version)
	info.LongPoll = has.longPoll
	_, err = c.ChainInfo(ctx)
	switch {
	case err == nil:
		info.REST, info.SpentREST = true, has.spentREST
	case !errors.Is(err, ErrNoREST) && !errors.Is(err, ErrReply):
		return Info{}, err
	}
	return info, nil
}

// unknown reports whether a call failed for a reason that lasts and concerns it alone.
func unknown(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code == codeNoMethod
	}
	return errors.Is(err, ErrForbidden)
}
