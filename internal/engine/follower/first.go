package follower

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

var _ chainview.PartReader = reader{}

// FirstFilter implements chainview.PartReader.
func (r reader) FirstFilter() int32 { return r.e.first.Load() }

// loadFirst reads from which height on there are filters. They cannot begin earlier
// afterwards: those below say nothing.
func (e *Engine) loadFirst(wanted int32) error {
	noted, err := e.store.First()
	if err != nil {
		return err
	}
	first := int32(noted)
	if first > 0 && wanted > 0 && wanted < first {
		return messages.StartError(fmt.Sprintf("-attachfrom=%d: the filter index begins at height %d. Remove the "+
			"folders follow and indexes of the network to make another.", wanted, first))
	}
	if e.from = wanted; first > 0 {
		e.from = first
	}
	e.first.Store(first)
	return nil
}

// noteFirst stores from which height on there are filters, before one is given that says
// nothing.
func (e *Engine) noteFirst() error {
	if e.first.Load() > 0 {
		return nil
	}
	if err := e.store.SetFirst(uint32(e.from)); err != nil {
		return err
	}
	if e.first.Swap(e.from) == 0 {
		e.log.Info("the filter index begins with a block that is not the first", "height", e.from)
	}
	return nil
}
