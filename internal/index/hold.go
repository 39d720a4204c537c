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

// beyondPruned reports that an index lacks blocks that were deleted. More words say which data that is.
func beyondPruned(index, more string) messages.StartError {
	return messages.StartError(index + " best block of the index goes beyond pruned data" + more + ". " +
		"Please disable the index or reindex (which will download the whole blockchain again)\n" +
		"Error: A fatal internal error occurred, see debug.log for details: Failed to start indexes, shutting down…")
}

// Hold is [follow.Hold] for an index. The error is a [messages.StartError] where some of the
// blocks are gone, whose text names the data with more words if there are any.
func Hold(ctx context.Context, locks *ask.Ref, reader chainview.Reader, index string, from int32, more string) error {
	err := follow.Hold(ctx, locks, reader, index, from)
	switch {
	case errors.Is(err, chainview.ErrPruned):
		return beyondPruned(index, more)
	case err != nil:
		return fmt.Errorf("trawl: %w", err)
	}
	return nil
}

// HoldTarget is Hold for the blocks that a target has yet to read.
func HoldTarget(ctx context.Context, locks *ask.Ref, reader chainview.Reader, target *Target, more string) error {
	if locks.IsAbsent() {
		return nil
	}
	from, err := follow.Next(reader, target)
	if err != nil {
		return fmt.Errorf("trawl: %s: %w", target.Name, err)
	}
	return Hold(ctx, locks, reader, target.Name, from, more)
}
