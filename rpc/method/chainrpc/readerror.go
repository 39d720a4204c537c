package chainrpc

import (
	"errors"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/rpc/command"
)

// readTexts are the words for the three ways in which data of a known block
// can be out of reach.
type readTexts struct{ pruned, missing, unreadable string }

var (
	blockTexts = readTexts{
		pruned:     "Block not available (pruned data)",
		missing:    "Block not available (not fully downloaded)",
		unreadable: "Block not found on disk",
	}
	undoTexts = readTexts{
		pruned:     "Undo data not available (pruned data)",
		missing:    "Undo data not available",
		unreadable: "Can't read undo data from disk",
	}
)

// failure tells an error of [chainview.Reader] in these words. Other errors
// stay as they are.
func (t readTexts) failure(err error) error {
	if errors.Is(err, chainview.ErrUndo) {
		t = undoTexts
	}
	var message string
	switch {
	case errors.Is(err, chainview.ErrPruned):
		message = t.pruned
	case errors.Is(err, chainview.ErrNotFound), errors.Is(err, chainview.ErrNotYet):
		message = t.missing
	case errors.Is(err, chainview.ErrUnreadable):
		message = t.unreadable
	default:
		return err
	}
	return command.Error{Code: command.MiscError, Message: message}
}
