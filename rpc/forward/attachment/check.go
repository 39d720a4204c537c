package attachment

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed61375155/trawl/internal/corenode"
)

// What one of Core's blocks costs, for an estimate: measured on two cores.
const (
	restRate   = 250e6 // bytes of blocks a second over REST
	filterPart = 0.023 // of the size of blocks and undo data that an index takes, with its probe lines
)

// Check writes what a node would find that is attached so, and changes nothing. The error
// says why it could not follow Core now.
func (a *Attachment) Check(ctx context.Context, w io.Writer) error {
	info, err := a.core.Info(ctx)
	if err != nil {
		return explained(err)
	}
	var size struct {
		Bytes int64 `json:"size_on_disk"`
	}
	if err := a.core.Call(ctx, &size, "getblockchaininfo"); err != nil {
		return explained(err)
	}
	if info.Chain.Chain != a.chain {
		return fmt.Errorf("it is on chain %q, not %q", info.Chain.Chain, a.chain)
	}
	p := printer{w: w}
	p.linef("Bitcoin Core       %s at %s", info.Subversion, a.core.Address())
	p.linef("Chain              %s, %d blocks, %d headers", info.Chain.Chain, info.Chain.Blocks, info.Chain.Headers)
	index, filters := info.Indexes[corenode.FilterIndex]
	switch {
	case info.Chain.PruneHeight != nil && filters:
		p.linef("Pruned             below block %d: older filters come from its filter index", *info.Chain.PruneHeight)
	case info.Chain.PruneHeight != nil:
		p.linef("Pruned             below block %d, and it has no filter index: set -blockfilterindex=1 there",
			*info.Chain.PruneHeight)
	default:
		p.linef("Pruned             no")
	}
	switch {
	case info.SpentREST:
		p.linef("Blocks             over REST")
	case info.REST:
		p.linef("Blocks             over REST; spent outputs by RPC, which is slow: version 30 has them over REST")
	default:
		p.linef("Blocks             by RPC, which is slow: set -rest=1 there")
	}
	if filters {
		p.linef("Filter index       yes, up to block %d", index.Height)
	} else {
		p.linef("Filter index       no: filters are made here from the blocks")
	}
	if info.SpentREST {
		p.linef("First index        %s or more", roughly(float64(size.Bytes)/restRate))
	}
	p.linef("Disk               %.1f GB for filters and their index", float64(size.Bytes)*filterPart/1e9)
	p.linef("News               %s", news(info.LongPoll))
	return p.err
}

func news(longPoll bool) string {
	if longPoll {
		return "by waitfornewblock, at once"
	}
	return "by asking each second: version 30 tells at once"
}

// explained says what to do about an error of the first call.
func explained(err error) error {
	switch {
	case errors.Is(err, corenode.ErrLogin):
		return fmt.Errorf("%w: may this user read its cookie (-rpccookieperms, -attachcookie, -attachlogin)?", err)
	case errors.Is(err, corenode.ErrAway):
		return fmt.Errorf("%w: does it run, with -server=1, and where (-attachrpc)?", err)
	case errors.Is(err, corenode.ErrForbidden):
		return fmt.Errorf("%w: see docs/attach.md for the methods that its whitelist has to name", err)
	}
	return err
}

// roughly names a number of seconds as an estimate.
func roughly(seconds float64) string {
	switch {
	case seconds < 60:
		return "a minute"
	case seconds < 3600:
		return fmt.Sprintf("%.0f minutes", seconds/60)
	}
	return fmt.Sprintf("%.1f hours", seconds/3600)
}

// A printer keeps the first error of writing.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) linef(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}
