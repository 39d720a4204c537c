package link

import "sync"

const (
	maxHandshakes     = 128 // at a time
	maxHandshakesEach = 16  // of them from one address
	maxConnections    = 1024
)

// doors counts inbound connections. Above a number, it refuses them before anything is computed.
type doors struct {
	mu         sync.Mutex
	handshakes int
	by         map[string]int // handshakes, by address
	open       int            // connections whose handshake was good
}

// enter reports whether a connection may begin its handshake.
func (d *doors) enter(host string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.handshakes >= maxHandshakes || d.by[host] >= maxHandshakesEach || d.open >= maxConnections {
		return false
	}
	d.handshakes++
	d.by[host]++
	return true
}

// leave notes the end of a handshake.
func (d *doors) leave(host string, good bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handshakes--
	if d.by[host]--; d.by[host] == 0 {
		delete(d.by, host)
	}
	if good {
		d.open++
	}
}

// closed notes the end of a connection whose handshake was good.
func (d *doors) closed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open--
}
