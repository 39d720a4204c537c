package discover

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unsafe"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/discover/bip39"
	"github.com/seed61375155/trawl/messages"
)

// A form is a descriptor around the key of an account: wpkh( and ).
type form struct {
	before, after string
	slow          bool // keys take milliseconds, and need private keys
}

// A group is accounts in the same place below a key, or the one account that a key is.
type group struct {
	purpose int32    // -1: no standard path
	root    *root    // nil: descriptors were given
	below   []uint32 // path from there; behind it are the numbers of the accounts
	forms   []form

	numbered bool  // there are numbers
	number   int32 // of the account that must be among them, or of the one account; -1: not known

	given []*descriptor.Descriptor // of the one account
}

// standard is a descriptor on a standard path.
type standard struct {
	form

	purpose int32
}

// standards returns the forms of a network's wallets.
func standards(net *dialect.Network) (list []standard) {
	wallet := net.Wallet()
	for _, t := range wallet.Types {
		before, path, _ := strings.Cut(t.Form, "%s/")
		purpose, _, _ := strings.Cut(path, "h/")
		_, after, _ := strings.Cut(path, "*")
		n, err := strconv.ParseInt(purpose, 10, 32)
		if err != nil {
			continue
		}
		slow := t.Kind == descriptor.MerkleRoot
		list = append(list, standard{form{before, after, slow}, int32(n)})
	}
	return list
}

func refused(format string, args ...any) error {
	return &messages.DiscoverySourceError{Text: fmt.Sprintf(format, args...)}
}

// source reads what accounts are looked for from.
type source struct {
	net       *descriptor.Network
	coin      uint32
	standards []standard
}

func newSource(net *dialect.Network) *source {
	return &source{net.Descriptors(), net.CoinType(), standards(net)}
}

// view returns bytes as a text that nobody keeps, so that no copy of a secret is made.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// groups reads an extended key, a descriptor or words. It keeps nothing of the texts.
func (s *source) groups(source, passphrase messages.Secret) ([]group, error) {
	text := strings.TrimSpace(view(source))
	words := strings.ContainsAny(text, " \t\r\n") && !strings.Contains(text, "(")
	if len(passphrase) > 0 && !words {
		return nil, refused("A passphrase goes with words alone")
	}
	switch {
	case text == "":
		return nil, refused("An extended key, a descriptor or words are needed")
	case words:
		return s.ofWords(text, view(passphrase))
	case strings.Contains(text, "("):
		return s.ofDescriptor(text)
	default:
		return s.ofKey(text)
	}
}

func (s *source) ofWords(words, passphrase string) ([]group, error) {
	seed, err := bip39.Seed(words, passphrase)
	if err != nil {
		text := err.Error()
		return nil, refused("%s%s", strings.ToUpper(text[:1]), text[1:])
	}
	defer clear(seed)
	r := &root{net: s.net, private: true}
	var ok bool
	if r.key, r.scalar, ok = descriptor.Master(seed); !ok {
		return nil, refused("The words have no key")
	}
	return s.ofMaster(r), nil
}

// ofMaster returns the groups of all standards below a master key.
func (s *source) ofMaster(r *root) (groups []group) {
	for i := range s.standards {
		groups = append(groups, ofStandard(r, &s.standards[i], []uint32{s.step(i), s.coin | hardened}))
	}
	return groups
}

// step returns the first step of the paths of a standard.
func (s *source) step(standard int) uint32 { return uint32(s.standards[standard].purpose) | hardened }

func ofStandard(r *root, of *standard, below []uint32) group {
	return group{purpose: of.purpose, root: r, below: below, forms: []form{of.form}, numbered: true, number: -1}
}

const (
	accountDepth = 3 // of an account's key below the master key: purpose, coin, account
	hardened     = 1 << 31
)

// ofKey reads an extended key with its origin or without.
func (s *source) ofKey(text string) (groups []group, err error) {
	r, path, err := s.newRoot(text)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.wipe()
		}
	}()
	depth := int(r.key[0])
	if r.origin != "" {
		depth = len(path)
	} else if depth == 1 { // its parent is the master key
		path = []uint32{r.ownStep()}
	}
	of := s.standardOf(path)
	switch {
	case depth > accountDepth:
		return nil, refused("The key is below those of accounts: give a descriptor with it, as wpkh(KEY/*)")
	case depth == 0 && r.private:
		return s.ofMaster(r), nil
	case depth == 0 || depth == accountDepth || depth == 1 && of == nil: // some wallets have no accounts
		return s.ofAccount(r, path)
	case !r.private:
		return nil, refused("The key is above those of accounts, which cannot be derived without its private key")
	case of == nil:
		return nil, refused(
			"It is not known which accounts are below the key: give its origin, as [d34db33f/84h/%dh]", s.coin)
	case depth == 1:
		if r.origin == "" {
			r.origin = fmt.Sprintf("[%x/%dh]", r.key[1:5], of.purpose)
		}
		return []group{ofStandard(r, of, []uint32{s.coin | hardened})}, nil
	default:
		return []group{ofStandard(r, of, nil)}, nil
	}
}

