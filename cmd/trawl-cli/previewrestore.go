package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// backupPreview is the result of previewrestore, a dry run of a restore: the page of -previewrestore shows it.
type backupPreview struct {
	Size    int64
	Format  string
	Intact  bool
	Problem string

	Recovered, Warnings []string

	Flags           []string
	PrivateKeys     bool `json:"private_keys"`
	Encrypted       bool
	Birthtime       int64
	TxCount, Labels int
	LastBlock       *struct {
		Hash   string
		Height *int32
	} `json:"lastprocessedblock"`
	DescriptorCount int
	Descriptors     []backupDescriptor
	Restore         restorePlan
}

type backupDescriptor struct {
	Desc             string
	Active, Internal bool
	Timestamp        int64
	Range            []int32
	NextIndex        int32 `json:"next_index"`
	PrivateKeys      bool  `json:"private_keys"`
	Fingerprints     []string
	Addresses        []string
}

type restorePlan struct {
	Name     string
	Possible bool
	Problem  string
	Blocks   int32 `json:"rescan_blocks"`
	From     int32 `json:"rescan_from"`
	To       int32 `json:"rescan_to"`
	Filters  bool
	Fetch    int32 `json:"blocks_to_fetch"`
	Seconds  int64 `json:"estimated_seconds"`
}

// previewRestore shows what is in a backup, and what a restore would do, for people. It
// fails unless all of the backup can be restored now.
func (c *client) previewRestore(words []string) (*jsontree.Value, error) {
	if len(words) != 1 && len(words) != 2 {
		return nil, errors.New("-previewrestore takes the path of a backup and perhaps a name for the wallet")
	}
	params, err := positional("previewrestore", words)
	if err != nil {
		return nil, err
	}
	answer, err := c.call(nil, "previewrestore", params)
	if err != nil {
		return nil, err
	}
	result, err := answer.value()
	if err != nil {
		return nil, err
	}
	text, err := jsontree.Append(nil, result)
	if err != nil {
		return nil, err
	}
	var preview backupPreview
	if err := json.Unmarshal(text, &preview); err != nil {
		return nil, fmt.Errorf("the reply to previewrestore: %w", err)
	}
	if !preview.Intact || !preview.Restore.Possible {
		return nil, unsound(preview.text(words[0]))
	}
	return jsontree.NewString(preview.text(words[0])), nil
}

// unsound is the page about a backup that cannot be restored as a whole. It is shown like any
// other, and tells a script by the exit status.
type unsound string

func (unsound) Error() string { return "the backup cannot be restored as a whole" }

// page is text in two columns.
type page struct{ strings.Builder }

func (p *page) line(name, format string, args ...any) {
	fmt.Fprintf(p, "%-14s%s\n", name, fmt.Sprintf(format, args...))
}

var backupFormats = map[string]string{
	"sqlite": "wallet of Bitcoin Core (SQLite)", "bdb": "legacy wallet of Bitcoin Core (Berkeley DB)",
	"unknown": "no wallet of this network",
}

// text is the page about a backup.
func (b *backupPreview) text(path string) string {
	p := new(page)
	p.line("Backup", "%s, %d bytes", path, b.Size)
	p.line("Format", "%s", backupFormats[b.Format])
	switch {
	case b.Problem != "":
		p.line("State", "cannot be restored: %s", strings.TrimSpace(b.Problem))
		return strings.TrimSuffix(p.String(), "\n")
	case b.Intact:
		p.line("State", "intact")
	default:
		p.line("State", "can be restored in part only")
	}
	for _, how := range b.Recovered {
		p.line("Changes", "%s", how)
	}
	for _, text := range b.Warnings {
		p.line("Warning", "%s", text)
	}
	p.line("Keys", "%s", b.keys())
	p.line("Flags", "%s", strings.Join(b.Flags, ", "))
	p.line("Contents", "%d transactions, %d labels, %d descriptors", b.TxCount, b.Labels, b.DescriptorCount)
	if b.Birthtime > 0 {
		p.line("Keys since", "%s", dateOf(b.Birthtime))
	}
	p.line("Last block", "%s", b.lastBlock())
	b.Restore.write(p)
	for i := range b.Descriptors {
		b.Descriptors[i].write(p)
	}
	if more := b.DescriptorCount - len(b.Descriptors); more > 0 {
		fmt.Fprintf(p, "\nand %d more descriptors\n", more)
	}
	return strings.TrimSuffix(p.String(), "\n")
}

func (b *backupPreview) keys() string {
	switch {
	case !b.PrivateKeys:
		return "no private keys"
	case b.Encrypted:
		return "private keys, with a passphrase"
	}
	return "private keys, without a passphrase"
}

func (b *backupPreview) lastBlock() string {
	switch at := b.LastBlock; {
	case at == nil:
		return "none"
	case at.Height == nil:
		return at.Hash + ", which is not in the chain"
	default:
		return fmt.Sprintf("%d, %s", *at.Height, at.Hash)
	}
}

// write writes what a restore would do.
func (r *restorePlan) write(p *page) {
	fmt.Fprintf(p, "\nA restore now\n")
	p.line("Wallet", "%q", r.Name)
	if !r.Possible {
		p.line("Would fail", "%s", strings.TrimSpace(r.Problem))
	}
	if r.Blocks == 0 {
		p.line("Rescan", "none: the wallet is up to date")
		return
	}
	how := "reading each block"
	if r.Filters {
		how = "by block filters"
	}
	p.line("Rescan", "%d blocks, from %d to %d, %s", r.Blocks, r.From, r.To, how)
	if r.Fetch > 0 {
		p.line("To fetch", "%d blocks that are not on the disk", r.Fetch)
	}
	p.line("Time", "about %s", time.Duration(r.Seconds)*time.Second)
}

// write writes about a descriptor.
func (d *backupDescriptor) write(p *page) {
	fmt.Fprintf(p, "\n%s\n", d.Desc)
	use := "not active"
	switch {
	case d.Active && d.Internal:
		use = "for change"
	case d.Active:
		use = "for receiving"
	}
	if !d.PrivateKeys {
		use += ", watched only"
	}
	p.line("  Use", "%s, since %s", use, dateOf(d.Timestamp))
	if len(d.Fingerprints) > 0 {
		p.line("  Fingerprints", " %s", strings.Join(d.Fingerprints, " "))
	}
	if len(d.Range) == 2 {
		p.line("  Range", "%d to %d, the next is %d", d.Range[0], d.Range[1], d.NextIndex)
	}
	for _, address := range d.Addresses {
		p.line("  Address", "%s", address)
	}
}

func dateOf(seconds int64) string { return time.Unix(seconds, 0).UTC().Format("2006-01-02 15:04 UTC") }
