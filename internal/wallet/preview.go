package wallet

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"time"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// previewList is how many descriptors are described in a preview, and previewAddresses how many addresses of each.
const (
	previewList      = 1000
	previewAddresses = 3
)

// Describe completes a preview by what a file has in it. Its error is that of the context.
func Describe(
	ctx context.Context, content *walletfile.Wallet, net *descriptor.Network, to *messages.RestorePreview,
) error {
	to.Flags, to.Encrypted = content.Flags.Names(), content.Encrypted()
	if content.Version != nil {
		to.Version = new(int32(*content.Version))
	}
	to.Transactions, to.NDescriptors = len(content.Txs), len(content.Descriptors)
	for _, address := range content.Addresses {
		if address.Label != nil && *address.Label != "" {
			to.Labels++
		}
	}
	active := make(map[string]walletfile.Slot, len(content.Active))
	for slot, id := range content.Active {
		active[string(id[:])] = slot
	}
	for _, d := range content.Descriptors {
		if err := ctx.Err(); err != nil {
			return err
		}
		birth := time.Unix(int64(min(d.CreationTime, maxTime)), 0)
		if to.Birth.IsZero() || birth.Before(to.Birth) {
			to.Birth = birth
		}
		to.PrivateKeys = to.PrivateKeys || d.HasPrivateKeys()
		if len(to.Descriptors) < previewList {
			slot, isActive := active[string(d.ID[:])]
			shown := describe(d, net, birth, isActive, isActive && slot.Internal) //nolint:contextcheck // a few
			to.Descriptors = append(to.Descriptors, shown)
		}
	}
	return nil
}

// maxTime keeps what a file says of a time within what can be shown.
const maxTime = 1<<32 - 1

// describe describes one descriptor. Keys and addresses that cannot be derived are left out.
func describe(
	d *walletfile.Descriptor, net *descriptor.Network, birth time.Time, active, internal bool,
) messages.PreviewDescriptor {
	shown := messages.PreviewDescriptor{
		Desc: d.Parsed.String(), Active: active, Internal: internal, PrivateKeys: d.HasPrivateKeys(),
		Birth: birth, Ranged: d.Parsed.IsRanged(), Next: d.NextIndex,
	}
	if shown.Ranged {
		shown.Range = [2]int32{d.RangeStart, d.RangeEnd - 1}
	}
	known := d.Cached()
	first := uint32(max(d.RangeStart, 0))
	if keys, err := known.KeysAt(first); err == nil {
		for _, key := range keys {
			shown.Fingerprints = append(shown.Fingerprints, hex.EncodeToString(key.Fingerprint[:]))
		}
		slices.Sort(shown.Fingerprints)
		shown.Fingerprints = slices.Compact(shown.Fingerprints)
	}
	for index := first; index < first+previewAddresses; index++ {
		scripts, err := known.Expand(index)
		if err != nil {
			break
		}
		for _, script := range scripts {
			if address, ok := descriptor.AddressOf(script, net); ok {
				shown.Addresses = append(shown.Addresses, address)
			}
		}
		if !shown.Ranged {
			break
		}
	}
	return shown
}

// BirthOf returns the time of the oldest descriptor or transaction, nil where there is none.
func BirthOf(content *walletfile.Wallet) *int64 {
	var birth *int64
	note := func(at int64) {
		if birth == nil || at < *birth {
			birth = &at
		}
	}
	for _, d := range content.Descriptors {
		note(int64(d.CreationTime))
	}
	for _, tx := range content.Txs {
		note(int64(cmp.Or(tx.TimeSmart, tx.TimeReceived)))
	}
	return birth
}

// SampleScripts returns scripts of a wallet, at most about so many, and how many it has.
func SampleScripts(
	ctx context.Context, content *walletfile.Wallet, most int,
) (scripts [][]byte, all int64) {
	for _, d := range content.Descriptors {
		size := max(int64(d.RangeEnd)-int64(d.RangeStart), 1)
		all += size
		room := most - len(scripts)
		if room <= 0 || d.RangeStart < 0 || ctx.Err() != nil {
			continue
		}
		first := uint32(d.RangeStart)
		last := first + uint32(min(size, int64(room))-1)
		// Scripts that cannot be derived are left out.
		_ = d.Cached().ExpandRange(ctx, first, last, 1, func(_ uint32, of [][]byte) error {
			scripts = append(scripts, of...)
			return nil
		})
	}
	return scripts, all
}
