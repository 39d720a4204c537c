package peers

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/atomicfile"
	"github.com/seed61375155/trawl/messages"
)

const (
	banFile = "banlist.json"

	// DefaultBanTime is Core's DEFAULT_MISBEHAVING_BANTIME.
	DefaultBanTime = 24 * time.Hour
)

// maxBanFile is the longest file of bans that is read, in bytes: some 100,000 bans.
const maxBanFile = 16 << 20

func writeBans(fs vfs.FS, path string, content []byte) error {
	return atomicfile.Write(fs, path, content, 0o600)
}

// loadBans reads the bans. A file that is not there or no good begins anew: a node
// does not refuse to start over it.
func (s *shared) loadBans() {
	path := filepath.Join(s.cfg.Dir, banFile)
	text, err := vfs.ReadFile(s.cfg.FS, path, maxBanFile)
	var dropped []string
	if err == nil {
		s.bans, dropped, err = access.ParseBans(text)
	}
	for _, line := range dropped {
		s.printf("%s", line)
	}
	if err == nil {
		return
	}
	if !errors.Is(err, fs.ErrNotExist) {
		s.cfg.Log.Warn("Cannot load banlist", "file", path, "err", err)
	}
	s.printf("Recreating the banlist database")
	if err := writeBans(s.cfg.FS, path, s.bans.Marshal()); err != nil {
		s.cfg.Log.Error("bans not written", "err", err)
	}
}

// A saver writes one file, at any time once, and tells when what was there to be
// written is.
type saver struct {
	busy    bool
	waiting []func() // for what the next writing writes
	writing []func() // for what is being written
	failed  bool     // the last writing
}

// saved says that a file was written.
type saved struct {
	saver *saver
	err   error
}

// saveBans writes the bans and calls then when they are on disk. Where that fails
// they hold for as long as the node runs, as in Core.
func (t *Table) saveBans(c actor.Context, then func()) {
	t.banSaver.waiting = append(t.banSaver.waiting, then)
	if !t.banSaver.busy {
		t.writeBans(c)
	}
}

func (t *Table) writeBans(c actor.Context) {
	s := &t.banSaver
	s.busy, s.writing, s.waiting = true, s.waiting, nil
	disk, path, content := t.cfg.FS, filepath.Join(t.cfg.Dir, banFile), t.bans.Marshal()
	t.workers.start(c, func() any { return saved{s, writeBans(disk, path, content)} })
}

func (t *Table) saved(c actor.Context, m saved) {
	if m.saver.failed = m.err != nil; m.saver.failed {
		t.cfg.Log.Error("file not written", "err", m.err)
	}
	done := m.saver.writing
	m.saver.busy, m.saver.writing = false, nil
	for _, then := range done {
		then()
	}
	if len(m.saver.waiting) > 0 {
		t.writeBans(c)
	}
}

// setBan serves messages.SetBan.
func (t *Table) setBan(c actor.Context, m *setBan) {
	if err := t.changeBan(&m.Req); err != nil {
		m.Answer(messages.Done{}, err)
		return
	}
	t.saveBans(c, func() { m.Answer(messages.Done{}, nil) })
}

func (t *Table) changeBan(q *messages.SetBan) error {
	subnet, err := netaddr.ParseSubnet(q.Subnet)
	if err != nil {
		return messages.ErrSubnet
	}
	if q.Remove {
		if !t.bans.Remove(subnet) {
			return messages.ErrNotBanned
		}
		return nil
	}
	now := t.cfg.Now()
	banned := t.bans.Has(subnet, now)
	if addr, err := netaddr.ParseHost(q.Subnet); err == nil && !strings.Contains(q.Subnet, "/") {
		if !addr.IsValid() {
			return messages.ErrSubnet
		}
		banned = t.bans.Contains(addr, now)
	}
	switch {
	case banned:
		return messages.ErrBanned
	case q.Absolute && q.Time < now.Unix():
		return messages.ErrPast
	}
	until := time.Unix(now.Unix()+q.Time, 0)
	if q.Absolute {
		until = time.Unix(q.Time, 0)
	}
	if q.Time <= 0 {
		until = time.Unix(now.Unix(), 0).Add(t.cfg.BanTime)
	}
	t.bans.Add(access.Ban{Subnet: subnet, Created: time.Unix(now.Unix(), 0), Until: until})
	for _, e := range t.peers {
		if subnet.Contains(e.addr) {
			t.debugf("disconnect by subnet match, %s", e.disconnecting())
			e.session.Close(errBanned)
		}
	}
	return nil
}

const errBanned closed = "banned"

// clearBans serves messages.ClearBans.
func (t *Table) clearBans(c actor.Context, m *clearBans) {
	t.bans.Clear()
	t.saveBans(c, func() { m.Answer(messages.Done{}, nil) })
}

// listBans serves messages.ListBans.
func (t *Table) listBans(m *listBans) {
	now := t.cfg.Now()
	t.bans.Sweep(now)
	list := []messages.Ban{}
	for _, ban := range t.bans.List() {
		list = append(list, messages.Ban{Subnet: ban.Subnet.String(), Created: ban.Created, Until: ban.Until, Now: now})
	}
	m.Answer(list, nil)
}

// maxDiscouraged is how many addresses are remembered whose peers did what no
// honest one does.
const maxDiscouraged = 50_000

// discourage remembers an address, and leaves its peers.
func (t *Table) discourage(addr netaddr.Addr) {
	host := addr.WithPort(0)
	if t.discouraged == nil {
		t.discouraged = make(map[netaddr.Addr]struct{})
	}
	if len(t.discouraged) >= maxDiscouraged {
		for old := range t.discouraged { // any
			delete(t.discouraged, old)
			break
		}
	}
	t.discouraged[host] = struct{}{}
	for _, e := range t.peers {
		if e.addr.WithPort(0) == host {
			t.debugf("disconnect by address match, %s", e.disconnecting())
			e.session.Close(errMisbehaving)
		}
	}
}

func (t *Table) isDiscouraged(addr netaddr.Addr) bool {
	_, is := t.discouraged[addr.WithPort(0)]
	return is
}
