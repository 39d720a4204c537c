package peers

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/nodefiles"
)

// DefaultBanTime is Core's DEFAULT_MISBEHAVING_BANTIME.
const DefaultBanTime = 24 * time.Hour

// maxDiscouraged is how many addresses of misbehaving peers are remembered.
const maxDiscouraged = 50_000

// bans are the unwelcome addresses. Bans by the operator are kept in a file; the node also
// discourages addresses by itself.
type bans struct {
	list        access.Bans
	banTime     time.Duration             // of bans that do not say
	discouraged map[netaddr.Addr]struct{} // without ports
	file        fileWriter
}

// loadBans reads the bans. A missing or damaged file is replaced by an empty file: it does not
// keep a node from starting.
func loadBans(b *base) *bans {
	files := nodefiles.Files{FS: b.cfg.FS, Dir: b.cfg.Dir}
	k := &bans{banTime: b.cfg.BanTime, discouraged: make(map[netaddr.Addr]struct{})}
	k.file = fileWriter{
		content: func() []byte { return nodefiles.MarshalBans(&k.list) }, write: files.SaveBans,
		failed: func(err error) { b.cfg.Log.Error("bans not written", "err", err) },
	}
	var err error
	if k.list, err = files.LoadBans(func(line string) { b.printf("%s", line) }); err == nil {
		return k
	}
	if !errors.Is(err, fs.ErrNotExist) {
		b.cfg.Log.Warn("Cannot load banlist", "file", files.BansPath(), "err", err)
	}
	b.printf("Recreating the banlist database")
	if err := k.file.writeNow(); err != nil {
		k.file.failed(err)
	}
	return k
}

// add bans a range of addresses, which it returns.
//
// Errors: messages.ErrSubnet, messages.ErrBanned, messages.ErrPast.
func (k *bans) add(q *messages.SetBan, now time.Time) (netaddr.Subnet, error) {
	subnet, addr, err := banRange(q.Subnet)
	if err != nil {
		return subnet, err
	}
	banned := k.list.Has(subnet, now)
	if addr != nil {
		banned = k.isBanned(*addr, now)
	}
	switch {
	case banned:
		return subnet, messages.ErrBanned
	case q.Absolute && q.Time < now.Unix():
		return subnet, messages.ErrPast
	}
	until := time.Unix(now.Unix()+q.Time, 0)
	if q.Absolute {
		until = time.Unix(q.Time, 0)
	}
	if q.Time <= 0 {
		until = time.Unix(now.Unix(), 0).Add(k.banTime)
	}
	k.list.Add(access.Ban{Subnet: subnet, Created: time.Unix(now.Unix(), 0), Until: until})
	return subnet, nil
}

// banRange parses a range of addresses; addr is set if it is a single address.
//
// Errors: messages.ErrSubnet, also for an address that no node can have.
func banRange(text string) (subnet netaddr.Subnet, addr *netaddr.Addr, err error) {
	subnet, err = netaddr.ParseSubnet(text)
	if err != nil {
		return subnet, nil, messages.ErrSubnet
	}
	if a, err := netaddr.ParseHost(text); err == nil && !strings.Contains(text, "/") {
		if !a.IsValid() {
			return subnet, nil, messages.ErrSubnet
		}
		addr = &a
	}
	return subnet, addr, nil
}

// remove takes back the ban of exactly that range.
//
// Errors: messages.ErrSubnet, messages.ErrNotBanned.
func (k *bans) remove(text string) error {
	subnet, _, err := banRange(text)
	if err != nil {
		return err
	}
	if !k.list.Remove(subnet) {
		return messages.ErrNotBanned
	}
	return nil
}

// clear takes back all bans.
func (k *bans) clear() { k.list.Clear() }

// listed returns the bans that are not over.
func (k *bans) listed(now time.Time) []messages.Ban {
	k.list.Sweep(now)
	list := []messages.Ban{}
	for _, ban := range k.list.List() {
		list = append(list, messages.Ban{Subnet: ban.Subnet.String(), Created: ban.Created, Until: ban.Until, Now: now})
	}
	return list
}

// isBanned reports whether the operator has banned an address.
func (k *bans) isBanned(addr netaddr.Addr, now time.Time) bool { return k.list.Contains(addr, now) }

// discourage remembers the address of a misbehaving peer, without its port.
func (k *bans) discourage(addr netaddr.Addr) {
	if len(k.discouraged) >= maxDiscouraged {
		for other := range k.discouraged { // any
			delete(k.discouraged, other)
			break
		}
	}
	k.discouraged[addr.WithPort(0)] = struct{}{}
}

// isDiscouraged reports whether an address was discouraged.
func (k *bans) isDiscouraged(addr netaddr.Addr) bool {
	_, is := k.discouraged[addr.WithPort(0)]
	return is
}

// isUnwelcome reports whether an address is banned or discouraged.
func (k *bans) isUnwelcome(addr netaddr.Addr, now time.Time) bool {
	return k.isDiscouraged(addr) || k.isBanned(addr, now)
}

// save writes the bans and calls then when they are on disk. Where that fails they
// hold for as long as the node runs, as in Core.
func (k *bans) save(run runner, then func()) { k.file.save(run, then) }

// saveAtEnd writes the bans that could not be written before.
func (k *bans) saveAtEnd() error {
	if !k.file.unsaved {
		return nil
	}
	return k.file.writeNow()
}
