package web

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

const (
	maxChecked   = 100 // lines that are looked at
	sampleLength = 3   // addresses that are shown of a descriptor
	defaultLast  = 999 // index up to which a wildcard is derived unless the viewer says otherwise
)

// A checked is what is said of one line of the form.
type checked struct {
	Line    string
	Kind    string // what it was taken for
	Problem string
	Choices []choice
}

// A choice is a descriptor that the search may look for.
type choice struct {
	Desc      string
	What      string // what kind of outputs it stands for, where there are several
	Ranged    bool
	Private   bool
	Addresses []string // the first ones
	Paths     int      // descriptors that a multipath one stands for
}

// checks are what is said of the form.
type checks struct {
	Lines []checked
	More  int // lines that were not looked at
	Last  int // that is suggested for wildcards
}

// Good reports whether the search can be started.
func (c *checks) Good() bool {
	for i := range c.Lines {
		if c.Lines[i].Problem != "" {
			return false
		}
	}
	return len(c.Lines) > 0 && c.More == 0
}

// Ranged reports whether there is a wildcard.
func (c *checks) Ranged() bool {
	for i := range c.Lines {
		for _, choice := range c.Lines[i].Choices {
			if choice.Ranged {
				return true
			}
		}
	}
	return false
}

// check says what the lines of the form stand for.
func check(ctx context.Context, v viewer, objects string) *checks {
	c := &checks{Last: defaultLast}
	for line := range strings.Lines(objects) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		if len(c.Lines) == maxChecked {
			c.More++
			continue
		}
		c.Lines = append(c.Lines, checkLine(ctx, v, line))
	}
	return c
}

var (
	isHex        = regexp.MustCompile(`^(?:[0-9a-fA-F]{2})+$`)
	isPublicKey  = regexp.MustCompile(`^(?:0[23][0-9a-fA-F]{64}|04[0-9a-fA-F]{128})$`)
	isAddress    = regexp.MustCompile(`^[a-zA-Z0-9]{14,120}$`)
	extendedKeys = regexp.MustCompile(`^(\[[0-9a-fA-F]{8}(?:/[0-9]+['hH]?)*\])?([a-zA-Z]pub[1-9A-HJ-NP-Za-km-z]{100,` +
		`112})((?:/[0-9<>;*'hH]+)*)$`)
)

// checkLine finds out what a line is: a descriptor, an extended public key, a public key, an
// address or a script.
func checkLine(ctx context.Context, v viewer, line string) checked {
	c := checked{Line: line}
	switch key := extendedKeys.FindStringSubmatch(line); {
	case key != nil:
		c.Kind = "Extended public key"
		suggested, err := usualDescriptors(key[1], key[2], key[3])
		if err != nil {
			c.Problem = err.Error()
			return c
		}
		c.choose(ctx, v, suggested...)
	case strings.Contains(line, "("):
		c.Kind = "Descriptor"
		c.choose(ctx, v, choice{Desc: line})
	case isPublicKey.MatchString(line):
		c.Kind = "Public key"
		c.choose(ctx, v, choice{Desc: "combo(" + line + ")"})
	case isHex.MatchString(line) && len(line) != 64:
		c.Kind = "Script"
		c.choose(ctx, v, choice{Desc: "raw(" + line + ")"})
	case isAddress.MatchString(line):
		c.Kind = "Address"
		c.choose(ctx, v, choice{Desc: "addr(" + line + ")"})
	default:
		c.Problem = "This is neither a descriptor, an address, an extended public key, a public key nor a script in hex"
	}
	return c
}

// choose keeps the choices that the node accepts. Where it accepts none, the problem is that of the first.
func (c *checked) choose(ctx context.Context, v viewer, choices ...choice) {
	for _, one := range choices {
		err := one.check(ctx, v)
		if err == nil || errors.Is(err, errHidden) {
			c.Choices = append(c.Choices, one)
		} else if c.Problem == "" {
			c.Problem = err.Error()
		}
	}
	if len(c.Choices) > 0 {
		c.Problem = ""
	}
}

// check asks the node what a descriptor is. A viewer without the right to ask gets the descriptor as it
// is.
func (c *choice) check(ctx context.Context, v viewer) error {
	var info struct {
		Descriptor, Checksum string
		Expansion            []string `json:"multipath_expansion"`
		IsRange              bool
		HasPrivateKeys       bool
	}
	// The checksum of a descriptor with annotations (BIP393) covers them: createsearch looks at both.
	plain, _, annotated := strings.Cut(c.Desc, ")?")
	if annotated {
		plain += ")"
	}
	if err := read(ctx, v, nil, &info, "getdescriptorinfo", plain); err != nil {
		return err
	}
	c.Ranged, c.Private, c.Paths = info.IsRange, info.HasPrivateKeys, len(info.Expansion)
	if !annotated && !strings.Contains(c.Desc, "#") {
		c.Desc += "#" + info.Checksum
	}
	params := []any{info.Descriptor}
	if c.Ranged {
		params = append(params, []int{0, sampleLength - 1})
	}
	if addresses := get[[]string](ctx, v, nil, "deriveaddresses", params...); addresses != nil {
		c.Addresses = *addresses
	}
	return nil
}

// usualDescriptors returns what wallets make of an extended public key, with its origin and the
// path behind it, which may be empty.
func usualDescriptors(origin, key, path string) ([]choice, error) {
	plain, only, err := plainKey(key)
	if err != nil {
		return nil, err
	}
	switch {
	case path == "":
		path = "/<0;1>/*" // receiving and change addresses
	case !strings.HasSuffix(path, "/*"):
		path += "/*"
	}
	all := []choice{}
	for _, form := range []struct{ name, format, what string }{
		{"pkh", "pkh(%s)", "legacy addresses"},
		{"sh-wpkh", "sh(wpkh(%s))", "SegWit inside of P2SH"},
		{"wpkh", "wpkh(%s)", "SegWit"},
		{"tr", "tr(%s)", "Taproot"},
	} {
		if only == "" || only == form.name {
			all = append(all, choice{Desc: fmt.Sprintf(form.format, origin+plain+path), What: form.what})
		}
	}
	return all, nil
}
