package nodefiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/vfs"
)

const (
	bansName = "banlist.json"

	// maxBansFile is the longest banlist.json that is read, in bytes: some 100,000
	// bans.
	maxBansFile = 16 << 20
)

// BansPath is where the bans are kept.
func (f Files) BansPath() string { return f.path(bansName) }

// LoadBans reads the bans. Entries of other versions and those whose address cannot
// be read are left out; each is reported to leftOut, in Core's words. After an error
// there are no bans.
//
// Errors: fs.ErrNotExist, [ErrNoBans], vfs.ErrTooLarge, those of the file system.
func (f Files) LoadBans(leftOut func(line string)) (access.Bans, error) {
	if f.Dir == "" {
		return access.Bans{}, nil
	}
	text, err := vfs.ReadFile(f.disk(), f.BansPath(), maxBansFile)
	if err != nil {
		return access.Bans{}, err
	}
	return ParseBans(text, leftOut)
}

// SaveBans writes what [MarshalBans] has made. After nil it is on the disk.
func (f Files) SaveBans(text []byte) error { return f.write(bansName, text) }

// banRecord is one ban in the file.
type banRecord struct {
	Version int64  `json:"version"`
	Created int64  `json:"ban_created"`
	Until   int64  `json:"banned_until"`
	Address string `json:"address"`
}

const (
	banVersion = 1

	banWarning = "The program keeps this file itself. What you change here while it runs may be ignored or lost."
)

// MarshalBans returns bans as a file in Core's format.
func MarshalBans(bans *access.Bans) []byte {
	records := []banRecord{}
	for _, ban := range bans.List() {
		records = append(records, banRecord{banVersion, ban.Created.Unix(), ban.Until.Unix(), ban.Subnet.String()})
	}
	text, _ := json.MarshalIndent(struct { // cannot fail
		Warning string      `json:"_warning_"`
		Nets    []banRecord `json:"banned_nets"`
	}{banWarning, records}, "", "    ")
	return append(text, '\n')
}

// ErrNoBans reports a file that is no list of bans.
var ErrNoBans = errors.New("no list of banned addresses")

// ParseBans reads a file in Core's format as [Files.LoadBans] does. It holds one
// entry at a time beside the bans.
//
// Errors: [ErrNoBans].
func ParseBans(text []byte, leftOut func(line string)) (access.Bans, error) {
	var file struct {
		Nets json.RawMessage `json:"banned_nets"`
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&file); err != nil {
		return access.Bans{}, fmt.Errorf("%w: %w", ErrNoBans, err)
	}
	list := json.NewDecoder(bytes.NewReader(file.Nets))
	if start, err := list.Token(); err != nil || start != json.Delim('[') {
		return access.Bans{}, ErrNoBans
	}
	var bans access.Bans
	for list.More() {
		var r banRecord
		if err := list.Decode(&r); err != nil {
			return access.Bans{}, fmt.Errorf("%w: %w", ErrNoBans, err)
		}
		ban, why := r.ban()
		if why != "" {
			leftOut(why)
			continue
		}
		bans.Put(ban)
	}
	return bans, nil
}

// ban returns the ban of an entry or, in Core's words, why there is none.
func (r *banRecord) ban() (ban access.Ban, why string) {
	if r.Version != banVersion {
		return ban, fmt.Sprintf("Dropping entry with unknown version (%d) from ban list", r.Version)
	}
	subnet, err := netaddr.ParseSubnet(r.Address)
	if err != nil {
		return ban, fmt.Sprintf("Dropping entry with unparseable address or subnet (%s) from ban list", r.Address)
	}
	return access.Ban{Subnet: subnet, Created: time.Unix(r.Created, 0), Until: time.Unix(r.Until, 0)}, ""
}
