// Package index is what the indexes of blocks have in common. An actor of
// actors/blockindex keeps an index in step with the chain, as a [Target] of its follower,
// and methods read it. The packages below have the contents of each index, and how it is
// read.
package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/messages"
)

// ErrDamaged is what the methods of an index wrap where it cannot be read as it was
// written. It is rebuilt then. It is a [follow.ErrDamaged] too.
var ErrDamaged error = damaged{}

type damaged struct{}

func (damaged) Error() string { return "index is damaged" }

// Is implements what errors.Is looks for.
func (damaged) Is(target error) bool { return target == follow.ErrDamaged }

// ErrNoFilter reports a block that the filter index does not hold.
var ErrNoFilter = errors.New("block has no filter in the index")

// Damaged tells the actor that keeps an index what a reader has found.
type Damaged struct{ Err error }

// Wrap makes an ErrDamaged of an error that is among damages, the errors by which a
// store reports damage; any other error stays.
func Wrap(err error, damages ...error) error {
	for _, d := range damages {
		if errors.Is(err, d) {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return err
}

// Status returns how far an index is. If it has once been in step with the chain, it
// waits until it is so again. keeper is the actor that keeps it.
func Status(ctx context.Context, keeper *ask.Ref) (messages.IndexStatus, error) {
	status, err := ask.Ask(ctx, keeper, messages.GetIndexStatus{})
	if err == nil && status.Synced {
		_, err = ask.Ask(ctx, keeper, messages.WaitIndexIdle{})
	}
	if errors.Is(err, chainview.ErrNotYet) {
		err = nil // it has all that is validated
	}
	return status, err
}
