package forward

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

const (
	// patience is how long a call of the node's own waits for Core's tip: a Core that is slow
	// or away must not stop the node's answers.
	patience = 250 * time.Millisecond

	// pause is how long Core is not asked before such calls after one has waited in vain.
	pause = time.Second
)

// Own implements command.Forwarder. An answer that depends on the tip is given at Core's
// present tip, if that is known within a short time. A call that fails because it is about an
// unknown block is run again after another look at Core.
func (f *Forwarder) Own(
	ctx context.Context, caller command.Caller, method string, params *jsontree.Value, run func() (any, error),
) (any, error) {
	c := f.factsOf(method)
	if c.At.Has(command.Tip) {
		f.fresh(ctx)
	}
	if f.Known != nil && f.needsChain(c) {
		if err := f.Known(ctx); err != nil {
			return nil, err
		}
	}
	if err := f.checkName(ctx, c, params); err != nil {
		return nil, err
	}
	result, err := run()
	if c.At.Has(command.Block) && unknownBlock(err) && f.fresh(ctx) {
		result, err = run()
	}
	_, fromCore := caller.Login.(coreLogin)
	if c.At.Has(command.BlockOrCore) && err != nil && ctx.Err() == nil && f.Mode.delegates(c, fromCore) {
		// Core knows branches, and headers without blocks, that it never followed, and
		// says itself why it cannot read a block.
		if theirs, failed := f.Forward(ctx, caller, method, params); failed == nil || isError(failed) {
			return theirs, failed
		}
	}
	switch {
	case err != nil:
	case method == "getindexinfo":
		return f.withIndexes(ctx, caller, c, params, result), nil
	case method == "help":
		return f.withHelp(ctx, caller, c, params, result), nil
	case method == "getdescriptoractivity":
		return f.withActivity(ctx, caller, c, params, result)
	}
	return result, err
}

// needsChain reports whether an answer of the node is about the chain: while nothing of that is
// known, it would be that of an empty one.
func (*Forwarder) needsChain(c *command.Command) bool {
	switch c.About {
	case command.Blocks, command.Filters, command.Funds:
		return true
	case command.Registry:
		return c.At.Has(command.Tip)
	case command.State, command.Program, command.Pure:
	}
	return false
}

// unknownBlock reports whether an error may say that a block is not known here.
func unknownBlock(err error) bool {
	known, ok := errors.AsType[command.Error](err)
	return ok && (known.Code == command.InvalidAddressOrKey || known.Code == command.InvalidParameter)
}

// isError reports whether an error is what Core itself says, and not that it is away.
func isError(err error) bool {
	known, ok := errors.AsType[command.Error](err)
	return ok && known != errAway && known != errReply && known != errLarge
}

// fresh has the node follow Core, if that does not take long, and reports whether it has.
func (f *Forwarder) fresh(ctx context.Context) bool {
	if f.Follow == nil || time.Since(time.Unix(0, f.failed.Load())) < pause {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := f.Follow(limited)
	if limited.Err() != nil && ctx.Err() == nil {
		f.failed.Store(time.Now().UnixNano())
		if f.Core != nil {
			go f.Core.Ping(context.WithoutCancel(ctx)) // which ends by itself
		}
	}
	return err == nil
}

// followed has the node follow after a call that has moved Core.
func (f *Forwarder) followed(ctx context.Context, method string) {
	c := f.factsOf(method)
	if c.Effect.Has(command.MovesTip) && f.Follow != nil {
		_ = f.Follow(ctx)
	}
	if c.Effect.Has(command.MovesPool) && f.OwnWallet != nil && f.FollowPool != nil {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		_ = f.FollowPool(ctx)
	}
}

// maxBrief bounds the bytes of a list of indexes, of which Core has few, and of a text about a method.
const maxBrief = 1 << 16

// briefly returns the result of a call that Core is given little time for; nothing where there is none.
func (f *Forwarder) briefly(ctx context.Context, caller command.Caller, method string, params *jsontree.Value) []byte {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	reply, err := f.send(ctx, caller, "/", request(method, params))
	if err != nil {
		return nil
	}
	if reply.Large != nil {
		_ = reply.Large.Close()
		return nil
	}
	if len(reply.Body) > maxBrief {
		return nil
	}
	answer, _ := corenode.ParseReply(reply.Body) // it has no result where it is none, or an error
	return answer.Result
}

// withIndexes adds Core's indexes to those of the node, where the caller may see them and
// Core answers.
func (f *Forwarder) withIndexes(
	ctx context.Context, caller command.Caller, c *command.Command, params *jsontree.Value, own any,
) any {
	_, fromCore := caller.Login.(coreLogin)
	if !f.Mode.delegates(c, fromCore) {
		return own
	}
	list, ok := own.(jsontree.Members)
	if !ok {
		return own
	}
	theirs, err := jsontree.Parse(f.briefly(ctx, caller, c.Name, nil))
	if err != nil {
		return own
	}
	wanted := params.At(0)
	if params.Kind() == jsontree.Object {
		wanted = params.Get("index_name")
	}
	var others jsontree.Members
	for key, value := range theirs.Members() {
		ours := slices.ContainsFunc(list, func(m jsontree.Member) bool { return m.Key == key })
		if !ours && key != corenode.FilterIndex && (wanted.IsNull() || wanted.Text() == key) {
			others = append(others, jsontree.Member{Key: key, Value: value})
		}
	}
	return append(others, list...)
}
