package searchdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/seed61375155/trawl/store/internal/ledger"
)

const (
	// modesDir is the folder of the ledger of modes, in that of the store.
	modesDir = "modes"

	modesVersion = 1
	modesBuffer  = 1 << 20
)

// modePrefix begins the keys of the ledger of modes; the id of the search follows.
var modePrefix = []byte{'m'}

// A ModeChange gives a search another mode, without a reason. It counts until there is a status with as many changes,
// or more.
type ModeChange struct {
	Mode    Mode
	Updated time.Time
	Changes uint64 // as in [Status], with this one
}

func (m *ModeChange) encode() []byte {
	b := binary.AppendVarint([]byte{byte(m.Mode)}, m.Updated.UnixMilli())
	return binary.AppendUvarint(b, m.Changes)
}

func (m *ModeChange) decode(raw []byte) error {
	r := decoder{rest: raw}
	*m = ModeChange{}
	if mode := r.bytes(1); !r.bad {
		m.Mode = Mode(mode[0])
	}
	m.Updated, m.Changes = time.UnixMilli(r.int()), r.uint()
	r.bad = r.bad || m.Mode >= modes
	return r.end("mode of a search")
}

// openModes opens the ledger of modes.
func (s *Store) openModes() error {
	l, _, err := ledger.Open(ledger.Options{
		FS: s.options.FS, Dir: filepath.Join(s.options.Dir, modesDir), Name: "store of the modes of searches",
		Version: modesVersion, Network: s.options.Network, Owns: ownsMode, Marks: 1, Log: s.log,
		WriteBuffer: modesBuffer, Keep: true,
	})
	if err != nil {
		return err
	}
	s.modes.Store(l)
	return nil
}

// ownsMode reports whether a pair can be one of the ledger of modes; the value of a deleted one is nil.
func ownsMode(key, value []byte) bool {
	if len(key) == 9 && key[0] == modePrefix[0] && (value == nil || len(value) >= 4) {
		return true
	}
	return ledger.Owns(key, value)
}

// SetModes gives searches other modes, durably. It waits for no [Store.Commit]. Errors are as of Commit.
func (s *Store) SetModes(changes map[ID]ModeChange) error {
	b := new(ledger.Batch)
	for id, change := range changes {
		put(b, key(modePrefix, id), change.encode())
	}
	return s.modes.Load().CommitDurably(b, noPosition)
}

// forgetModes deletes the modes of searches. They are of no use any more: it need not be durable.
func (s *Store) forgetModes(ids []ID) error {
	if len(ids) == 0 {
		return nil
	}
	b := new(ledger.Batch)
	for _, id := range ids {
		b.Delete(key(modePrefix, id))
	}
	return s.modes.Load().Commit(b, noPosition)
}

// loadModes sets the modes that are newer than the status of their searches, and forgets the others. A damaged
// mode is lost: then the mode in the search's status holds.
func (s *Store) loadModes(list []*Search) error {
	of := make(map[ID]*Search, len(list))
	for _, n := range list {
		of[n.ID] = n
	}
	var useless []ID
	for pair, err := range s.modes.Load().Range(modePrefix) {
		if errors.Is(err, ErrDamaged) {
			s.log.Warn("modes of searches are damaged and are dropped", "err", err)
			return s.modes.Load().Wipe()
		}
		if err != nil {
			return err
		}
		id, change, err := decodeMode(&pair)
		n := of[id]
		if err != nil {
			s.log.Warn("the mode of a search is damaged and is dropped", "search", id.String(), "err", err)
		}
		if err == nil && n != nil && n.Unread {
			continue // it counts when the search is read
		}
		if err != nil || n == nil || change.Changes <= n.Status.Changes {
			useless = append(useless, id)
			continue
		}
		n.Status.Mode, n.Status.Reason = change.Mode, ""
		n.Status.Updated, n.Status.Changes = change.Updated, change.Changes
	}
	return s.forgetModes(useless)
}

func decodeMode(pair *ledger.Pair) (id ID, change ModeChange, err error) {
	id, ok := idOf(pair.Key)
	if !ok {
		return id, change, fmt.Errorf("%w: key %x", ErrDamaged, pair.Key)
	}
	raw, err := checked(pair.Key, pair.Value)
	if err == nil {
		err = change.decode(raw)
	}
	return id, change, err
}
