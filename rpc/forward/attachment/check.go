package attachment

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/store/corefiles"
)

// How fast blocks and filters are read, in bytes a second, for an estimate: measured on two
// cores.
const (
	fileRate   = 400e6 // blocks and undo data from Core's files
	restRate   = 250e6 // blocks over REST
	filterRate = 100e6 // filters from Core's files
	rpcRate    = 400   // filters a second by RPC
	filterPart = 0.023 // of the size of blocks and undo data that an index takes, with its probe lines
)

// ErrNoSource reports a Core that offers nothing that an index could be made from.
var ErrNoSource = errors.New("it offers neither block files nor spent outputs over REST nor a filter index: " +
	"set -rest=1 (version 30) or -blockfilterindex=1 there, or name its data directory")

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
	var files corefiles.Survey
	if a.configured != nil {
		files = corefiles.Look(a.configured.BlocksDir, a.configured.NetDir)
	}
	p := printer{w: w}
	p.linef("Bitcoin Core       %s at %s", info.Subversion, a.core.Address())
	p.linef("Chain              %s, %d blocks, %d headers", info.Chain.Chain, info.Chain.Blocks, info.Chain.Headers)
	p.linef("Block files        %s", a.filesText(files.Blocks, "blocks are asked for"))
	p.linef("REST               %s", restText(&info))
	p.linef("Filter index       %s", a.indexText(&info, files.Filters))
	p.linef("Pruned             %s", prunedText(&info))
	if info.Chain.PruneHeight == nil && info.Chain.Blocks > 0 { // pruned blocks are not in it
		part := float64(max(0, info.Chain.Blocks-a.from)) / float64(info.Chain.Blocks)
		size.Bytes = int64(part * float64(size.Bytes))
	}
	source, seconds := sourceOf(&info, &files, size.Bytes)
	if source == "" {
		return errors.Join(p.err, ErrNoSource)
	}
	if err := a.prunedAway(&info); err != nil {
		return errors.Join(p.err, err)
	}
	p.linef("First index        from %s: %s or more", source, roughly(seconds))
	p.linef("Disk               %.1f GB for filters and their index", disk(&files, size.Bytes)/1e9)
	p.linef("News               %s", eventsText(info.LongPoll))
	return p.err
}

// prunedAway says from where on an index could be made, where that is not the beginning.
func (a *Attachment) prunedAway(info *corenode.Info) error {
	_, filters := info.Indexes[corenode.FilterIndex]
	if height := info.Chain.PruneHeight; height != nil && *height > a.from && !filters {
		return fmt.Errorf("its blocks below height %d are pruned and it has no filter index: set -blockfilterindex=1 "+
			"there, which downloads all blocks once more, or -attachfrom=%d here, to search from that block on",
			*height, *height)
	}
	return nil
}

// disk returns how many bytes the first index would take: Core's filters have a pruned
// chain's size, too.
func disk(files *corefiles.Survey, bytes int64) float64 {
	const index = 1.3 // with what finds the filters' elements
	return max(index*float64(files.Filters.Bytes), filterPart*float64(bytes))
}

func usable(f corefiles.Files) bool { return f.Count > 0 && f.Err == nil }

// sourceOf returns from what the first index would be made, and in how many seconds.
func sourceOf(info *corenode.Info, files *corefiles.Survey, bytes int64) (string, float64) {
	_, filters := info.Indexes[corenode.FilterIndex]
	switch {
	case filters && usable(files.Filters):
		return "Bitcoin Core's filter files", float64(files.Filters.Bytes) / filterRate
	case info.Chain.PruneHeight != nil && filters:
		return "Bitcoin Core's filters by RPC", float64(info.Chain.Blocks) / rpcRate
	case usable(files.Blocks) && usable(files.Undo):
		return "Bitcoin Core's block files", float64(bytes) / fileRate
	case info.SpentREST:
		return "blocks over REST", float64(bytes) / restRate
	case filters:
		return "Bitcoin Core's filters by RPC", float64(info.Chain.Blocks) / rpcRate
	}
	return "", 0
}

func (a *Attachment) filesText(f corefiles.Files, otherwise string) string {
	switch {
	case a.configured == nil:
		return "none: it is at an address, " + otherwise
	case f.Err != nil:
		return fmt.Sprintf("cannot be read, %s: %v", otherwise, f.Err)
	case f.Count == 0:
		return "none, " + otherwise
	}
	return fmt.Sprintf("%d of %.1f GB", f.Count, float64(f.Bytes)/1e9)
}

func restText(info *corenode.Info) string {
	switch {
	case info.SpentREST:
		return "yes, with spent outputs"
	case info.REST:
		return "yes, but spent outputs only by RPC, which is slow: version 30 has them over REST"
	}
	return "no: blocks that are in no finished file come by RPC, which is slow (-rest=1 there)"
}

func (a *Attachment) indexText(info *corenode.Info, f corefiles.Files) string {
	index, ok := info.Indexes[corenode.FilterIndex]
	if !ok {
		return "no: filters are made here from the blocks"
	}
	return fmt.Sprintf("yes, up to block %d; files: %s", index.Height, a.filesText(f, "filters are asked for"))
}

func prunedText(info *corenode.Info) string {
	_, filters := info.Indexes[corenode.FilterIndex]
	switch height := info.Chain.PruneHeight; {
	case height == nil:
		return "no"
	case *height == 0:
		return "nothing yet, but it will be"
	case filters:
		return fmt.Sprintf("below block %d: older filters come from its filter index", *height)
	default:
		return fmt.Sprintf("below block %d", *height)
	}
}

func eventsText(longPoll bool) string {
	if longPoll {
		return "by waitfornewblock, at once"
	}
	return "by asking each second: version 30 tells at once"
}

// explained says what to do about an error of the first call.
func explained(err error) error {
	var answer *corenode.Error
	switch {
	case errors.As(err, &answer) && errors.Is(err, corenode.ErrAway):
		return fmt.Errorf("Bitcoin Core starts or ends just now: %w", err) //nolint:staticcheck // a name
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