// standardOf returns the standard that a path begins with; nil: none.
func (s *source) standardOf(path []uint32) *standard {
	for i := range s.standards {
		if len(path) > 0 && path[0] == s.step(i) {
			return &s.standards[i]
		}
	}
	return nil
}

// ofAccount returns the group of an account's key, which may have been used with any form.
func (s *source) ofAccount(r *root, path []uint32) ([]group, error) {
	g := group{purpose: -1, root: r, number: -1}
	for _, standard := range s.standards {
		if !standard.slow || r.private {
			g.forms = append(g.forms, standard.form)
		}
	}
	if of := s.standardOf(path); of != nil && len(path) == accountDepth {
		g.purpose = of.purpose
	}
	if len(path) == accountDepth && path[2]&hardened != 0 {
		g.number = int32(path[2] &^ hardened)
	}
	if len(g.forms) == 0 {
		return nil, refused("A private key is needed: the keys of this network cannot be derived from public ones")
	}
	return []group{g}, nil
}

// accountPath is a descriptor of one key on a standard path: what is before the key, the key with its origin, purpose,
// coin, number of the account, what is behind.
var accountPath = regexp.MustCompile(`^((?:[a-z]+\()+)((?:\[[^\]]*\])?[0-9A-Za-z]+)` +
	`/([0-9]+)[h']/([0-9]+)[h']/([0-9]+)[h']/(?:[01]|<0;1>)/\*(\)+)$`)

// ofDescriptor reads a descriptor. A receiving chain gets the chain of change beside it. A standard path from a private
// key stands for all accounts of the path.
func (s *source) ofDescriptor(text string) ([]group, error) {
	branches, err := descriptor.Parse(text, s.net, descriptor.Options{})
	if err != nil {
		return nil, withoutKeys(err, text)
	}
	if err = branches[0].CheckAllowed("Descriptor"); err == nil && !branches[0].IsRanged() {
		err = refused("The descriptor has no wildcard")
	}
	if err != nil {
		branches[0].Wipe()
		return nil, withoutKeys(err, text)
	}
	body, _, _ := strings.Cut(text, "#")
	if m := accountPath.FindStringSubmatch(body); m != nil && branches[0].HasPrivateKeys() {
		if g, ok := s.ofAccountPath(m); ok {
			branches[0].Wipe()
			return []group{g}, nil
		}
	}
	g := group{purpose: -1, number: -1, given: branches}
	if len(branches) == 1 {
		change, err := s.changeOf(branches[0])
		if err != nil {
			return nil, err
		}
		g.given = append(g.given, change...)
	}
	return []group{g}, nil
}

// changeOf returns the chain of change beside a receiving chain; none: it is none.
func (s *source) changeOf(d *descriptor.Descriptor) ([]*descriptor.Descriptor, error) {
	private, _ := d.PrivateText()
	defer clear(private)
	own, _, _ := bytes.Cut(private, []byte("#"))
	receive, change := []byte("/0/*"), []byte("/1/*")
	if !bytes.Contains(own, receive) || bytes.Contains(own, change) {
		return nil, nil
	}
	other := bytes.ReplaceAll(own, receive, change)
	defer wipeKeys(other)
	branches, err := descriptor.Parse(view(other), s.net, descriptor.Options{})
	if err != nil {
		return nil, withoutKeys(err, view(other))
	}
	return branches, nil
}

// ofAccountPath returns the group of a match of accountPath.
func (s *source) ofAccountPath(m []string) (g group, ok bool) {
	const before, key, purpose, account, after = 1, 2, 3, 5, 6
	var steps [3]uint32
	for i := range steps {
		n, err := strconv.ParseUint(m[purpose+i], 10, 31)
		if err != nil {
			return g, false
		}
		steps[i] = uint32(n) | hardened
	}
	of := s.standardOf(steps[:])
	r, _, err := s.newRoot(m[key])
	if of == nil || err != nil {
		return g, false
	}
	g = ofStandard(r, of, steps[:account-purpose])
	g.forms = []form{{strings.Clone(m[before]), strings.Clone(m[after]), strings.Contains(m[before], "pqc(")}}
	g.number = int32(steps[2] &^ hardened)
	return g, true
}

// longText is how long a text is at least that may be a key.
const longText = 16

func noKeyCharacter(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// withoutKeys returns an error without what may be a key in a descriptor.
func withoutKeys(err error, text string) error {
	shown := err.Error()
	for _, part := range strings.FieldsFunc(text, noKeyCharacter) {
		if len(part) >= longText && strings.Contains(shown, part) {
			return refused("The descriptor is not valid. The reason is not shown: it has a key")
		}
	}
	return refused("%s", shown)
}

// wipeKeys overwrites what may be a key in a descriptor.
func wipeKeys(text []byte) {
	for _, part := range bytes.FieldsFunc(text, noKeyCharacter) {
		if len(part) >= longText {
			clear(part)
		}
	}
}
