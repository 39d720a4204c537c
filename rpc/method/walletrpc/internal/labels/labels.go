// Package labels reads and writes the labels of wallets as BIP329 has them: lines of JSON, one for each label.
//
// The package is pure. Lines may come from any wallet: types and members that are not known are left alone.
package labels

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// ErrLine reports a line that is no label; the error names its number, from 1.
var ErrLine = errors.New("not a label of BIP329")

// A Type says what a label is of.
type Type string

// The types.
const (
	Tx      Type = "tx"
	Address Type = "addr"
	PubKey  Type = "pubkey"
	Input   Type = "input"
	Output  Type = "output"
	XPub    Type = "xpub"
)

// A Label is one line.
type Label struct {
	Type      Type
	Ref       string // transaction id, address, key; of inputs and outputs id:index
	Label     string
	Spendable *bool // of an output; nil: not told
}

// Append appends a label as a line of JSON, with its line feed.
func Append(dst []byte, l *Label) []byte {
	v := jsontree.NewObject()
	v.Add("type", jsontree.NewString(string(l.Type)))
	v.Add("ref", jsontree.NewString(l.Ref))
	if l.Label != "" || l.Spendable == nil {
		v.Add("label", jsontree.NewString(l.Label))
	}
	if l.Spendable != nil {
		v.Add("spendable", jsontree.NewBool(*l.Spendable))
	}
	return append(v.AppendJSON(dst), '\n')
}

// Parse reads lines. Empty lines are left out. The error wraps [ErrLine].
func Parse(text string) ([]Label, error) {
	var all []Label
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		l, reason := parse(line)
		if reason != "" {
			return nil, fmt.Errorf("line %d: %w: %s", number, ErrLine, reason)
		}
		all = append(all, l)
	}
	return all, nil
}

func parse(line string) (l Label, reason string) {
	v, err := jsontree.Parse([]byte(line))
	if err != nil || v.Kind() != jsontree.Object {
		return l, "it is no object of JSON"
	}
	kind, err := v.Get("type").AsString()
	if err != nil {
		return l, "it has no type"
	}
	l.Type = Type(kind)
	if l.Ref, err = v.Get("ref").AsString(); err != nil || l.Ref == "" {
		return l, "it has no ref"
	}
	if text := v.Get("label"); !text.IsNull() {
		if l.Label, err = text.AsString(); err != nil {
			return l, "its label is no text"
		}
	}
	if spendable := v.Get("spendable"); !spendable.IsNull() {
		is, err := spendable.AsBool()
		if err != nil {
			return l, "its spendable is neither true nor false"
		}
		l.Spendable = &is
	}
	return l, ""
}
