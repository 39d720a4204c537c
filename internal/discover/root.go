package discover

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/messages"
)

// A root is the extended key that accounts are below of.
type root struct {
	net     *descriptor.Network
	key     descriptor.XPub
	scalar  [32]byte
	private bool   // scalar is its private key
	origin  string // text before the key; empty: none
}

// originText is what stands before a key: the fingerprint of the master key, and the path from there.
var originText = regexp.MustCompile(`^\[[0-9a-fA-F]{8}((?:/[0-9]{1,10}[h']?)*)\]`)

// newRoot reads an extended key with its origin or without. The path is that of the origin.
func (s *source) newRoot(text string) (r *root, path []uint32, err error) {
	r = &root{net: s.net}
	if m := originText.FindStringSubmatch(text); m != nil {
		r.origin, text = strings.Clone(m[0]), text[len(m[0]):]
		var ok bool
		if path, ok = descriptor.ParseHDPath("m" + m[1]); !ok {
			return nil, nil, refused("The origin of the key is not valid")
		}
	}
	var public bool
	if r.key, public = descriptor.ParseXPub(text, s.net); public {
		return r, path, nil
	}
	if r.key, r.scalar, r.private = descriptor.ParseXPrv(text, s.net); r.private {
		return r, path, nil
	}
	return nil, nil, refused("An extended key of this network, a descriptor or words are needed")
}

// ownStep returns the step from the parent to the key.
func (r *root) ownStep() uint32 {
	return uint32(r.key[5])<<24 | uint32(r.key[6])<<16 | uint32(r.key[7])<<8 | uint32(r.key[8])
}

// wipe overwrites the private key.
func (r *root) wipe() {
	clear(r.scalar[:])
	r.private = false
}

// publicText returns the public key at the end of a path, with its origin.
func (r *root) publicText(path []uint32) (string, error) {
	if len(path) == 0 {
		return r.origin + descriptor.EncodeXPub(r.key, r.net), nil
	}
	child, secret, ok := descriptor.DeriveXPrv(&r.key, &r.scalar, path)
	clear(secret[:])
	if !ok {
		return "", refused("An account has no key")
	}
	origin := descriptor.KeyOrigin(&r.key, path)
	if r.origin != "" {
		origin = strings.TrimSuffix(r.origin, "]") + pathText(path) + "]"
	}
	return origin + descriptor.EncodeXPub(child, r.net), nil
}

// privateText returns the text of a descriptor with the private key, and without checksum. The caller overwrites it.
func (r *root) privateText(f form, path []uint32, change int) messages.Secret {
	key := descriptor.EncodeXPrv(r.key, &r.scalar, r.net)
	defer clear(key)
	rest := fmt.Sprintf("%s/%d/*%s", pathText(path), change, f.after)
	const sum = 9 // characters of a checksum, for which there is room
	text := make(messages.Secret, 0, len(f.before)+len(r.origin)+len(key)+len(rest)+sum)
	text = append(append(append(text, f.before...), r.origin...), key...)
	return append(text, rest...)
}

// withChecksum appends its checksum to a descriptor, in its own memory if there is room.
func withChecksum(text messages.Secret) messages.Secret {
	sum, _ := descriptor.Checksum(view(text))
	return append(append(text, '#'), sum...)
}

func pathText(path []uint32) string {
	var text strings.Builder
	for _, step := range path {
		fmt.Fprintf(&text, "/%d", step&^hardened)
		if step&hardened != 0 {
			text.WriteByte('h')
		}
	}
	return text.String()
}
