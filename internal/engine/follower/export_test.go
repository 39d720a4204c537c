package follower

// LimitWindow sets how many bytes the filters that are proven together may have.
func (e *Engine) LimitWindow(bytes int) { e.filters.room = bytes }
