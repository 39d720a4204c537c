package chain

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// follow returns the job that has the engine follow the node that it is attached to. It
// ends with the actor and with its caller.
func (s *Chain) follow(m *ask.Call[nodemsg.FollowNode, messages.Tip]) job {
	return func(e engine.Engine) (func(), error) {
		ctx, cancel := context.WithCancelCause(m.Ctx)
		defer cancel(nil)
		stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
		defer stop()
		err := ctx.Err()
		if f, ok := e.(engine.Follower); !ok {
			err = messages.ErrNotAttached
		} else if err == nil {
			err = f.Follow(ctx)
		}
		if ctx.Err() != nil { // whatever it failed with
			err := context.Cause(ctx)
			return func() { m.Answer(messages.Tip{}, err) }, nil
		}
		if err == nil || rejected(err) {
			tip := currentTip(e)
			return func() { m.Answer(tip, err) }, nil
		}
		return func() { m.Answer(messages.Tip{}, err) }, err
	}
}

// attachState answers at once, while the engine follows too.
func (s *Chain) attachState(messages.GetAttachState) (messages.AttachState, error) {
	if s.engine == nil {
		return messages.AttachState{}, chainview.ErrNotReady
	}
	if f, ok := s.engine.(engine.Follower); ok {
		return f.State(), nil
	}
	return messages.AttachState{}, messages.ErrNotAttached
}
