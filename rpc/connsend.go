package rpc

import "time"

// At the end of the server, a client has endPatience to take the next endChunk bytes of its reply, so
// that who does not read does not hold up the end.
const (
	endPatience = 3 * time.Second
	endChunk    = 16 << 10
)

// ends reports whether the server ends.
func (s *conns) ends() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error {
	if err := c.Conn.SetWriteDeadline(t); err != nil || !c.owner.ends() {
		return err
	}
	last := time.Now().Add(c.owner.patience)
	if !t.IsZero() && t.Before(last) {
		last = t
	}
	return c.Conn.SetWriteDeadline(last)
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (n int, err error) {
	for n < len(p) {
		part := p[n:]
		if c.owner.ends() {
			part = part[:min(len(part), endChunk)]
			if err := c.Conn.SetWriteDeadline(time.Now().Add(c.owner.patience)); err != nil {
				return n, err
			}
		}
		wrote, err := c.Conn.Write(part)
		if n += wrote; err != nil {
			return n, err
		}
	}
	return n, nil
}
