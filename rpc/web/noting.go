package web

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
)

// A noting viewer keeps which of its calls the node was too busy for, or has failed at. A part that a page lacks
// for that reason must not look as if it did not exist.
type noting struct {
	viewer

	mu     sync.Mutex
	failed []string
}

// Call implements viewer.
func (n *noting) Call(ctx context.Context, wallet *string, method string, params ...any) (json.RawMessage, error) {
	reply, err := n.viewer.Call(ctx, wallet, method, params...)
	if err == nil {
		return reply, nil
	}
	words := method + ": " + err.Error()
	if refused, ok := errors.AsType[callError](err); ok {
		if refused.isAnswer() {
			return nil, err
		}
		if refused.Code == 0 {
			words = err.Error() // it names the method
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed = append(n.failed, words)
	return nil, err
}

// words are what could not be read, each once.
func (n *noting) words() []string {
	slices.Sort(n.failed)
	return slices.Compact(n.failed)
}
