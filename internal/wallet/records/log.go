// Package records collects what is to be written into the file of a wallet: the
// records that changed, and the flags.
package records

import "github.com/seed61375155/trawl/internal/walletfile"

// A Change is a record of the wallet's file to be written or deleted.
type Change struct {
	Key, Value []byte
	Delete     bool
}

// Log holds the records that are not written yet, each once, in the order in
// which they were changed first. The zero Log is empty.
type Log struct {
	list  []Change
	place map[string]int // in list, by key
}

// Put writes a record.
func (l *Log) Put(e walletfile.Entry) {
	l.add(Change{Key: e.Key(), Value: e.Value()})
}

// Remove deletes a record.
func (l *Log) Remove(key []byte) {
	l.add(Change{Key: key, Delete: true})
}

// Take returns the changes and forgets them.
func (l *Log) Take() []Change {
	taken := l.list
	*l = Log{}
	return taken
}

func (l *Log) add(change Change) {
	if at, ok := l.place[string(change.Key)]; ok {
		l.list[at] = change
		return
	}
	if l.place == nil {
		l.place = make(map[string]int)
	}
	l.place[string(change.Key)] = len(l.list)
	l.list = append(l.list, change)
}
