package wallet

import "github.com/seed61375155/trawl/internal/walletfile"

// A Change is a record of the wallet's file to be written or deleted.
type Change struct {
	Key, Value []byte
	Delete     bool
}

// changes are the records that are not written yet, each once, in the order in
// which they were changed first.
type changes struct {
	list  []Change
	place map[string]int // in list, by key
}

// TakeChanges returns what must be written to the file, in one transaction and
// before anything is acknowledged, and forgets it. A wallet whose changes could
// not be written must be opened again.
func (w *Wallet) TakeChanges() []Change {
	taken := w.changes.list
	w.changes = changes{}
	return taken
}

// put writes a record.
func (w *Wallet) put(e walletfile.Entry) {
	w.changes.add(Change{Key: e.Key(), Value: e.Value()})
}

// remove deletes a record.
func (w *Wallet) remove(key []byte) {
	w.changes.add(Change{Key: key, Delete: true})
}

func (c *changes) add(change Change) {
	if at, ok := c.place[string(change.Key)]; ok {
		c.list[at] = change
		return
	}
	if c.place == nil {
		c.place = make(map[string]int)
	}
	c.place[string(change.Key)] = len(c.list)
	c.list = append(c.list, change)
}
