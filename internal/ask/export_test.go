package ask

// Held counts the calls and plain requests that a Ref remembers.
func (r *Ref) Held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.pending) + len(r.queued)
}
